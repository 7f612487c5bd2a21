"""Rollouts, and Monte Carlo tree search."""
