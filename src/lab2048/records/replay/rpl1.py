"""Replays of 2048next: `REPLAY_v1RPL_B64_`, then base64.

    RPL1, columns and rows (4 bits each), flags, number of first tiles
    the time of the start, if flag 1 is set
    the first tiles: a byte each (cell, then 1 bit for a 4), or a number each if flag 8 is set
    records: a move is a byte below 128 (2 bits of direction, 4 of the cell, 1 for a 4) and the time since the last one;
             above are undo, checkpoints, extensions and the end
    CRC-32 of everything before

Numbers are ULEB128: 7 bits per byte, the lowest first.
"""

import base64
import binascii
import zlib

from lab2048.errors import FileError
from lab2048.records.replay.replay import SIZES, Replay, Step, check_length
from lab2048.rules.move import Move

PROGRAM = "2048next"
PREFIX = "REPLAY_v1RPL_B64_"
MAGIC = b"RPL1"
MOVES = (Move.UP, Move.RIGHT, Move.DOWN, Move.LEFT)
HAS_TIME, HAS_LARGE_CELLS = 1, 8  # flags
UNDO_ONE, UNDO, CHECKPOINT, EXTENSION, END, LARGE_MOVE = range(128, 134)  # records
RULESET, CLASSIC = 2, b"pow2"  # an extension that names the rules
MAX_SHIFT = 56
HEAD, CHECK = 7, 4  # bytes before the first tiles and of the checksum


class _Bytes:
    """Bytes that are read from the front."""

    def __init__(self, data: bytes) -> None:
        self.data, self.position = data, 0

    def __bool__(self) -> bool:
        return self.position < len(self.data)

    def take(self, n: int) -> bytes:
        found = self.data[self.position : self.position + n]
        if len(found) < n:
            raise FileError("the replay ends too early", code="file.damaged")
        self.position += n
        return found

    def byte(self) -> int:
        return self.take(1)[0]

    def number(self) -> int:
        """Read a ULEB128 number."""
        value = 0
        for shift in range(0, MAX_SHIFT + 1, 7):
            byte = self.byte()
            value |= (byte & 127) << shift
            if byte < 128:
                return value
        raise FileError("the replay has a number of more than 63 bits", code="file.damaged")


def read_rpl1(text: str) -> Replay | None:
    """Read a replay; return None if the text is something else."""
    if not text.startswith(PREFIX):
        return None
    try:
        data = base64.b64decode("".join(text[len(PREFIX) :].split()), validate=True)
    except (binascii.Error, ValueError):
        raise FileError("the replay is damaged: expected base64 after its prefix", code="file.damaged") from None
    if len(data) < HEAD + CHECK or not data.startswith(MAGIC):
        raise FileError("the replay is damaged: it does not begin with RPL1", code="file.damaged")
    if zlib.crc32(data[:-CHECK]) != int.from_bytes(data[-CHECK:], "little"):
        raise FileError("the replay is damaged: its checksum is wrong", code="file.damaged")
    size = f"{data[4] >> 4}x{data[4] & 15}"
    if size not in SIZES:
        raise FileError(f"the replay is of a board of {size}: expected one of {', '.join(SIZES)}")
    flags, n_first, rest = data[5], data[6], _Bytes(data[HEAD:-CHECK])
    if flags & HAS_TIME:
        rest.number()
    first = tuple(_first_tile(rest, is_large=bool(flags & HAS_LARGE_CELLS)) for _ in range(n_first))
    n_cells = (data[4] >> 4) * (data[4] & 15)
    return Replay(PROGRAM, size, first, _steps(rest, n_cells))


def _first_tile(rest: _Bytes, *, is_large: bool) -> tuple[int, int]:
    if is_large:
        word = rest.number()
        return word >> 1, (word & 1) + 1
    byte = rest.byte()
    return byte & 15, (byte >> 4 & 1) + 1


def _steps(rest: _Bytes, n_cells: int) -> list[Step]:
    steps: list[Step] = []
    while rest:
        kind = rest.byte()
        if kind < UNDO_ONE:
            rest.number()  # the time
            steps.append(Step(MOVES[kind & 3], kind >> 2 & 15, (kind >> 6 & 1) + 1))
        elif kind in (UNDO_ONE, UNDO):
            n = 1 if kind == UNDO_ONE else rest.number()
            rest.number()
            if not 1 <= n <= len(steps):
                raise FileError(f"the replay undoes {n} moves of {len(steps)}", code="game.invalid")
            del steps[-n:]
        elif kind == CHECKPOINT:
            rest.take(-(-5 * n_cells // 8))
        elif kind == EXTENSION:
            name, content = rest.number(), rest.take(rest.number())
            if name == RULESET and content != CLASSIC:
                raise FileError(f"the replay is of other rules: {content[:20].decode('utf-8', 'replace')!r}")
        elif kind == LARGE_MOVE:
            direction, cell, bit = rest.byte(), rest.number(), rest.byte()
            rest.number()
            if direction >= len(MOVES) or bit > 1:
                raise FileError(f"move {len(steps) + 1} of the replay is none of this game", code="game.invalid")
            steps.append(Step(MOVES[direction], cell, bit + 1))
        elif kind != END:
            raise FileError(f"the replay has a record of the unknown kind {kind}", code="file.damaged")
        check_length(len(steps))
    return steps
