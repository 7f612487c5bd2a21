"""The store: every game that was played, in one SQLite file.

A run is one player on one set of rules with one seed; it says where its games come
from.  An episode is one game of a run, known by its number there and by an id of
its own that never changes.
"""

import json
import sqlite3
import zlib
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from types import TracebackType
from typing import Any, Self

from lab2048.errors import LabError, StoreError
from lab2048.records.database import BUSY_SECONDS, connect, default_path, explained, transaction
from lab2048.records.episode import Episode
from lab2048.records.kept import Entry, Kept, Run, Summary
from lab2048.records.provenance import provenance
from lab2048.rules import Rules

__all__ = ["Entry", "Kept", "Run", "Store", "Summary"]

_SHORT = 2000  # moves; below, a small window compresses as well and four times as fast
_MAX_ID = 2**63 - 1

_KEEP = """
    INSERT INTO episodes (run, number, seed, n_moves, score, max_tile, moves_to_goal, seconds, checksum, moves)
    VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
    ON CONFLICT (run, number) DO UPDATE SET
        (seed, n_moves, score, max_tile, moves_to_goal, seconds, checksum, moves) =
        (excluded.seed, excluded.n_moves, excluded.score, excluded.max_tile, excluded.moves_to_goal,
         excluded.seconds, excluded.checksum, excluded.moves)
"""
_CHOSEN = """
    FROM episodes JOIN runs ON runs.id = episodes.run
    WHERE (:board IS NULL OR board = :board) AND (:player IS NULL OR player = :player)
      AND (:min_score IS NULL OR score >= :min_score)
"""


Summaries = list[Summary]  # named here, because inside the class `list` is the command


