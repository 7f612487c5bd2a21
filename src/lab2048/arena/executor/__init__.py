"""Executors run units of work: on threads and processes of this machine, or on the nodes of a Ray cluster."""
