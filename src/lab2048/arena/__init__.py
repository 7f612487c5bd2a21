"""Playing: one episode, many episodes, and where they run."""
