"""Explanations of clusters from counts: relations and trees of categories, profiles and reasons."""
