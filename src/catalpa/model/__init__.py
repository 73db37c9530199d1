"""A fitted model as a file (JSON in and out, no pickle) or as an SQL query."""
