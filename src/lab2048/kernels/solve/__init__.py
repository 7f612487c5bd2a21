"""Backward induction over layers of boards, and the optimal policy."""
