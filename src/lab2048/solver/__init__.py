"""Exact values: a board solved by layers of the tile sum, its table on disk, probing."""
