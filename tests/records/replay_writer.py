"""Write games as other programs record them, from the published descriptions of their formats."""

import base64
import zlib

from lab2048.records.replay import rpl1, tablebase
from lab2048.records.replay.letters import NEW_LETTERS, NEW_MOVES, OLD_LETTERS, OLD_MOVES
from lab2048.records.replay.replay import columns_of
from lab2048.rules import Game


def spawns_of(game: Game) -> list[tuple[int, int]]:
    return [*game.first_spawns, *(turn.spawn for turn in game.turns)]


def size_of(game: Game) -> str:
    return game.rules.board.to_text() if "x" in game.rules.board.to_text() else "4x4"


def write_league(game: Game, size: str = "4x4", header: str = "") -> bytes:
    moves = [0, 0, *(OLD_MOVES.index(turn.move) for turn in game.turns)]
    text = header
    for move, (cell, rank) in zip(moves, spawns_of(game), strict=True):
        row, column = divmod(cell, columns_of(size))
        text += OLD_LETTERS[32 * move + 16 * (rank - 1) + 4 * column + row]
    return text.encode()


def write_verse(game: Game, size: str) -> bytes:
    moves = [0, 0, *(NEW_MOVES.index(turn.move) for turn in game.turns)]
    text = f"{size}-abc_"
    for move, (cell, rank) in zip(moves, spawns_of(game), strict=True):
        row, column = divmod(cell, columns_of(size))
        word = row << 7 | column << 4 | (rank - 1) << 2 | move
        text += "".join(NEW_LETTERS[word >> shift & 127] for shift in (14, 7, 0))
    return text.encode()


def write_rpl1(game: Game, size: str, *, extra: bytes = b"") -> bytes:
    rows, columns = map(int, size.split("x"))
    data = rpl1.MAGIC + bytes([rows << 4 | columns, rpl1.HAS_TIME, len(game.first_spawns)]) + b"\x81\x01"
    data += bytes(cell | (rank - 1) << 4 for cell, rank in game.first_spawns) + extra
    for turn in game.turns:
        cell, rank = turn.spawn
        data += bytes([rpl1.MOVES.index(turn.move) | cell << 2 | (rank - 1) << 6]) + b"\x05"
    data += bytes([rpl1.END])
    data += zlib.crc32(data).to_bytes(4, "little")
    return (rpl1.PREFIX + base64.b64encode(data).decode() + "\n").encode()


def write_tablebase(game: Game) -> bytes:
    data, board = b"", game.first_board
    for turn in game.turns:
        cell, rank = turn.spawn
        change = tablebase.MOVES.index(turn.move) << 5 | cell << 1 | (rank - 1)
        data += tablebase.RECORD.pack(_word(board.ranks), change, 1, 2, 3, 4)
        board = turn.board
    return data + tablebase.RECORD.pack(0, *tablebase.END)


def _word(ranks: tuple[int, ...]) -> int:
    return sum(rank << 4 * (15 - cell) for cell, rank in enumerate(ranks))
