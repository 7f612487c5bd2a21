"""Patterns (n-tuples): the sets of cells that a network looks up.

A pattern is written in hex digits, one per cell: 012456 is the upper left 2x3 of the classic board.
Neighbours follow from the lines of a shape, so presets exist for every shape: 8x6 is eight patterns of six
cells, `best` the strongest set after hours of training, `small` one that is learned in a minute.
"""

import itertools
import re
from collections.abc import Iterable

from lab2048.errors import OutOfRangeError, UsageError, unknown
from lab2048.rules.kind import rectangle
from lab2048.rules.shape import Shape

Pattern = tuple[int, ...]

MAX_PATTERNS = 64  # of a preset
MAX_PLACEMENTS = 12 * MAX_PATTERNS  # of a list in hex: a hexagon has twelve symmetries
MIN_CELLS, MAX_CELLS = 2, 8  # of a pattern
MAX_ROW = 7  # cells of the longest row pattern: 16^7 weights take 1 GB
MAX_WEIGHTS = 2**29  # of a network without stages
BEST_WEIGHTS = 2**28  # of the `best` preset: 1 GB, and 2 GB more while training
SMALL_WEIGHTS = 6_000_000  # of the `small` preset: 24 MB, and 48 MB more while training
SMALL_BOARD = 9  # cells of a board that can be learned completely

# Presets of the classic board from the literature: 4x5 and 4x6 by Wu and Yeh, 5x6 and 8x6 by Matsuzaki.
_CLASSIC = {
    "4x5": "01234 45678 01245 45689",
    "4x6": "012345 456789 012456 45689a",
    "5x6": "012345 456789 89abcd 012456 45689a",
    "8x6": "012456 456789 012345 234569 01259a 345678 134567 01489a",
}
_FEATURES = ("rows", "pairs", "pairs-triplets-quartets")
AUTO, BEST, SMALL = "auto", "best", "small"  # auto: chosen by the training, otherwise best
PRESETS = (BEST, SMALL, *_CLASSIC, *_FEATURES)
_SIZED = re.compile(r"([0-9]{1,9})x([0-9]{1,9})", re.ASCII)


def parse_patterns(text: str, shape: Shape, radix: int = 16, *, is_shared: bool = True) -> tuple[Pattern, ...]:
    """Read patterns from a preset or from hex digits; `radix` determines the size of their tables.

    With shared weights, a preset has one pattern per symmetry class, which is looked up in all symmetric
    copies of a board.  Without, it has all placements.  Hex digits are always taken literally.

    >>> parse_patterns("0123,4567", rectangle(4, 4))
    ((0, 1, 2, 3), (4, 5, 6, 7))
    >>> write_patterns(parse_patterns("rows", rectangle(4, 4), is_shared=False))
    '0123 048c 37bf cdef 159d 26ae 4567 89ab'
    """
    patterns = _of_preset(text, shape, radix, is_shared=is_shared)
    if patterns is not None:
        return patterns if is_shared else placements_of(patterns, shape)
    if not all(letter in "0123456789abcdefABCDEF, " for letter in text) or not text.strip(", "):
        raise UsageError(
            f"{unknown('network', text, PRESETS)} (or cells in hex, such as 012345,456789)",
            field="network",
        )
    return _of_digits(text, shape)


def write_patterns(patterns: Iterable[Pattern]) -> str:
    """Return patterns in hex digits, as `parse_patterns` reads them."""
    return " ".join("".join(f"{cell:x}" for cell in pattern) for pattern in patterns)


def placements_of(patterns: Iterable[Pattern], shape: Shape) -> tuple[Pattern, ...]:
    """Return all distinct symmetric copies of some patterns."""
    found: dict[Pattern, None] = {}
    for pattern in patterns:
        found |= dict.fromkeys(sorted(_images(pattern, shape)))
    return tuple(found)


