"""The store: every game that was played, in one SQLite file.

A run is a group of games with the same rules that were played together; it says where
they come from.  An episode is one game of a run; it has a number in the run and an id
that never changes and is never given to another game.
"""

import sqlite3
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any, TypeVar

from lab2048.errors import GameChangedError, GameDeletedError, StoreError, StoreNotFoundError
from lab2048.records.entry import Entry, Run, StoredGame, Summary
from lab2048.records.episode import Episode
from lab2048.records.practice_table import PracticeTable
from lab2048.records.provenance import now
from lab2048.records.review_table import ReviewTable
from lab2048.records.run_table import RunTable
from lab2048.records.sql_row import (
    DAMAGES,
    FACTS,
    pack,
    read_entry,
    read_game,
    read_summary,
    write_facts,
)
from lab2048.rules import Rules

__all__ = ["Entry", "Run", "Store", "StoredGame", "Summary"]

_MAX_INTEGER = 2**63 - 1  # of SQLite

_FACTS = ", ".join(FACTS)
_NEXT_ID = "1 + max((SELECT coalesce(max(id), 0) FROM episodes), (SELECT highest FROM deleted_ids))"
_INSERT = f"""
    INSERT INTO episodes (id, run, number, created, {_FACTS}, moves)
    VALUES (coalesce(?, {_NEXT_ID}), ?, ?, ?{", ?" * len(FACTS)}, ?)
"""
# A game that is saved again keeps its id and the date of the first time, and is never replaced by a shorter one.
_KEEP = f"""
    {_INSERT} ON CONFLICT (run, number) DO UPDATE SET
        ({_FACTS}, moves) = ({", ".join(f"excluded.{name}" for name in (*FACTS, "moves"))})
    WHERE excluded.n_moves >= n_moves
"""
# The condition on the checksum makes sure that nobody has deleted, replaced or changed the game meanwhile.
_SAVE = f"""
    UPDATE episodes SET {", ".join(f"{name} = :{name}" for name in FACTS if name != "seed")}
    WHERE id = :id AND run = :run AND checksum = :before
"""
_APPENDED = """
    SELECT group_concat(moves, '')
    FROM (SELECT moves FROM appended_moves WHERE episode = episodes.id ORDER BY first)
"""
# Games without a run are included, because they are damaged.  Games in play without a move are left out.
_CHOSEN = """
    FROM episodes LEFT JOIN runs ON runs.id = episodes.run
    WHERE (:board IS NULL OR board = :board) AND (:player IS NULL OR episodes.player = :player)
      AND (:kind IS NULL OR kind = :kind) AND (:min_score IS NULL OR score >= :min_score)
      AND (n_moves > 0 OR kind IS NOT 'play')
"""
_SEARCHED = """
    lower(episodes.id || ' ' || episodes.created || ' ' || coalesce(board, '') || ' ' || episodes.player
          || ' ' || movers || ' ' || max_tile)
"""
_MAX_WORDS = 8
_PERSON_ALONE = "episodes.player = 'human' AND movers = '[]'"
_Read = TypeVar("_Read")


