"""Keeping a match: every game goes into the store, and a match that was left is taken up again."""

import time
from collections.abc import Iterator

from lab2048.arena.batch import Played
from lab2048.arena.match import Match
from lab2048.records.store import Store

KEEP_SECONDS = 0.5


class Keeper:
    """Keeps the games of a match, a transaction every half second."""

    def __init__(self, store: Store, match: Match) -> None:
        """Nothing is written before the first game."""
        self._store = store
        self._match = match
        self._runs: dict[str, int] = {}
        self._fresh: list[Played] = []
        self._kept_at = time.monotonic()

    def resume(self) -> Iterator[tuple[str, int]]:
        """Count what the store already has of this match; hand out how many games of each player."""
        match = self._match
        for player, standing in match.standings.items():
            run = self._store.find_run(match.rules, player, match.seed)
            if run is not None:
                found = [game for game in self._store.summaries_of(run) if game.number < match.n_games]
                standing.games.update({game.number: game for game in found})
                self._runs[player] = run
                yield player, len(found)

    def keep(self, played: Played) -> None:
        """Keep finished games, at the latest half a second later."""
        self._fresh.append(played)
        if time.monotonic() - self._kept_at > KEEP_SECONDS:
            self.flush()

    def flush(self) -> None:
        """Write what is not written yet."""
        while self._fresh:
            player, episodes = self._fresh[0].player, self._fresh[0].episodes
            if player not in self._runs:
                self._runs[player] = self._store.begin_run("match", self._match.rules, player, self._match.seed)
            self._store.keep(self._runs[player], episodes)
            self._fresh.pop(0)
        self._kept_at = time.monotonic()
