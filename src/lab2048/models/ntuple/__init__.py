"""N-tuple networks: patterns, weights, files, compression, and the network that ships with lab2048."""
