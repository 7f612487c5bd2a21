"""Tune the parameters of an evaluator with CMA-ES."""
