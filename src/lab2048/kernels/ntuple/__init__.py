"""N-tuple networks: values looked up, updated from experience, and compressed."""
