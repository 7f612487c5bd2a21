"""Rules for kernels: the array of words that lab2048.kernels.board.layout describes."""

from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from lab2048.kernels.board import layout as at
from lab2048.kernels.board.lines import TOWARDS_HIGH, TOWARDS_LOW
from lab2048.rules import dice
from lab2048.rules.board import PACKED_CELLS, PACKED_RANK
from lab2048.rules.kind import rectangle
from lab2048.rules.reference import Cells, Line, Lines
from lab2048.rules.rules import Rules
from lab2048.rules.shape import Symmetry

Plan = NDArray[np.uint64]


@lru_cache(maxsize=64)
def make_plan(rules: Rules) -> Plan:
    """Build the array from which kernels read the rules."""
    shape = rules.shape
    # Below the highest packed rank: a spawn must never bring a second tile of it (see lab2048.kernels.board.packed).
    is_packed = shape.n_cells <= PACKED_CELLS and max(rank for rank, _ in rules.spawn_table) < PACKED_RANK
    words = [0] * (at.MOVES_AT + len(shape.moves) * at.MOVE_SIZE)
    words[at.IS_PACKED] = int(is_packed)
    words[at.IS_CLASSIC] = int(is_packed and shape == rectangle(4, 4))
    words[at.N_CELLS] = shape.n_cells
    words[at.N_MOVES] = len(shape.moves)
    words[at.CELL_BITS] = sum(1 << 4 * cell for cell in range(shape.n_cells)) if is_packed else 0
    words[at.GOAL_RANK] = rules.goal_rank
    words[at.STOP_AT_GOAL] = int(rules.stop_at_goal)
    goal_cells = rules.goal_cells or range(shape.n_cells)
    words[at.GOAL_NIBBLES] = sum(15 << 4 * cell for cell in goal_cells) if is_packed else 0
    words[at.GOAL_BITS] = sum(1 << cell for cell in goal_cells)
    words[at.SPAWNER] = at.SpawnerCode[rules.spawner.name]
    words[at.FREE_RANK] = shape.free_rank
    words[at.N_SPAWN] = len(rules.spawn_table)
    words[at.N_START] = rules.n_start
    words[at.HAS_NULL_MOVES] = int(rules.null_moves)
    symmetries = rules.symmetries if is_packed else ()
    words[at.N_SYMMETRIES] = len(symmetries)
    ends = dice.thresholds(tuple(p for _, p in rules.spawn_table))
    for i, ((rank, p), end) in enumerate(zip(rules.spawn_table, ends, strict=True)):
        words[at.SPAWN_ENDS + i] = end
        words[at.SPAWN_RANKS + i] = rank
        words[at.SPAWN_CHANCES + i] = int(np.float64(p).view(np.uint64))
    if is_packed:
        for move, lines in enumerate(shape.lines):
            here = at.MOVES_AT + move * at.MOVE_SIZE
            words[here : here + at.MOVE_SIZE] = _packed_slide(lines, shape.holding[move])
    words[at.SYMMETRIES_AT] = len(words)
    for symmetry in symmetries:
        pairs = _pairs(list(symmetry.cells))
        words += [len(pairs) // 2, *_pad(pairs, at.PAIRS_SIZE)]
    words[at.WALK_AT] = len(words)
    if is_packed:
        steps = [_pairs(list(step)) for step in walk(symmetries)]
        words += [len(pairs) // 2 for pairs in steps]
        for pairs in steps:
            words += _pad(pairs, at.PAIRS_SIZE)
    holding = tuple(
        tuple(line for line in lines if set(cells).issuperset(line))
        for lines, cells in zip(shape.lines, shape.holding, strict=True)
    )
    for where, lines_of_moves in ((at.LINES_AT, shape.lines), (at.HOLDING_AT, holding)):
        words[where] = len(words)
        words += [0] * len(shape.moves)
        for move, lines in enumerate(lines_of_moves):
            words[words[where] + move] = len(words)
            words.append(len(lines))
            for line in lines:
                words += [len(line), *line]
    words[at.BOARD_AT] = len(words)
    words += rules.board.ranks
    plan = np.array(words, np.uint64)
    plan.flags.writeable = False
    return plan


def walk(symmetries: tuple[Symmetry, ...]) -> tuple[tuple[int, ...], tuple[int, ...]]:
    """Return two symmetries that, applied alternately, generate all copies of a board.

    If a shape has only rotations, one rotation applied repeatedly generates all copies.  If it also has
    reflections, two reflections applied alternately do.  Of all such pairs, return the one whose shuffles
    move nibbles by the fewest different distances, because it is the fastest.
    """
    group = [symmetry.cells for symmetry in symmetries]
    found = []
    for first in group:
        for second in group:
            image, seen = group[0], {group[0]}
            for i in range(1, len(group)):
                step = second if i % 2 == 0 else first
                image = tuple(step[cell] for cell in image)
                seen.add(image)
            if len(seen) == len(group):
                found.append((len(_pairs(list(first))) + len(_pairs(list(second))), first, second))
    _, first, second = min(found)
    return first, second


def _packed_slide(lines: Lines, holding: Cells) -> list[int]:
    """Return the words of one packed slide.

    Lines are placed side by side in the order of their lowest cell, so the shuffle is the
    identity for rows that are already in this order.
    """
    target = [0] * sum(map(len, lines))
    lanes: list[int] = []
    keep, position = 0, 0
    for line in sorted(lines, key=min):
        cells, table = _lane(line)
        for i, cell in enumerate(cells):
            target[cell] = position + i
        mask = 16 ** len(line) - 1
        if len(line) == 1:
            keep |= mask << 4 * position
        else:
            lanes += [4 * position, mask, table]
        position += len(line)
    pairs = _pairs(target)
    back = _pairs([target.index(cell) for cell in range(len(target))])
    return [
        len(pairs) // 2,
        len(lanes) // 3,
        keep,
        sum(1 << 4 * cell for cell in holding),
        *_pad(pairs, at.PAIRS_SIZE),
        *_pad(back, at.PAIRS_SIZE),
        *_pad(lanes, at.MOVE_SIZE - at.LANES),
    ]


def _lane(line: Line) -> tuple[Line, int]:
    """Return the cells of a lane from the lowest nibble up, and the table that slides it."""
    if len(line) > 4:
        return line, at.LONG
    if len(line) > 1 and line[0] > line[-1]:
        return line[::-1], TOWARDS_HIGH[len(line)]
    return line, TOWARDS_LOW


def _pairs(target: list[int]) -> list[int]:
    """Return the shuffle that moves nibble i to nibble target[i], as alternating masks and rotations."""
    masks: dict[int, int] = {}
    for cell, goal in enumerate(target):
        rotation = 4 * (goal - cell) % 64
        masks[rotation] = masks.get(rotation, 0) | 15 << 4 * cell
    return [word for rotation, mask in masks.items() for word in (mask, rotation)]


def _pad(words: list[int], size: int) -> list[int]:
    return words + [0] * (size - len(words))
