"""The costs of clusters that rows share, and where such clusters begin."""
