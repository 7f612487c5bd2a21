"""The store: every game that was played, in one SQLite file.

A run is games on one set of rules that were played together; it says where they come
from.  An episode is one game of a run, known by its number there and by an id of
its own that never changes.
"""

import json
import sqlite3
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, TypeVar

from lab2048.errors import StoreError, StoreNotFoundError
from lab2048.records.entry import Entry, Kept, Run, Summary
from lab2048.records.episode import Episode
from lab2048.records.provenance import now, program, provenance
from lab2048.records.sql_row import DAMAGES, FACTS, RUN, read_entry, read_kept, read_run, read_summary, write_facts
from lab2048.records.store_file import StoreFile
from lab2048.rules import Rules

__all__ = ["Entry", "Kept", "Run", "Store", "Summary"]

_MAX_INTEGER = 2**63 - 1  # of SQLite

# A game that is kept again keeps its id and the date of the first time.
_FACTS = ", ".join(FACTS)
_KEEP = f"""
    INSERT INTO episodes (run, number, created, {_FACTS})
    VALUES (?, ?, ?{", ?" * len(FACTS)})
    ON CONFLICT (run, number) DO UPDATE SET
        ({_FACTS}) = ({", ".join(f"excluded.{name}" for name in FACTS)})
"""
# A game whose run is lost is chosen too: it is damaged, not gone.  One that nobody has begun to play is no game yet.
_CHOSEN = """
    FROM episodes LEFT JOIN runs ON runs.id = episodes.run
    WHERE (:board IS NULL OR board = :board) AND (:player IS NULL OR episodes.player = :player)
      AND (:kind IS NULL OR kind = :kind) AND (:min_score IS NULL OR score >= :min_score)
      AND (n_moves > 0 OR kind IS NOT 'play')
"""
_PERSON_ALONE = "episodes.player = 'human' AND movers = '[]'"
_Read = TypeVar("_Read")


