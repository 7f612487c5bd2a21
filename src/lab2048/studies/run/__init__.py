"""Running the rows of a study: one file per kind of row."""
