"""What one pass computes on a block of rows: labels, counts, costs; pure steps that add up."""
