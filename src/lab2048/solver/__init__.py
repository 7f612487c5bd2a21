"""Solve boards exactly, layer by layer of the tile sum; tables on disk and probing."""
