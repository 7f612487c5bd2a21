"""Speed of the rules and of searches on this machine."""
