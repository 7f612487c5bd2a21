"""Runs in the store: groups of games with the same rules that were played together."""

import json
from pathlib import Path
from typing import Any

from lab2048.errors import StoreError, StoreNotFoundError
from lab2048.records.database import BUSY_SECONDS, Database
from lab2048.records.entry import Run
from lab2048.records.episode import Episode
from lab2048.records.provenance import program, provenance
from lab2048.records.sql_row import DAMAGES, RUN, read_run
from lab2048.records.store_file import StoreFile
from lab2048.rules import Rules


class RunTable(StoreFile):
    """The table `runs` of a store."""

    def __init__(self, path: Path, database: Database, timeout: float = BUSY_SECONDS) -> None:
        """Wrap an open database; users call `open`."""
        super().__init__(path, database, timeout)
        self._runs: dict[int, Run] = {}  # read once: runs never change

    def begin_run(self, kind: str, rules: Rules, player: str, seed: int) -> int:
        """Start a run and return its number, for `keep` and `add`."""
        origin = provenance()
        with self._change(is_durable=False):  # its first game is more important
            run = self._insert_run(kind, rules, player, seed, origin["created"], origin)
        self._runs[run] = Run(run, kind, rules, player, seed, origin["created"], origin)
        return run

    def find_run(self, rules: Rules, player: str, seed: int) -> int | None:
        """Return the newest match of this player with these rules and this seed, to resume it.

        Only matches of this version of the program count, so that a run never mixes games of two versions.
        """
        question = """
            SELECT max(id) FROM runs
            WHERE kind = 'match' AND rules = ? AND player = ? AND seed = ?
              AND CASE WHEN json_valid(provenance) THEN json_extract(provenance, '$.program') END = ?
        """
        with self._read() as database:
            run: int | None = database.execute(question, (rules.json_text, player, seed, program())).fetchone()[0]
        return run

    def run(self, run: int) -> Run:
        if run not in self._runs:
            question = f"SELECT {', '.join(RUN)} FROM runs WHERE id = ?"
            with self._read() as database:
                row = database.execute(question, (run,)).fetchone()
            if row is None:
                raise StoreNotFoundError(f"there is no run {run!r} in {self.path}")
            try:
                self._runs[run] = read_run(run, row)
            except DAMAGES as error:
                raise StoreError(f"run {run} in {self.path} is damaged: {error}") from error
        return self._runs[run]

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
    """Return the same text for equal data, so that it can be searched for."""
    return json.dumps(data, sort_keys=True, allow_nan=False)
