"""How the columns of a table are distributed inside a cluster, one file per kind of column."""
