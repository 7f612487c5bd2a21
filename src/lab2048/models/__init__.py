"""Learned values: networks of n-tuples, and their files."""
