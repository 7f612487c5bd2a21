"""Whole games: play, vectorized games, starts, afterstates and perft."""
