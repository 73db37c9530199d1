"""Inspect a table before clustering: findings about its columns, and the recipe that follows from them."""
