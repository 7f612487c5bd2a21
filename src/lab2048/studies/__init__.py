"""Questions: published experiments as data, run again and set beside the published figures."""
