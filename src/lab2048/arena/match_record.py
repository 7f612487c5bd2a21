"""Store the games of a match, and resume a match from the store."""

import threading
from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence

from lab2048.arena.batch import Played
from lab2048.arena.match import Match
from lab2048.arena.tile_sum import tile_sums
from lab2048.records.disk_space import check_free
from lab2048.records.episode import Episode
from lab2048.records.store import Store, Summary
from lab2048.rules.dice import episode_seed

KEEP_SECONDS = 0.2  # with the time of a batch, a game is stored within half a second after it ends


class MatchRecorder:
    """Stores the games of a match on a thread of its own, so that no game waits for the next one to end.

    Games that end in quick succession share a transaction.
    """

    def __init__(
        self,
        store: Store,
        match: Match,
        *,
        on_kept: Callable[[Played], None] = lambda _: None,
        on_failure: Callable[[], None] = lambda: None,
    ) -> None:
        """Write nothing before the first game.

        `on_kept` is called on the thread when games are durable.  When that or the store fails, `on_failure` is called,
        and `flush` raises the error.
        """
        self._store, self._match = store, match
        self._on_kept, self._on_failure = on_kept, on_failure
        self._runs: dict[str, int] = {}
        self._fresh: list[Played] = []
        self._changed = threading.Condition()
        self._has_thread = self._is_hurried = False
        self._error: BaseException | None = None

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

    def episodes(self, player: str) -> dict[int, Episode]:
        """Return the stored games of a player that count, by number."""
        run = self._runs.get(player)
        found = self._store.episodes_of(run) if run is not None else {}
        return {number: episode for number, episode in found.items() if number in self._match.results[player].games}

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
        """Store finished games soon."""
        with self._changed:
            self._fresh.append(played)
            if not self._has_thread and not self._error:
                self._has_thread = True
                threading.Thread(target=self._run, name="match-recorder", daemon=True).start()

    def flush(self) -> None:
        """Return when all games are stored; raise the error that prevents it."""
        with self._changed:
            self._is_hurried = True
            self._changed.notify_all()
            self._changed.wait_for(lambda: not self._has_thread)
            self._is_hurried = False
            if self._error:
                raise self._error

    def _run(self) -> None:
        """Store games until none has come for a while."""
        while True:
            with self._changed:
                fresh, self._fresh = self._fresh, []
                if not fresh:
                    self._has_thread = False
                    self._changed.notify_all()
                    return
            try:
                self._write(fresh)
                for played in fresh:
                    self._on_kept(played)
            except BaseException as error:
                with self._changed:
                    self._error, self._has_thread = error, False
                    self._changed.notify_all()
                self._on_failure()
                return
            with self._changed:
                self._changed.wait_for(lambda: self._is_hurried, KEEP_SECONDS)

    def _write(self, fresh: Sequence[Played]) -> None:
        check_free(self._store.path, then="make room, and resume the match")
        games: defaultdict[str, dict[int, Episode]] = defaultdict(dict)
        for played in fresh:
            games[played.player] |= played.episodes
        for player, episodes in games.items():
            if player not in self._runs:
                self._runs[player] = self._store.begin_run("match", self._match.rules, player, self._match.seed)
            self._store.keep(self._runs[player], episodes)
