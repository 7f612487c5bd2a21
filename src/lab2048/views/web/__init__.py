"""The page: a local server and the files of the browser."""
