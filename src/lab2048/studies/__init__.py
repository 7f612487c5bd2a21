"""Studies: published experiments as data, repeated and compared with the published figures."""
