"""Replays of 2048EndgameTablebase (`.rpl`): 25 bytes per turn, little-endian.

    board   8 bytes, the first cell in the highest 4 bits
    change  1 byte: 1 bit for a spawned 4, 4 bits of its cell, 2 of the direction
    rates   4 numbers of 4 bytes: the success rate of each move, times 4e9

The last record only marks the end.
"""

import struct
from collections.abc import Sequence

from lab2048.errors import FileError
from lab2048.records.replay.replay import Replay, Step, check_length
from lab2048.rules.move import Move

PROGRAM = "2048EndgameTablebase"
RECORD = struct.Struct("<QB4I")
MOVES = (Move.LEFT, Move.RIGHT, Move.UP, Move.DOWN)
END = (88, 666666666, 233333333, 314159265, 987654321)  # of the last record, after its board
N_CELLS = 16

Record = tuple[int, ...]


def read_tablebase(data: bytes) -> Replay | None:
    """Read a replay; return None if the bytes are something else."""
    if not data or len(data) % RECORD.size or RECORD.unpack(data[-RECORD.size :])[1:] != END:
        if _begins_well(data):
            raise FileError("the replay is cut off: expected a last record that marks its end", code="file.damaged")
        return None
    records = list(RECORD.iter_unpack(data[: -RECORD.size]))
    check_length(len(records))
    if not records:
        raise FileError("the replay has no moves")
    replay = _replay_of(records)
    for number, (turn, (board, *_)) in enumerate(zip(replay.to_game().turns, records[1:], strict=False), 1):
        if turn.board.ranks != _ranks(board):
            raise FileError(f"move {number} leads to another board than recorded", code="game.invalid")
    return replay


def _begins_well(data: bytes) -> bool:
    """Return True if the bytes begin with two records, and the move of the first leads to the board of the second."""
    if len(data) < 2 * RECORD.size:
        return False
    first, second = RECORD.iter_unpack(data[: 2 * RECORD.size])
    try:
        [turn] = _replay_of([first]).to_game().turns
    except FileError:
        return False
    return turn.board.ranks == _ranks(second[0])


def _replay_of(records: Sequence[Record]) -> Replay:
    steps = [Step(MOVES[change >> 5 & 3], change >> 1 & 15, (change & 1) + 1) for _, change, *_ in records]
    first = tuple((cell, rank) for cell, rank in enumerate(_ranks(records[0][0])) if rank)
    return Replay(PROGRAM, "4x4", first, steps)


def _ranks(board: int) -> tuple[int, ...]:
    return tuple(board >> 4 * (N_CELLS - 1 - cell) & 15 for cell in range(N_CELLS))
