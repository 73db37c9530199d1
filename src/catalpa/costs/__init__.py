"""Cost tables of the methods, computed from counts; a file is named after the method it serves."""
