"""Expectimax search: the evaluators that it ends in, and the loops that deepen it."""