class Store(RunTable, ReviewTable, PracticeTable):
    """All saved games; use it in a `with` statement, or `close` it.

    Several threads may share a store; their calls are executed one after the other.

    >>> import tempfile
    >>> from pathlib import Path
    >>> with tempfile.TemporaryDirectory() as folder, Store.open(Path(folder) / "games.sqlite") as store:
    ...     run = store.begin_run("play", Rules.from_text("2x2"), "human", seed=1)
    ...     store.summaries_of(run)
    []
    """

    def keep(self, run: int, episodes: Mapping[int, Episode]) -> None:
        """Save games of a run by their numbers, all or none; a game replaces one with its number, but no longer one."""
        self._check_rules(run, episodes.values())
        created = now()
        rows = [(None, run, number, created, *_columns(episode)) for number, episode in episodes.items()]
        with self._change() as database:
            database.executemany(_KEEP, rows)

    def add(self, run: int, episode: Episode) -> StoredGame:
        """Save a new game of a run, with the next free number; `save` saves it again when it has changed.

        Call `sync` before you tell anybody that the game is saved.
        """
        self._check_rules(run, [episode])
        created = now()
        with self._change(is_durable=False) as database:
            number = self._next_number(run)
            id_ = self._insert(database, (None, run, number, created), episode)
        return StoredGame(id_, self.run(run), number, created, episode)

    def save(self, stored: StoredGame, episode: Episode) -> StoredGame:
        """Save a game again that is in the store as `stored`: append its new moves, cut off those taken back.

        Call `sync` before you tell anybody that the moves are saved.  Raises GameDeletedError if the game is no longer
        in the store, and GameChangedError if another program has changed it.
        """
        if episode == stored.episode:
            return stored
        self._check_rules(stored.run.id, [episode])
        facts = dict(zip(FACTS, write_facts(episode), strict=True))
        key = {"id": stored.id, "run": stored.run.id, "before": stored.episode.checksum}
        with self._change(is_durable=False) as database:
            if not database.execute(_SAVE, facts | key).rowcount:
                raise self._lost(stored)
            n_same = _common_length(stored.episode.moves, episode.moves)
            if n_same < len(stored.episode.moves):
                self._cut(stored.id, episode.moves[:n_same], len(stored.episode.moves))
            if n_same < len(episode.moves):
                row = (stored.id, n_same + 1, episode.moves[n_same:])
                database.execute("INSERT INTO appended_moves (episode, first, moves) VALUES (?, ?, ?)", row)
            if episode.spawns != stored.episode.spawns:
                self._write_spawns(database, stored.id, episode.spawns)
        return replace(stored, episode=episode)

    def compact(self, stored: StoredGame) -> None:
        """Compress the appended moves of a game together with its first ones, unless it has been changed."""
        row = (pack(stored.episode.moves), stored.id, stored.run.id, stored.episode.checksum)
        with self._change(is_durable=False) as database:
            database.execute("UPDATE episodes SET moves = ? WHERE id = ? AND run = ? AND checksum = ?", row)

    def _cut(self, id_: int, moves: str, n_before: int) -> None:
        """Cut a game of `n_before` moves down to its first ones, `moves`."""
        database, n = self._database, len(moves)
        (first,) = database.execute("SELECT min(first) FROM appended_moves WHERE episode = ?", (id_,)).fetchone()
        n_packed = n_before if first is None else first - 1
        if n < n_packed:  # replacing the packed moves deletes the appended ones
            database.execute("UPDATE episodes SET moves = ? WHERE id = ?", (pack(moves), id_))
            return
        database.execute("DELETE FROM appended_moves WHERE episode = ? AND first > ?", (id_, n))
        statement = """
            UPDATE appended_moves SET moves = substr(moves, 1, :n + 1 - first)
            WHERE episode = :id AND first = (SELECT max(first) FROM appended_moves WHERE episode = :id)
        """
        database.execute(statement, {"id": id_, "n": n})

    def _lost(self, stored: StoredGame) -> StoreError:
        question = "SELECT 1 FROM episodes WHERE id = ? AND run = ?"
        if self._database.execute(question, (stored.id, stored.run.id)).fetchone():
            return GameChangedError(f"game {stored.id} in {self.path} was changed by another program")
        return GameDeletedError(f"game {stored.id} was deleted from {self.path}")

    def adopt(self, games: Iterable[tuple[Episode, dict[str, Any]]]) -> int:
        """Import games, each with its provenance, all or none; return how many were new.

        Games with the same provenance become one run.
        """
        n_new = 0
        created = now()
        with self._change() as database:
            for episode, origin in games:
                if self.find(episode.seed, episode.checksum) is None:
                    run = self._import_run(episode, origin, created)
                    self._insert(database, (None, run, self._next_number(run), created), episode)
                    n_new += 1
        return n_new

    def has(self, id_: int) -> bool:
        """Return whether there is a game with this id."""
        return self.revision(id_) is not None

    def revision(self, id_: int) -> str | None:
        """Return the checksum of a game, which tells whether it has changed; None if there is no such game."""
        with self._read() as database:
            question = "SELECT checksum FROM episodes WHERE id = ?"
            row = database.execute(question, (id_,)).fetchone() if 0 < id_ <= _MAX_INTEGER else None
        return None if row is None else str(row[0])

    def find(self, seed: int, checksum: str) -> int | None:
        """Return the id of the newest game with this seed and checksum, or None."""
        question = "SELECT max(id) FROM episodes WHERE seed = ? AND checksum = ?"
        with self._read() as database:
            row = database.execute(question, (seed, checksum)).fetchone()
        return None if row[0] is None else int(row[0])

    def remove(self, id_: int) -> StoredGame:
        """Delete a game and return it; `put_back` restores it."""
        with self._change(is_durable=False) as database:
            stored = self.get(id_)
            database.execute("DELETE FROM episodes WHERE id = ?", (id_,))
        self._sync_or_undo(lambda: self._put_back(stored))
        return stored

    def put_back(self, stored: StoredGame) -> int:
        """Restore a game that was removed; return its id, which is the old one unless that is taken."""
        id_ = self._put_back(stored)
        self._sync_or_undo(lambda: self._delete(id_))
        return id_

    def _put_back(self, stored: StoredGame) -> int:
        with self._change(is_durable=False) as database:
            id_taken, number_taken = database.execute(
                "SELECT max(id = :id), max(run = :run AND number = :number) FROM episodes WHERE id = :id OR run = :run",
                {"id": stored.id, "run": stored.run.id, "number": stored.number},
            ).fetchone()
            number = self._next_number(stored.run.id) if number_taken else stored.number
            place = (None if id_taken else stored.id, stored.run.id, number, stored.created)
            return self._insert(database, place, stored.episode)

    def _delete(self, id_: int) -> None:
        with self._change(is_durable=False) as database:
            database.execute("DELETE FROM episodes WHERE id = ?", (id_,))

    def _sync_or_undo(self, undo: Callable[[], object]) -> None:
        """Make the last change durable; if that fails, undo it and raise, so that a refused change changes nothing."""
        try:
            self.sync()
        except StoreError:
            try:
                undo()
            except StoreError:
                return  # what cannot be undone is done
            raise

    def forget_unbegun(self, before: str) -> int:
        """Delete games without a move that were created before a time (ISO, UTC); return how many."""
        statement = """
            DELETE FROM episodes WHERE n_moves = 0 AND created < ? AND run IN (SELECT id FROM runs WHERE kind = 'play')
        """
        with self._change(is_durable=False) as database:
            return database.execute(statement, (before,)).rowcount

    def best_scores(self, rules: Rules) -> tuple[int, int]:
        """Return the best scores in played games with these rules: of a person alone, and of anyone."""
        question = f"""
            SELECT coalesce(max(score) FILTER (WHERE {_PERSON_ALONE}), 0), coalesce(max(score), 0)
            FROM episodes JOIN runs ON runs.id = episodes.run WHERE kind = 'play' AND rules = ?
        """
        with self._read() as database:
            alone, anyone = database.execute(question, (rules.json_text,)).fetchone()
        return int(alone), int(anyone)

    def summaries_of(self, run: int) -> list[Summary]:
        """Return the games of a run in the order of their numbers, without their moves."""
        columns = ", ".join(Summary._fields)
        question = f"SELECT id, {columns} FROM episodes WHERE run = ? ORDER BY number"
        with self._read() as database:
            rows = database.execute(question, (run,)).fetchall()
        return self._read_each(read_summary, rows)

    def episodes_of(self, run: int) -> dict[int, Episode]:
        """Return the games of a run by their numbers, with their moves."""
        with self._read() as database:
            ids = database.execute("SELECT id FROM episodes WHERE run = ? ORDER BY number", (run,)).fetchall()
        return {stored.number: stored.episode for stored in (self.get(id_) for (id_,) in ids)}

    def get(self, id_: int) -> StoredGame:
        """Return the game with this id; raise StoreError if it is missing or damaged."""
        question = f"""
            SELECT run, number, created, {_FACTS}, moves, ({_APPENDED}),
                   (SELECT spawns FROM given_spawns WHERE episode = episodes.id)
            FROM episodes WHERE id = ?
        """
        with self._read() as database:
            row = database.execute(question, (id_,)).fetchone() if 0 < id_ <= _MAX_INTEGER else None
        if row is None:
            raise StoreNotFoundError(f"there is no game {id_} in {self.path}", code="game.not_found", field="game")
        try:
            return read_game(id_, self.run(row[0]), row[1:])
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
        search: str = "",
        limit: int | None = None,
        offset: int = 0,
        on_damage: Callable[[StoreError], None] | None = None,
    ) -> list[Entry]:
        """Return the games, newest first, or with `best` those with the highest scores first.

        `board` is a text of `Board.to_text`, `player` is who made the first move; `alone` selects games in which a
        person made every move; `search` those whose id, date, board, players or highest tile have each of its words.
        A damaged game raises StoreError, or is passed to `on_damage` and left out.
        """
        words = {f"word{i}": word for i, word in enumerate(search.lower().split()[:_MAX_WORDS])}
        searched = "".join(f" AND instr({_SEARCHED}, :{name})" for name in words)
        question = f"""
            SELECT episodes.id, episodes.id, episodes.created, kind, board, episodes.player, episodes.seed, score,
                   max_tile, n_moves, moves_to_goal, seconds, movers
            {_CHOSEN} {f"AND {_PERSON_ALONE}" if alone else ""}{searched}
            ORDER BY {"score DESC, " if best else ""}episodes.id DESC LIMIT :limit OFFSET :offset
        """
        chosen = {"board": board, "player": player, "kind": kind, "min_score": _bounded(min_score)}
        paging = {"limit": -1 if limit is None else _bounded(limit), "offset": _bounded(offset)}
        with self._read() as database:
            rows = database.execute(question, chosen | paging | words).fetchall()
        return self._read_each(read_entry, rows, on_damage)

    def ids(self, *, board: str | None = None, player: str | None = None) -> list[int]:
        """Return the ids of the games, oldest first."""
        chosen = {"board": board, "player": player, "kind": None, "min_score": None}
        with self._read() as database:
            return [row[0] for row in database.execute(f"SELECT episodes.id {_CHOSEN} ORDER BY episodes.id", chosen)]

    def _damage(self, id_: int, error: Exception) -> StoreError:
        return StoreError(f"game {id_} in {self.path} is damaged: {error}", code="game.damaged")

    def _read_each(
        self,
        read: Callable[[Sequence[Any]], _Read],
        rows: Iterable[Sequence[Any]],
        on_damage: Callable[[StoreError], None] | None = None,
    ) -> list[_Read]:
        """Read rows whose first column is the id of the game."""
        found = []
        for id_, *row in rows:
            try:
                found.append(read(row))
            except DAMAGES as error:
                if on_damage is None:
                    raise self._damage(id_, error) from error
                on_damage(self._damage(id_, error))
        return found

    def _insert(self, database: sqlite3.Connection, place: tuple[Any, ...], episode: Episode) -> int:
        id_ = int(database.execute(_INSERT, (*place, *_columns(episode))).lastrowid or 0)
        if episode.spawns:
            self._write_spawns(database, id_, episode.spawns)
        return id_

    def _write_spawns(self, database: sqlite3.Connection, id_: int, spawns: str) -> None:
        database.execute("DELETE FROM given_spawns WHERE episode = ?", (id_,))
        if spawns:
            database.execute("INSERT INTO given_spawns (episode, spawns) VALUES (?, ?)", (id_, pack(spawns)))

    def _check_rules(self, run: int, episodes: Iterable[Episode]) -> None:
        rules = self.run(run).rules
        for episode in episodes:
            if episode.rules is not rules and episode.rules != rules:
                raise ValueError(f"run {run} has other rules than a game of {episode.player}")

    def _next_number(self, run: int) -> int:
        question = "SELECT coalesce(max(number) + 1, 0) FROM episodes WHERE run = ?"
        return int(self._database.execute(question, (run,)).fetchone()[0])


def _columns(episode: Episode) -> tuple[Any, ...]:
    """Return the columns FACTS and moves of a game."""
    return (*write_facts(episode), pack(episode.moves))


def _common_length(one: str, other: str) -> int:
    """Return the length of the common beginning of two texts."""
    if one.startswith(other) or other.startswith(one):  # quick, and nearly always so
        return min(len(one), len(other))
    return next(n for n, (a, b) in enumerate(zip(one, other, strict=False)) if a != b)


def _bounded(number: int | None) -> int | None:
    """Return the number, or the nearest one that SQLite can store."""
    return None if number is None else max(-_MAX_INTEGER, min(number, _MAX_INTEGER))
