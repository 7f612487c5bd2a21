"""Rows of the store: convert games and runs to and from the columns of its tables.

A file may be damaged or written by anyone, so everything read is checked; what is wrong
raises a LabError or a ValueError.
"""

import json
import zlib
from collections.abc import Sequence
from typing import Any

from lab2048.errors import FileError, LabError, StoreError
from lab2048.records.entry import Entry, Run, StoredGame, Summary
from lab2048.records.episode import MAX_MOVES, Episode, check_kinds, check_seconds, read_movers
from lab2048.records.input_file import parse_json
from lab2048.records.provenance import check_provenance
from lab2048.rules import Rules

# The columns of a game, except for where it is stored and its moves.
FACTS = (
    "player",
    "seed",
    "n_moves",
    "score",
    "max_tile",
    "moves_to_goal",
    "seconds",
    "checksum",
    "movers",
)
DAMAGES = (LabError, zlib.error, ValueError, TypeError, OverflowError, RecursionError)  # raised by damaged rows

_SHORT = 2000  # moves; below, a small window compresses as well and four times as fast
_NO_MOVERS = "[]"
_KINDS: dict[str, tuple[type, ...]] = {
    "id": (int,),
    "number": (int,),
    "created": (str,),
    "kind": (str,),
    "board": (str,),
    "player": (str,),
    "seed": (int,),
    "score": (int,),
    "max_tile": (int,),
    "n_moves": (int,),
    "moves_to_goal": (int, type(None)),
    "seconds": (float,),
    "movers": (str,),
}
_RUN_KINDS: dict[str, tuple[type, ...]] = {
    "kind": (str,),
    "rules": (str,),
    "player": (str,),
    "seed": (int, type(None)),
    "created": (str,),
    "provenance": (str,),
}
RUN = tuple(_RUN_KINDS)  # the columns of a run
_PLACE_KINDS = {name: _KINDS[name] for name in ("number", "created")}
_ENTRY_KINDS = {name: _KINDS[name] for name in Entry._fields}
_SUMMARY_KINDS = {name: _KINDS[name] for name in Summary._fields}


def write_facts(episode: Episode) -> tuple[Any, ...]:
    """Return the columns FACTS of a game."""
    e = episode
    n_moves = len(e.moves)
    if n_moves > MAX_MOVES:
        raise StoreError(
            f"a game of {n_moves} moves cannot be saved: expected at most {MAX_MOVES}", code="game.too_long"
        )
    movers = json.dumps(e.movers) if e.movers else _NO_MOVERS
    return (e.player, e.seed, n_moves, e.score, e.max_tile, e.moves_to_goal, e.seconds, e.checksum, movers)


def read_run(id_: int, row: Sequence[Any]) -> Run:
    """Read a run from the columns RUN."""
    check_kinds(dict(zip(RUN, row, strict=True)), _RUN_KINDS)
    kind, rules, player, seed, created, origin = row
    origin = check_provenance(parse_json(origin))
    return Run(id_, kind, Rules.from_json(parse_json(rules)), player, seed, created, origin)


def read_game(id_: int, run: Run, row: Sequence[Any]) -> StoredGame:
    """Read a game from the columns number, created, FACTS, moves, the appended moves and the spawns (None: none)."""
    number, created, *values, packed, appended, spawns = row
    check_kinds({"number": number, "created": created}, _PLACE_KINDS)
    facts = dict(zip(FACTS, values, strict=True))
    n_moves = facts["n_moves"]
    _check_n_moves(n_moves)
    moves = unpack(packed, n_moves) + (appended or "")
    if len(moves) != n_moves:
        raise FileError(f"expected {n_moves} moves, found {len(moves)}")
    facts.update(moves=moves, movers=parse_json(facts["movers"]))
    if spawns is not None:
        facts["spawns"] = unpack(spawns, 2 * (run.rules.n_start + n_moves))
    return StoredGame(id_, run, number, created, Episode.from_facts(run.rules, facts))


def read_entry(row: Sequence[Any]) -> Entry:
    """Read a line of the list of games from columns named like the fields of an Entry."""
    data = dict(zip(Entry._fields, row, strict=True))
    check_kinds(data, _ENTRY_KINDS)
    check_seconds(data["seconds"])
    _check_n_moves(data["n_moves"])
    text = data["movers"]
    movers = () if text == _NO_MOVERS else read_movers(parse_json(text), data["player"], data["n_moves"])
    return Entry._make([*row[:-1], movers])


def read_summary(row: Sequence[Any]) -> Summary:
    """Read the figures of a game from columns named like the fields of a Summary."""
    summary = Summary._make(row)
    check_kinds(summary._asdict(), _SUMMARY_KINDS)
    check_seconds(summary.seconds)
    _check_n_moves(summary.n_moves)
    return summary


def _check_n_moves(n_moves: int) -> None:
    if type(n_moves) is not int or not 0 <= n_moves <= MAX_MOVES:
        raise FileError(f"n_moves is {str(n_moves)[:40]!r}: expected 0 to {MAX_MOVES}")


def pack(text: str) -> bytes:
    """Compress the moves or the spawns of a game."""
    window, memory = (9, 1) if len(text) < _SHORT else (15, 8)
    packer = zlib.compressobj(6, zlib.DEFLATED, window, memory)
    return packer.compress(text.encode("ascii")) + packer.flush()


def unpack(packed: bytes, limit: int) -> str:
    """Return the text that `pack` compressed; raise FileError if it has more than `limit` letters."""
    unpacker = zlib.decompressobj()
    text = unpacker.decompress(packed, limit + 1)
    if len(text) > limit or not unpacker.eof:
        raise FileError(f"expected at most {limit} letters")
    return text.decode("ascii")
