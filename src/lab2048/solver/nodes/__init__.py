"""Solves in shards, on the nodes of a cluster."""
