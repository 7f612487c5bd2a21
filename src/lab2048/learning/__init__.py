"""Training of networks: one algorithm per file."""
