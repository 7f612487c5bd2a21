"""Tuning: parameters of players, searched for by CMA-ES, and what came of it."""
