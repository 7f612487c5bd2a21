"""Endgames: formations of large tiles, their tables, and boards of the whole game on which they stand."""
