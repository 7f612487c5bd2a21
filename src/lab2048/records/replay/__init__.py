"""Replays of other programs: games whose spawns are recorded, not drawn from a seed."""
