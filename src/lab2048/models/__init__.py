"""Learned values: networks of n-tuples, and their files."""

# The network that comes with lab2048: its file, and the group by which it is made ready.
SHIPPED = "shipped"
