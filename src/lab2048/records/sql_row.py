"""Rows of the store: games and runs as its tables hold them.

A file may have been damaged, or written by anyone: what is read is checked before it
is believed, and what is wrong with it is said by a LabError or a ValueError.
"""

import json
import zlib
from collections.abc import Sequence
from typing import Any

from lab2048.errors import FileError, LabError, StoreError
from lab2048.records.entry import Entry, Kept, Run, Summary
from lab2048.records.episode import MAX_MOVES, Episode, check_kinds, check_seconds, read_movers
from lab2048.records.provenance import check_provenance
from lab2048.rules import Rules

# What a game says of itself, by the names of the columns.
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
    "moves",
)
DAMAGES = (LabError, zlib.error, ValueError, TypeError, OverflowError, RecursionError)  # of what is read here

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
RUN = tuple(_RUN_KINDS)  # what is kept of a run, by the names of the columns
_PLACE_KINDS = {name: _KINDS[name] for name in ("number", "created")}
_ENTRY_KINDS = {name: _KINDS[name] for name in Entry._fields}
_SUMMARY_KINDS = {name: _KINDS[name] for name in Summary._fields}


def write_facts(episode: Episode, checksum: str) -> tuple[Any, ...]:
    """A game as the columns FACTS; the checksum is an argument because it takes time to make."""
    e = episode
    n_moves = len(e.moves)
    if n_moves > MAX_MOVES:
        raise StoreError(
            f"a game of {n_moves} moves cannot be kept: expected at most {MAX_MOVES}", code="game.too_long"
        )
    movers = json.dumps(e.movers) if e.movers else _NO_MOVERS
    facts = (e.player, e.seed, n_moves, e.score, e.max_tile, e.moves_to_goal, e.seconds)
    return (*facts, checksum, movers, _pack(e.moves))


def read_run(id_: int, row: Sequence[Any]) -> Run:
    """A run from the columns RUN."""
    check_kinds(dict(zip(RUN, row, strict=True)), _RUN_KINDS)
    kind, rules, player, seed, created, origin = row
    origin = check_provenance(json.loads(origin))
    return Run(id_, kind, Rules.from_json(json.loads(rules)), player, seed, created, origin)


def read_kept(id_: int, run: Run, row: Sequence[Any]) -> Kept:
    """A game from the columns number, created and FACTS."""
    number, created, *values = row
    check_kinds({"number": number, "created": created}, _PLACE_KINDS)
    facts = dict(zip(FACTS, values, strict=True))
    moves = _unpack(facts["moves"], facts["n_moves"])
    facts.update(moves=moves, movers=json.loads(facts["movers"]))
    return Kept(id_, run, number, created, Episode.from_facts(run.rules, facts))


def read_entry(row: Sequence[Any]) -> Entry:
    """A line of the list of games, from columns named as the fields of an Entry."""
    data = dict(zip(Entry._fields, row, strict=True))
    check_kinds(data, _ENTRY_KINDS)
    check_seconds(data["seconds"])
    _check_n_moves(data["n_moves"])
    text = data["movers"]
    movers = () if text == _NO_MOVERS else read_movers(json.loads(text), data["player"], data["n_moves"])
    return Entry._make([*row[:-1], movers])


def read_summary(row: Sequence[Any]) -> Summary:
    """A game as statistics need it, from columns named as the fields of a Summary."""
    summary = Summary._make(row)
    check_kinds(summary._asdict(), _SUMMARY_KINDS)
    check_seconds(summary.seconds)
    _check_n_moves(summary.n_moves)
    return summary


def _check_n_moves(n_moves: int) -> None:
    if type(n_moves) is not int or not 0 <= n_moves <= MAX_MOVES:
        raise FileError(f"n_moves is {str(n_moves)[:40]!r}: expected 0 to {MAX_MOVES}")


def _pack(moves: str) -> bytes:
    window, memory = (9, 1) if len(moves) < _SHORT else (15, 8)
    packer = zlib.compressobj(6, zlib.DEFLATED, window, memory)
    return packer.compress(moves.encode("ascii")) + packer.flush()


def _unpack(packed: bytes, n_moves: int) -> str:
    """The moves; never more than announced, whatever the bytes would unfold to."""
    _check_n_moves(n_moves)
    unpacker = zlib.decompressobj()
    moves = unpacker.decompress(packed, n_moves + 1)
    if len(moves) != n_moves or not unpacker.eof:
        raise FileError(f"expected {n_moves} moves, found {len(moves)}")
    return moves.decode("ascii")
