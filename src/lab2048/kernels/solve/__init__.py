"""Backward induction over layers of boards, and the best moves that it finds."""
