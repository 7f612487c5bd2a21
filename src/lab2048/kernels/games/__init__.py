"""Whole games and the turns they are made of: play, afterstates, starts, vector environments, perft."""
