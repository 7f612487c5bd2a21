"""Deep networks: designs, torch modules and files."""