def _images(pattern: Pattern, shape: Shape) -> list[Pattern]:
    return [tuple(sorted(symmetry.cells[cell] for cell in pattern)) for symmetry in shape.symmetries]


def _of_preset(text: str, shape: Shape, radix: int, *, is_shared: bool) -> tuple[Pattern, ...] | None:
    """Return one pattern of each symmetry class; None if the text is not a preset."""
    if text in (AUTO, BEST):
        return _best(shape, radix, is_shared=is_shared)
    if text == SMALL:
        return _small(shape, radix, is_shared=is_shared)
    if sized := _SIZED.fullmatch(text):
        return _preset(int(sized[1]), int(sized[2]), shape)
    if text in _FEATURES:
        features = {"rows": _rows, "pairs": _pairs, "pairs-triplets-quartets": _pairs_triplets_quartets}
        return features[text](shape)
    return None


def _of_digits(text: str, shape: Shape) -> tuple[Pattern, ...]:
    words = text.lower().replace(",", " ").split()
    patterns = tuple(tuple(sorted(int(digit, 16) for digit in word)) for word in words)
    for word, pattern in zip(words, patterns, strict=True):
        if pattern[-1] >= shape.n_cells:
            last = f"{shape.n_cells - 1:x}"
            raise UsageError(
                f"pattern {word} has cell {pattern[-1]:x}: expected cells 0 to {last} of {shape.size_name}",
                field="pattern",
            )
        if len(set(pattern)) < len(pattern):
            raise UsageError(f"pattern {word} repeats a cell: expected each cell once", field="pattern")
        if len(pattern) > MAX_CELLS:
            raise UsageError(f"pattern {word} has {len(pattern)} cells: expected at most {MAX_CELLS}", field="pattern")
    if len(patterns) > MAX_PLACEMENTS:
        raise UsageError(f"network has {len(patterns)} patterns: expected at most {MAX_PLACEMENTS}", field="network")
    return patterns


def neighbours(shape: Shape) -> set[frozenset[int]]:
    """Return the pairs of adjacent cells."""
    return {frozenset(pair) for lines in shape.lines for line in lines for pair in itertools.pairwise(line)}


def corners(shape: Shape) -> list[int]:
    """Return the cells with the fewest neighbours; isolated cells do not count."""
    counts = [sum(cell in pair for pair in neighbours(shape)) for cell in range(shape.n_cells)]
    least = min(count for count in counts if count > 0)
    return [cell for cell, count in enumerate(counts) if count == least]


def _orbits(patterns: Iterable[Pattern], shape: Shape) -> list[Pattern]:
    """Return one pattern of each symmetry class."""
    found: dict[Pattern, Pattern] = {}
    for pattern in patterns:
        found.setdefault(min(_images(pattern, shape)), pattern)
    return list(found.values())


def _connected(shape: Shape, size: int) -> list[Pattern]:
    """Return all connected patterns of a size, sorted; a smaller island is one pattern."""
    pairs = neighbours(shape)
    grown: set[Pattern] = {(cell,) for cell in range(shape.n_cells)}
    for _ in range(size - 1):
        larger: set[Pattern] = set()
        for pattern in grown:
            beside = {cell for pair in pairs if len(pair & set(pattern)) == 1 for cell in pair - set(pattern)}
            larger |= {tuple(sorted((*pattern, cell))) for cell in beside} or {pattern}
        grown = larger
    return sorted(pattern for pattern in grown if len(pattern) > 1)


def _preset(n_patterns: int, size: int, shape: Shape) -> tuple[Pattern, ...]:
    """Return the patterns of the literature, or derive as many of the same size."""
    name = f"{n_patterns}x{size}"
    if not (1 <= n_patterns <= MAX_PATTERNS and MIN_CELLS <= size <= MAX_CELLS):
        raise OutOfRangeError("network", name, f"1 to {MAX_PATTERNS} patterns of {MIN_CELLS} to {MAX_CELLS} cells")
    if name in _CLASSIC and shape == rectangle(4, 4):
        return _of_digits(_CLASSIC[name], shape)
    return _derive(n_patterns, size, shape)


