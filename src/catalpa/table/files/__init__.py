"""Tables in files: reading them, in one piece or in batches."""