class Store:
    """All games that were kept; use it in a `with` statement, or `close` it.

    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder, Store.open(Path(folder) / "games.sqlite") as store:
    ...     run = store.begin_run("play", Rules.from_text("2x2"), "human", seed=1)
    ...     store.summaries_of(run)
    []
    """

    def __init__(self, path: Path, database: sqlite3.Connection) -> None:
        """Wrap an open database; users call `open`."""
        self.path = path
        self._database = database
        self._runs: dict[int, Run] = {}  # runs never change, so what was read once stays true

    @classmethod
    def open(cls, path: Path | None = None, *, timeout: float = BUSY_SECONDS, create: bool = True) -> Self:
        """Open a store, by default the user's own; it is made if it is not there and `create` allows it.

        `timeout` is how many seconds to wait while another program is writing.
        """
        path = path or default_path()
        return cls(path, connect(path, timeout=timeout, create=create))

    def close(self) -> None:
        """Let go of the file; closing twice does no harm."""
        with explained(self.path):
            self._database.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def begin_run(self, kind: str, rules: Rules, player: str, seed: int) -> int:
        """Note that a player begins; return the number of the run, for `keep`."""
        origin = provenance()
        with explained(self.path), transaction(self._database):
            run = self._insert_run(kind, rules, player, seed, origin["created"], origin)
        self._runs[run] = Run(run, kind, rules, player, seed, origin["created"], origin)
        return run

    def find_run(self, rules: Rules, player: str, seed: int) -> int | None:
        """The newest match of this player with these rules and this seed: the one to go on with."""
        question = "SELECT max(id) FROM runs WHERE kind = 'match' AND rules = ? AND player = ? AND seed = ?"
        with explained(self.path):
            run: int | None = self._database.execute(question, (_text(rules.to_json()), player, seed)).fetchone()[0]
        return run

    def keep(self, run: int, episodes: Mapping[int, Episode]) -> None:
        """Keep games of a run by their numbers, all of them or none; a game with a known number replaces that one."""
        home = self.run(run)
        for episode in episodes.values():
            if episode.player != home.player or (episode.rules is not home.rules and episode.rules != home.rules):
                raise ValueError(f"run {run} is of {home.player} on other rules than {episode.player}")
        rows = [_row(run, number, episode, episode.checksum) for number, episode in episodes.items()]
        with explained(self.path), transaction(self._database):
            self._database.executemany(_KEEP, rows)

    def adopt(self, games: Iterable[tuple[Episode, dict[str, Any]]]) -> int:
        """Keep games from elsewhere, each with its provenance, all or none; return how many were not yet there.

        Games of one origin become games of one run.
        """
        n_new = 0
        with explained(self.path), transaction(self._database):
            for episode, origin in games:
                checksum = episode.checksum
                if self._database.execute("SELECT 1 FROM episodes WHERE checksum = ?", (checksum,)).fetchone():
                    continue
                run = self._import_run(episode, origin)
                number = self._database.execute(
                    "SELECT coalesce(max(number) + 1, 0) FROM episodes WHERE run = ?", (run,)
                )
                self._database.execute(_KEEP, _row(run, number.fetchone()[0], episode, checksum))
                n_new += 1
        return n_new

    def run(self, run: int) -> Run:
        """What is known of a run."""
        if run not in self._runs:
            with explained(self.path):
                question = "SELECT kind, rules, player, seed, created, provenance FROM runs WHERE id = ?"
                row = self._database.execute(question, (run,)).fetchone()
            if row is None:
                raise StoreError(f"there is no run {run} in {self.path}")
            kind, rules, player, seed, created, origin = row
            try:
                self._runs[run] = Run(
                    run, kind, Rules.from_json(json.loads(rules)), player, seed, created, json.loads(origin)
                )
            except (ValueError, TypeError, RecursionError, LabError) as error:
                raise StoreError(f"run {run} in {self.path} is damaged: {error}") from error
        return self._runs[run]

    def summaries_of(self, run: int) -> Summaries:
        """The games of a run in the order of their numbers, without their moves."""
        columns = ", ".join(Summary._fields)
        question = f"SELECT {columns} FROM episodes WHERE run = ? ORDER BY number"
        with explained(self.path):
            return [Summary(*row) for row in self._database.execute(question, (run,))]

    def episodes_of(self, run: int) -> dict[int, Episode]:
        """The games of a run by their numbers, moves and all."""
        with explained(self.path):
            ids = self._database.execute("SELECT id FROM episodes WHERE run = ? ORDER BY number", (run,)).fetchall()
        return {kept.number: kept.episode for kept in (self.get(id_) for (id_,) in ids)}

    def get(self, id_: int) -> Kept:
        """The game with this id; a damaged one is refused."""
        question = """
            SELECT run, number, seed, n_moves, score, max_tile, moves_to_goal, seconds, checksum, moves
            FROM episodes WHERE id = ?
        """
        with explained(self.path):
            row = self._database.execute(question, (id_,)).fetchone() if 0 < id_ <= _MAX_ID else None
        if row is None:
            raise StoreError(f"there is no game {id_} in {self.path}: lab2048 games list shows those there are")
        run, number, seed, n_moves, score, max_tile, moves_to_goal, seconds, checksum, moves = row
        home = self.run(run)
        try:
            text = _unpack(moves, n_moves)
            episode = Episode(home.rules, seed, home.player, text, score, max_tile, moves_to_goal, seconds)
            is_whole = episode.checksum == checksum
        except (zlib.error, ValueError, TypeError, OverflowError) as error:
            raise StoreError(f"game {id_} in {self.path} is damaged: {error}") from error
        if not is_whole:
            raise StoreError(f"game {id_} in {self.path} is damaged: its checksum is not {checksum}")
        return Kept(id_, home, number, episode)

    def list(
        self,
        *,
        rules: str | None = None,
        player: str | None = None,
        min_score: int | None = None,
        limit: int | None = None,
        offset: int = 0,
    ) -> Sequence[Entry]:
        """The games, newest first; `rules` is a board as `Board.to_text` writes it."""
        question = f"""
            SELECT episodes.id, created, kind, board, player, episodes.seed, score, max_tile, n_moves,
                   moves_to_goal, seconds
            {_CHOSEN} ORDER BY episodes.id DESC LIMIT :limit OFFSET :offset
        """
        chosen = {"board": rules, "player": player, "min_score": min_score}
        paging = {"limit": -1 if limit is None else min(limit, _MAX_ID), "offset": min(offset, _MAX_ID)}
        with explained(self.path):
            return [Entry(*row) for row in self._database.execute(question, chosen | paging)]

    def ids(
        self, *, rules: str | None = None, player: str | None = None, min_score: int | None = None
    ) -> Sequence[int]:
        """The ids of the games, oldest first."""
        chosen = {"board": rules, "player": player, "min_score": min_score}
        with explained(self.path):
            return [
                row[0] for row in self._database.execute(f"SELECT episodes.id {_CHOSEN} ORDER BY episodes.id", chosen)
            ]

    def check(self) -> None:
        """Read the whole file and raise StoreError if its structure is damaged; takes seconds on a large store."""
        with explained(self.path):
            found = self._database.execute("PRAGMA quick_check(1)").fetchone()[0]
        if found != "ok":
            raise StoreError(
                f"the store {self.path} is damaged ({' '.join(found.split())}): use a copy, or --store FILE"
            )

    def _insert_run(
        self, kind: str, rules: Rules, player: str, seed: int | None, created: str, origin: dict[str, Any]
    ) -> int:
        row = (kind, rules.board.to_text(), _text(rules.to_json()), player, seed, created, _text(origin))
        statement = (
            "INSERT INTO runs (kind, board, rules, player, seed, created, provenance) VALUES (?, ?, ?, ?, ?, ?, ?)"
        )
        return int(self._database.execute(statement, row).lastrowid or 0)

    def _import_run(self, episode: Episode, origin: dict[str, Any]) -> int:
        question = "SELECT id FROM runs WHERE kind = 'import' AND rules = ? AND player = ? AND provenance = ?"
        key = (_text(episode.rules.to_json()), episode.player, _text(origin))
        found = self._database.execute(question, key).fetchone()
        if found:
            return int(found[0])
        return self._insert_run("import", episode.rules, episode.player, None, provenance()["created"], origin)


def _text(data: dict[str, Any]) -> str:
    """The one text of a piece of data, so that equal data can be found by it."""
    return json.dumps(data, sort_keys=True, allow_nan=False)


def _row(run: int, number: int, episode: Episode, checksum: str) -> tuple[Any, ...]:
    e = episode
    facts = (e.seed, len(e.moves), e.score, e.max_tile, e.moves_to_goal, e.seconds)
    return (run, number, *facts, checksum, _pack(e.moves))


def _pack(moves: str) -> bytes:
    window, memory = (9, 1) if len(moves) < _SHORT else (15, 8)
    packer = zlib.compressobj(6, zlib.DEFLATED, window, memory)
    return packer.compress(moves.encode("ascii")) + packer.flush()


def _unpack(packed: bytes, n_moves: int) -> str:
    """The moves; never more than announced, whatever the bytes would unfold to."""
    unpacker = zlib.decompressobj()
    moves = unpacker.decompress(packed, max(n_moves, 0) + 1)
    if len(moves) != n_moves or not unpacker.eof:
        raise ValueError(f"expected {n_moves} moves, found {len(moves)}")
    return moves.decode("ascii")
