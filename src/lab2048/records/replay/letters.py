"""Replays as text: of 2048league and of 2048verse, in its old and its new form.

All begin with two entries for the first tiles, whose moves mean nothing.

- 2048league: a letter per turn, 32 direction + 16 (a 4 spawned) + 4 column + row.
- 2048verse, old: the same after a header of 7 letters, or 10 if they name another board than 4x4.
- 2048verse, new: `4x4-..._`, then three letters per turn, a number to the base 128: row, column (3 bits each), spawned
  rank - 1 and direction (2 bits each).
"""

import re
from collections.abc import Iterable

from lab2048.errors import FileError
from lab2048.records.replay.replay import SIZES, Replay, Step, check_length, columns_of
from lab2048.rules.move import Move

LEAGUE, VERSE = "2048league", "2048verse"
# The letters of the old form, in order: ASCII from the space on, then some of code page 437.
OLD_LETTERS = "".join(map(chr, range(32, 127))) + "ÇüéâäàåçêëèïîìÄÅÉæÆôöòûùÿÖÜø£Ø\xd7ƒá"
OLD_MOVES = (Move.UP, Move.RIGHT, Move.DOWN, Move.LEFT)
NEW_LETTERS = (
    "0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ" + "".join(map(chr, range(0xC0, 0x100))) + "¤¾"
)
NEW_MOVES = (Move.UP, Move.DOWN, Move.LEFT, Move.RIGHT)
NEW_FORM = re.compile(r"(\d+x\d+)-[^_]*_(.*)", re.DOTALL)
N_FIRST = 2  # entries for the first tiles
OLD_HEADER, OLD_VARIANT_HEADER = 7, 10

Entry = tuple[Move, int, int, int]  # move, row, column, rank


def read_new(text: str) -> Replay | None:
    """Read a replay in the new form of 2048verse; return None if it is something else."""
    found = NEW_FORM.fullmatch(text)
    if not found:
        return None
    size, letters = found[1], found[2]
    _check_size(size)
    if len(letters) % 3:
        raise FileError(f"the replay has {len(letters)} letters after its header: expected three per move")
    check_length(len(letters) // 3)
    numbers = [_number(letter, NEW_LETTERS, i) for i, letter in enumerate(letters)]
    words = (a << 14 | b << 7 | c for a, b, c in zip(numbers[::3], numbers[1::3], numbers[2::3], strict=True))
    return _make(
        VERSE, size, ((NEW_MOVES[word & 3], word >> 7 & 7, word >> 4 & 7, (word >> 2 & 3) + 1) for word in words)
    )


def read_old(text: str) -> list[Replay]:
    """Read a replay of a letter per turn; return what it may be, the likeliest first: headers have no fixed words."""
    size = next((size for size in SIZES if size in text[: OLD_VARIANT_HEADER + 2]), "4x4")
    headers = [(LEAGUE, 0), (VERSE, OLD_HEADER)] if size == "4x4" else [(VERSE, OLD_VARIANT_HEADER)]
    if text.lower().startswith("replay"):
        headers.reverse()
    found = []
    for program, header in headers:
        letters = text[header:]
        check_length(len(letters))
        try:
            numbers = [_number(letter, OLD_LETTERS, i) for i, letter in enumerate(letters)]
            entries = [(OLD_MOVES[n >> 5], n & 3, n >> 2 & 3, (n >> 4 & 1) + 1) for n in numbers]
            found.append(_make(program, size, entries))
        except FileError:
            if (program, header) == headers[-1] and not found:
                raise
    return found


def _make(program: str, size: str, entries: Iterable[Entry]) -> Replay:
    every, columns = list(entries), columns_of(size)
    if len(every) < N_FIRST:
        raise FileError("the replay is too short: expected two first tiles")
    if any(column >= columns for _, _, column, _ in every):
        raise FileError(f"the replay has a tile outside of a board of {size}")
    cells = [(row * columns + column, rank) for _, row, column, rank in every]
    steps = [Step(move, cell, rank) for (move, *_), (cell, rank) in zip(every[N_FIRST:], cells[N_FIRST:], strict=True)]
    return Replay(program, size, tuple(cells[:N_FIRST]), steps)


def _number(letter: str, letters: str, i: int) -> int:
    found = letters.find(letter)
    if found < 0:
        raise FileError(f"letter {i + 1} of the replay is {letter!r}: expected one of its {len(letters)} letters")
    return found


def _check_size(size: str) -> None:
    if size not in SIZES:
        raise FileError(f"the replay is of a board of {size[:20]}: expected one of {', '.join(SIZES)}")
