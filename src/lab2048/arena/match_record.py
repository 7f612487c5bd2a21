"""Store the games of a match, and resume a match from the store."""

import time
from collections.abc import Iterator, Sequence

from lab2048.arena.batch import Played
from lab2048.arena.match import Match
from lab2048.arena.tile_sum import tile_sums
from lab2048.records.store import Store, Summary
from lab2048.rules.dice import episode_seed

KEEP_SECONDS = 0.5


class MatchRecorder:
    """Store the games of a match, in one transaction every half second."""

    def __init__(self, store: Store, match: Match) -> None:
        """Write nothing before the first game."""
        self._store = store
        self._match = match
        self._runs: dict[str, int] = {}
        self._fresh: list[Played] = []
        self._kept_at = time.monotonic()

    def resume(self) -> Iterator[tuple[str, int]]:
        """Load the stored games of this match; yield the number of games per player."""
        match = self._match
        for player, player_result in match.results.items():
            run = self._store.find_run(match.rules, player, match.seed)
            if run is not None:
                found = [game for game in self._store.summaries_of(run) if game.number < match.n_games]
                player_result.games.update({game.number: game for game in found})
                player_result.tile_sums.update(self._tile_sums(run, found))
                self._runs[player] = run
                yield player, len(found)

    def _tile_sums(self, run: int, games: Sequence[Summary]) -> dict[int, int]:
        """Return the tile sums of stored games, by their dice if possible, else by replaying them."""
        match, numbers = self._match, [game.number for game in games]
        seeds = [episode_seed(match.seed, number) for number in numbers]
        sums = tile_sums(match.rules, seeds, [game.n_moves for game in games])
        if sums is None:
            episodes = self._store.episodes_of(run)
            sums = [sum(episodes[number].prove().board.tiles) for number in numbers]
        return dict(zip(numbers, sums, strict=True))

    def keep(self, played: Played) -> None:
        """Queue finished games; they are written within half a second."""
        self._fresh.append(played)
        if time.monotonic() - self._kept_at > KEEP_SECONDS:
            self.flush()

    def flush(self) -> None:
        while self._fresh:
            player, episodes = self._fresh[0].player, self._fresh[0].episodes
            if player not in self._runs:
                self._runs[player] = self._store.begin_run("match", self._match.rules, player, self._match.seed)
            self._store.keep(self._runs[player], episodes)
            self._fresh.pop(0)
        self._kept_at = time.monotonic()
