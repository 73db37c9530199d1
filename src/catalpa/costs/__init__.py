"""Counts in, cost tables out: one file per idea."""
