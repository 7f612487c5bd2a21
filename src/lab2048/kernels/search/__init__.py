"""Expectimax search: evaluators, the recursion, and iterative deepening."""
