"""Scores and reference of soft passes, in which rows count in every cluster by their share."""
