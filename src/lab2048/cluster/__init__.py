"""Ray clusters: connect to one, start a worker process on every node, and send it files and work."""
