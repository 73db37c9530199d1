"""The soft pass: rows count in every cluster by their share."""