class Store(StoreFile):
    """All games that were kept; use it in a `with` statement, or `close` it.

    Several threads may use one store: what one does is done before the next begins.

    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder, Store.open(Path(folder) / "games.sqlite") as store:
    ...     run = store.begin_run("play", Rules.from_text("2x2"), "human", seed=1)
    ...     store.summaries_of(run)
    []
    """

    def __init__(self, path: Path, database: sqlite3.Connection) -> None:
        """Wrap an open database; users call `open`."""
        super().__init__(path, database)
        self._runs: dict[int, Run] = {}  # runs never change, so what was read once stays true

    def begin_run(self, kind: str, rules: Rules, player: str, seed: int) -> int:
        """Note that a player begins; return the number of the run, for `keep`."""
        origin = provenance()
        with self._change():
            run = self._insert_run(kind, rules, player, seed, origin["created"], origin)
        self._runs[run] = Run(run, kind, rules, player, seed, origin["created"], origin)
        return run

    def find_run(self, rules: Rules, player: str, seed: int) -> int | None:
        """The newest match of this player with these rules and this seed: the one to go on with.

        Only one that this version of the program made: a run does not mix the games of two.
        """
        question = """
            SELECT max(id) FROM runs
            WHERE kind = 'match' AND rules = ? AND player = ? AND seed = ?
              AND CASE WHEN json_valid(provenance) THEN json_extract(provenance, '$.program') END = ?
        """
        with self._access() as database:
            run: int | None = database.execute(question, (rules.json_text, player, seed, program())).fetchone()[0]
        return run

    def keep(self, run: int, episodes: Mapping[int, Episode]) -> None:
        """Keep games of a run by their numbers, all of them or none; a game with a known number replaces that one.

        All have the rules of the run; each has players of its own.
        """
        home = self.run(run)
        for episode in episodes.values():
            if episode.rules is not home.rules and episode.rules != home.rules:
                raise ValueError(f"run {run} has other rules than a game of {episode.player}")
        created = now()
        rows = [(run, number, created, *write_facts(episode, episode.checksum)) for number, episode in episodes.items()]
        with self._change() as database:
            database.executemany(_KEEP, rows)

    def adopt(self, games: Iterable[tuple[Episode, dict[str, Any]]]) -> int:
        """Keep games from elsewhere, each with its provenance, all or none; return how many were not yet there.

        Games of one origin become games of one run.
        """
        n_new = 0
        created = now()
        with self._change() as database:
            for episode, origin in games:
                checksum = episode.checksum
                if database.execute("SELECT 1 FROM episodes WHERE checksum = ?", (checksum,)).fetchone():
                    continue
                run = self._import_run(episode, origin, created)
                question = "SELECT coalesce(max(number) + 1, 0) FROM episodes WHERE run = ?"
                number = database.execute(question, (run,)).fetchone()[0]
                database.execute(_KEEP, (run, number, created, *write_facts(episode, checksum)))
                n_new += 1
        return n_new

    def id_of(self, run: int, number: int) -> int:
        """The id of a game of a run."""
        with self._access() as database:
            row = database.execute("SELECT id FROM episodes WHERE run = ? AND number = ?", (run, number)).fetchone()
        if row is None:
            raise StoreNotFoundError(f"there is no game {number} of run {run} in {self.path}")
        return int(row[0])

    def has(self, id_: int) -> bool:
        """True if there is a game with this id."""
        with self._access() as database:
            question = "SELECT 1 FROM episodes WHERE id = ?"
            return 0 < id_ <= _MAX_INTEGER and database.execute(question, (id_,)).fetchone() is not None

    def find(self, checksum: str) -> int | None:
        """The id of the game with this checksum, if it is kept."""
        with self._access() as database:
            row = database.execute("SELECT max(id) FROM episodes WHERE checksum = ?", (checksum,)).fetchone()
        return None if row[0] is None else int(row[0])

    def remove(self, id_: int) -> Kept:
        """Take a game out of the store; what is returned brings it back with `put_back`."""
        with self._lock:
            kept = self.get(id_)
            with self._change() as database:
                database.execute("DELETE FROM episodes WHERE id = ?", (id_,))
        return kept

    def put_back(self, kept: Kept) -> int:
        """Keep a game again that was removed; return its id, the old one unless that is taken."""
        with self._change() as database:
            taken = database.execute("SELECT 1 FROM episodes WHERE id = ?", (kept.id,)).fetchone()
            question = "SELECT coalesce(max(number) + 1, 0) FROM episodes WHERE run = ?"
            numbers = database.execute(
                "SELECT 1 FROM episodes WHERE run = ? AND number = ?", (kept.run.id, kept.number)
            ).fetchone()
            number = database.execute(question, (kept.run.id,)).fetchone()[0] if numbers else kept.number
            statement = f"""
                INSERT INTO episodes (id, run, number, created, {_FACTS}) VALUES (?, ?, ?, ?{", ?" * len(FACTS)})
            """
            facts = write_facts(kept.episode, kept.episode.checksum)
            row = (None if taken else kept.id, kept.run.id, number, kept.created, *facts)
            return int(database.execute(statement, row).lastrowid or 0)

    def forget_unbegun(self, before: str) -> int:
        """Remove games that nobody made a move in, created before a time (ISO, UTC); return how many."""
        statement = """
            DELETE FROM episodes WHERE n_moves = 0 AND created < ? AND run IN (SELECT id FROM runs WHERE kind = 'play')
        """
        with self._change() as database:
            return database.execute(statement, (before,)).rowcount

    def best_scores(self, rules: Rules) -> tuple[int, int]:
        """The highest score of a person alone in a game of these rules, and of anyone in a sitting."""
        question = f"""
            SELECT coalesce(max(score) FILTER (WHERE {_PERSON_ALONE}), 0), coalesce(max(score), 0)
            FROM episodes JOIN runs ON runs.id = episodes.run WHERE kind = 'play' AND rules = ?
        """
        with self._access() as database:
            alone, anyone = database.execute(question, (rules.json_text,)).fetchone()
        return int(alone), int(anyone)

    def run(self, run: int) -> Run:
        """What is known of a run."""
        if run not in self._runs:
            question = f"SELECT {', '.join(RUN)} FROM runs WHERE id = ?"
            with self._access() as database:
                row = database.execute(question, (run,)).fetchone()
            if row is None:
                raise StoreNotFoundError(f"there is no run {run!r} in {self.path}")
            try:
                self._runs[run] = read_run(run, row)
            except DAMAGES as error:
                raise StoreError(f"run {run} in {self.path} is damaged: {error}") from error
        return self._runs[run]

    def summaries_of(self, run: int) -> list[Summary]:
        """The games of a run in the order of their numbers, without their moves."""
        columns = ", ".join(Summary._fields)
        question = f"SELECT id, {columns} FROM episodes WHERE run = ? ORDER BY number"
        with self._access() as database:
            rows = database.execute(question, (run,)).fetchall()
        return self._read_each(read_summary, rows)

    def episodes_of(self, run: int) -> dict[int, Episode]:
        """The games of a run by their numbers, moves and all."""
        with self._access() as database:
            ids = database.execute("SELECT id FROM episodes WHERE run = ? ORDER BY number", (run,)).fetchall()
        return {kept.number: kept.episode for kept in (self.get(id_) for (id_,) in ids)}

    def get(self, id_: int) -> Kept:
        """The game with this id; a damaged one is refused."""
        question = f"SELECT run, number, created, {_FACTS} FROM episodes WHERE id = ?"
        with self._access() as database:
            row = database.execute(question, (id_,)).fetchone() if 0 < id_ <= _MAX_INTEGER else None
        if row is None:
            raise StoreNotFoundError(f"there is no game {id_} in {self.path}", code="game.not_found", field="game")
        try:
            return read_kept(id_, self.run(row[0]), row[1:])
        except DAMAGES as error:
            raise self._damage(id_, error) from error

    def entries(
        self,
        *,
        board: str | None = None,
        player: str | None = None,
        kind: str | None = None,
        alone: bool = False,
        min_score: int | None = None,
        best: bool = False,
        limit: int | None = None,
        offset: int = 0,
        on_damage: Callable[[StoreError], None] | None = None,
    ) -> list[Entry]:
        """The games, newest first, or those with the highest scores.

        `board` is one as `Board.to_text` writes it, `player` is who began; `alone` leaves only games whose
        every move was a person's.  A damaged game is an error; or `on_damage` is told of it, and the list goes
        on without it.
        """
        question = f"""
            SELECT episodes.id, episodes.id, episodes.created, kind, board, episodes.player, episodes.seed, score,
                   max_tile, n_moves, moves_to_goal, seconds, movers
            {_CHOSEN} {f"AND {_PERSON_ALONE}" if alone else ""}
            ORDER BY {"score DESC, " if best else ""}episodes.id DESC LIMIT :limit OFFSET :offset
        """
        chosen = {"board": board, "player": player, "kind": kind, "min_score": _bounded(min_score)}
        paging = {"limit": -1 if limit is None else _bounded(limit), "offset": _bounded(offset)}
        with self._access() as database:
            rows = database.execute(question, chosen | paging).fetchall()
        return self._read_each(read_entry, rows, on_damage)

    def ids(self, *, board: str | None = None, player: str | None = None) -> list[int]:
        """The ids of the games, oldest first."""
        chosen = {"board": board, "player": player, "kind": None, "min_score": None}
        with self._access() as database:
            return [row[0] for row in database.execute(f"SELECT episodes.id {_CHOSEN} ORDER BY episodes.id", chosen)]

    def _damage(self, id_: int, error: Exception) -> StoreError:
        return StoreError(f"game {id_} in {self.path} is damaged: {error}", code="game.damaged")

    def _read_each(
        self,
        read: Callable[[Sequence[Any]], _Read],
        rows: Iterable[Sequence[Any]],
        on_damage: Callable[[StoreError], None] | None = None,
    ) -> list[_Read]:
        """Read rows that begin with the id of a game."""
        found = []
        for id_, *row in rows:
            try:
                found.append(read(row))
            except DAMAGES as error:
                if on_damage is None:
                    raise self._damage(id_, error) from error
                on_damage(self._damage(id_, error))
        return found

    def _insert_run(
        self, kind: str, rules: Rules, player: str, seed: int | None, created: str, origin: dict[str, Any]
    ) -> int:
        row = (kind, rules.board.to_text(), rules.json_text, player, seed, created, _text(origin))
        statement = (
            "INSERT INTO runs (kind, board, rules, player, seed, created, provenance) VALUES (?, ?, ?, ?, ?, ?, ?)"
        )
        return int(self._database.execute(statement, row).lastrowid or 0)

    def _import_run(self, episode: Episode, origin: dict[str, Any], created: str) -> int:
        question = "SELECT id FROM runs WHERE kind = 'import' AND rules = ? AND player = ? AND provenance = ?"
        key = (episode.rules.json_text, episode.player, _text(origin))
        found = self._database.execute(question, key).fetchone()
        if found:
            return int(found[0])
        return self._insert_run("import", episode.rules, episode.player, None, created, origin)


def _text(data: dict[str, Any]) -> str:
    """The one text of a piece of data, so that equal data can be found by it."""
    return json.dumps(data, sort_keys=True, allow_nan=False)


def _bounded(number: int | None) -> int | None:
    """The number, or the nearest one that SQLite knows: nothing that is kept lies beyond."""
    return None if number is None else max(-_MAX_INTEGER, min(number, _MAX_INTEGER))
