"""Training deep networks: one algorithm per file, and what they share."""
