"""Passes that visit rows in their order, so that what one row does the next one sees."""
