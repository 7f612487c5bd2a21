"""Mutated replays: a few here, a million by hand."""

from fuzz.replays import fuzz


def test_mutated_replays_are_refused_or_games() -> None:
    counts = fuzz(600, 1)
    assert counts["refused"] > 100
    assert counts["accepted"] > 5
