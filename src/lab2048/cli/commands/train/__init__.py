"""`lab2048 train`: n-tuple networks and deep networks."""
