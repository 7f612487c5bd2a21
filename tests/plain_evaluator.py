"""Evaluators in plain Python: every term as docs/players/evaluators.md describes it."""

import math
from collections.abc import Iterator
from itertools import groupby, pairwise

from lab2048.players.evaluator import TERMS, Evaluator, forward
from lab2048.rules import Board
from lab2048.rules.reference import Lines


def plain_parts(evaluator: Evaluator, board: Board) -> list[float]:
    """What a board is worth, term by term; their sum is its value."""
    weights = dict(zip(TERMS, evaluator.terms, strict=True))
    found = [*_cells(weights, evaluator, board), *_lines(weights, board), *_board(weights, board)]
    return [weight * count for weight, count in found]


def _face(rank: int) -> int:
    return 2**rank if rank else 0


def _cells(weights: dict[str, float], evaluator: Evaluator, board: Board) -> Iterator[tuple[float, float]]:
    of_cells = evaluator.weights(board.shape)
    for cell, rank in enumerate(board.ranks):
        if rank == 0:
            yield weights["empty"], 1
            continue
        yield float(of_cells[cell]), _face(rank)
        yield weights["potential"], (rank - 1) * _face(rank)
        yield weights["sum"], rank ** weights["sum_power"]


def _lines(weights: dict[str, float], board: Board) -> Iterator[tuple[float, float]]:
    shape = board.shape
    for lines in shape.lines[: len(shape.moves) // 2]:
        for line in lines:
            ranks = [board.ranks[cell] for cell in line]
            tiles = [rank for rank in ranks if rank]
            heights = [rank ** weights["monotone_power"] if rank else 0 for rank in ranks]
            steps = [b - a for a, b in pairwise(heights)]
            runs = [len(list(run)) for _, run in groupby(tiles)]
            yield weights["base"], 1
            yield weights["merges"], sum(run for run in runs if run > 1)
            yield weights["monotone"], min(sum(max(0, step) for step in steps), sum(max(0, -step) for step in steps))
            yield weights["smooth"], sum(abs(b - a) for a, b in pairwise(tiles))
            yield weights["smooth_faces"], sum(abs(_face(b) - _face(a)) for a, b in pairwise(tiles))
            yield weights["smooth_near"], sum(abs(_face(b) - _face(a)) for a, b in pairwise(ranks) if a and b)


def _board(weights: dict[str, float], board: Board) -> Iterator[tuple[float, float]]:
    faces = [_face(rank) for rank in board.ranks]
    highest = [*sorted(faces, reverse=True), 0, 0, 0]
    is_there = faces[int(weights["corner_cell"])] == highest[0]
    yield weights["max"], highest[0]
    yield weights["corner"], highest[0] if is_there else -highest[0]
    yield weights["empty_log"], faces.count(0) * math.log2(max(1, sum(faces)))
    path = [cell for i, row in enumerate(board.shape.rows) for cell in (row if i % 2 == 0 else row[::-1]) if cell >= 0]
    for k, term in enumerate(("second", "third", "fourth"), start=1):
        if k < len(path):
            yield weights[term], highest[k] if faces[path[k]] == highest[k] else -highest[k]
    if len(path) > 3 and faces[path[3]] not in (0, highest[3]):
        yield weights["stuck"], highest[3]
    yield weights["ordered"], sum(_in_order(board, lines) for lines in board.shape.lines[: len(board.shape.moves) // 2])
    yield weights["full"], 0 not in faces


def _in_order(board: Board, lines: Lines) -> int:
    steps = [board.ranks[b] - board.ranks[a] for line in lines for a, b in pairwise(forward(line))]
    n_rising = sum(step > 0 for step in steps)
    return max(n_rising, len(steps) - n_rising)
