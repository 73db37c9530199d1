"""Passes that visit rows in order and update the clusters after each row."""