def _best(shape: Shape, radix: int, *, is_shared: bool) -> tuple[Pattern, ...]:
    if shape.n_cells > SMALL_BOARD:
        return _preset(8, 6, shape)
    return _of_several_sizes(2, shape, radix, BEST_WEIGHTS, is_shared=is_shared)


def _small(shape: Shape, radix: int, *, is_shared: bool) -> tuple[Pattern, ...]:
    if shape.n_cells > SMALL_BOARD:
        return _preset(4, 5, shape)
    best = _best(shape, radix, is_shared=is_shared)
    is_small = sum(radix ** len(pattern) for pattern in best) <= SMALL_WEIGHTS
    return best if is_small else _of_several_sizes(3, shape, radix, SMALL_WEIGHTS, is_shared=is_shared)


def _of_several_sizes(n_each: int, shape: Shape, radix: int, n_weights: int, *, is_shared: bool) -> tuple[Pattern, ...]:
    """Return patterns of several sizes, as far as `n_weights` allow: for boards that can be learned completely.

    Small patterns generalize to new boards early in training; large ones become exact in the end.
    """
    patterns: dict[Pattern, None] = {}
    for size in (4, 6, 7, 8):
        for pattern in _derive(n_each, size, shape):
            tables = {*patterns, pattern} if is_shared else placements_of((*patterns, pattern), shape)
            if sum(radix ** len(table) for table in tables) <= n_weights:
                patterns[pattern] = None
    return tuple(patterns)


def _derive(n_patterns: int, size: int, shape: Shape) -> tuple[Pattern, ...]:
    """Derive `n_patterns` compact patterns of `size` cells that together cover as many adjacent pairs as possible."""
    pairs = neighbours(shape)
    left = {
        pattern: {pair for pair in pairs if pair <= set(pattern)}
        for pattern in _orbits(_connected(shape, min(size, shape.n_cells)), shape)
    }
    sights = {pattern: _all_of(links, shape) for pattern, links in left.items()}
    chosen: list[Pattern] = []
    seen: set[frozenset[int]] = set()
    while left and len(chosen) < n_patterns:
        # The most uncovered pairs first, then the most compact pattern, then the first.
        best = max(left, key=lambda pattern: (len(sights[pattern] - seen), len(left[pattern])))
        del left[best]
        chosen.append(best)
        seen |= sights[best]
    return tuple(chosen)


def _all_of(pairs: set[frozenset[int]], shape: Shape) -> set[frozenset[int]]:
    """Return pairs with all their symmetric copies."""
    return {frozenset(symmetry.cells[cell] for cell in pair) for pair in pairs for symmetry in shape.symmetries}


def _rows(shape: Shape) -> tuple[Pattern, ...]:
    """Return every line up to symmetry; lines longer than a pattern are split."""
    lines = {tuple(sorted(line[:MAX_ROW])) for lines in shape.lines for line in lines if len(line) > 1}
    return tuple(_orbits(sorted(lines), shape))


def _pairs(shape: Shape) -> tuple[Pattern, ...]:
    """Return all adjacent pairs up to symmetry: the features that Datta et al. 2022 trained."""
    return tuple(_orbits(_connected(shape, 2), shape))


def _pairs_triplets_quartets(shape: Shape) -> tuple[Pattern, ...]:
    """Return the features of Datta et al. 2022: pairs, connected triples, lines of four and squares."""
    pairs = neighbours(shape)
    lines = {tuple(sorted(line)) for lines in shape.lines for line in lines if len(line) == 4}
    quartets = [
        pattern
        for pattern in _connected(shape, 4)
        if pattern in lines or sum(frozenset(pair) in pairs for pair in itertools.combinations(pattern, 2)) >= 4
    ]
    return tuple(_orbits([*_connected(shape, 2), *_connected(shape, 3), *quartets], shape))
