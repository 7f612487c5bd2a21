"""`lab2048 train`: one command per training method."""
