"""Making models: one algorithm a file."""
