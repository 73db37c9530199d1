"""The computation of one pass on a block of rows: labels, counts and costs, as pure functions."""
