"""Counts of (slide, spawn) sequences: the fingerprint of the rules."""

import json

import pytest
from conftest import DATA

from lab2048.arena.perft import count_sequences
from lab2048.kernels.games.perft import count
from lab2048.rules import Board, Rules, reference
from lab2048.rules.plan import make_plan

GOLDENS = json.loads((DATA / "perft.json").read_text())


def plain_count(rules: Rules, ranks: reference.Ranks, depth: int) -> int:
    if depth == 0:
        return 1
    total = 0
    for each in zip(rules.shape.lines, rules.shape.holding, strict=True):
        after, _ = reference.slide(ranks, *each)
        if after != ranks:
            for cell, rank, _ in reference.spawns(after, rules.spawn_table):
                total += plain_count(rules, reference.put(after, cell, rank), depth - 1)
    return total


@pytest.mark.parametrize(("depth", "expected"), [(0, 1), (1, 88), (2, 8876)])
def test_the_known_counts(depth: int, expected: int) -> None:
    assert count_sequences(Rules.from_text("22##|####|####|####"), depth) == expected


@pytest.mark.parametrize("golden", GOLDENS["counts"], ids=lambda golden: f"{golden['board']}-{golden['depth']}")
def test_golden(golden: dict[str, int]) -> None:
    assert count_sequences(Rules.from_text(str(golden["board"])), golden["depth"]) == golden["count"]


@pytest.mark.parametrize(
    "text",
    [
        "22##|####",
        "2#x|#2#|x##",
        "hex1:2#|###|#2",
        "2 32768 / 32768 #",
        "2####|#####|#####|#####|#####",
        "A2#|22#|4#A",
        "AA##2|A####|#####|#####|##2##",
    ],
)
def test_kernels_count_like_the_reference(text: str) -> None:
    rules = Rules.from_text(text)
    for depth in (1, 2):
        expected = plain_count(rules, rules.board.ranks, depth)
        assert count(make_plan(rules), rules.board.ranks, depth) == expected


@pytest.mark.parametrize("spawner", ["first", "worst"])
@pytest.mark.parametrize("text", ["4x4", "2x3", "hex1", "5x5"])
def test_a_deterministic_spawner_has_one_spawn(text: str, spawner: str) -> None:
    rules = Rules.from_text(text, spawner=spawner)

    def plain(board: Board, depth: int) -> int:
        if depth == 0:
            return 1
        return sum(plain(after.put(*rules.spawn(after, 0)), depth - 1) for _, (after, _) in board.slides())

    start = rules.board
    for _ in range(rules.n_start):
        start = start.put(*rules.spawn(start, 0))
    assert count_sequences(rules, 5) == plain(start, 5) <= len(rules.shape.moves) ** 5


def test_without_tiles_the_first_spawns_are_part_of_the_sequence() -> None:
    rules = Rules.from_text("2x2")
    assert count_sequences(rules, 0) == 8 * 6
    starts = [
        reference.put(reference.put(rules.board.ranks, a, r), b, s)
        for a, r, _ in reference.spawns(rules.board.ranks, rules.spawn_table)
        for b, s, _ in reference.spawns(reference.put(rules.board.ranks, a, r), rules.spawn_table)
    ]
    assert count_sequences(rules, 2) == sum(plain_count(rules, ranks, 2) for ranks in starts)
