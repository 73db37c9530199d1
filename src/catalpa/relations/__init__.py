"""What counts say about categories: distances, trees, profiles and reasons, per cluster and column."""
