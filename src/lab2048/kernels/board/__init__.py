"""Boards as numbers: packed and wide, their slides, lines and dice."""
