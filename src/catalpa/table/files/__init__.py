"""Tables in files: which files, and their rows in batches."""
