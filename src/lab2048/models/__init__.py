"""Learned values: n-tuple networks, deep networks, and their files."""

# The name of the network shipped with lab2048, and of the group that prepares it.
SHIPPED = "shipped"
