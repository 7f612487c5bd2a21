"""Matches: several players on the same seeds."""

import contextlib
from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Any, Self

from lab2048.arena.batch import Played
from lab2048.arena.compile import groups_of
from lab2048.arena.executor.choice import executor_for
from lab2048.arena.executor.executor import Executor
from lab2048.arena.match import Match, PlayerResult
from lab2048.arena.match_record import MatchRecorder
from lab2048.arena.review.reviewer import Reviewer, groups_of_reviewer, make_reviewer, quick_reviewer
from lab2048.arena.review.totals import total_up
from lab2048.arena.statistics import Interval, mean_interval
from lab2048.errors import UnknownNameError, UsageError
from lab2048.library.arguments import PlayerLike, RulesLike, read_rules, read_spec, read_specs, read_whole
from lab2048.library.interrupt import interruptible, stopping
from lab2048.library.progress import make_ready, progress_line, working
from lab2048.library.shown import Shown
from lab2048.library.unsaved import with_names
from lab2048.players import fit_player
from lab2048.records.episode import Episode
from lab2048.records.store import Store
from lab2048.rules.dice import check_seed, episode_seed
from lab2048.views.number import count

if TYPE_CHECKING:
    import pandas
    import plotly.graph_objects

# Called with finished games: the player, the numbers of the games, and the CPU seconds that they took.
OnGames = Callable[[str, Iterable[int], float], None]


@interruptible()
def match(
    players: "PlayerLike | Sequence[PlayerLike]",
    *,
    rules: RulesLike = "4x4",
    games: int = 100,
    seed: int = 1,
    workers: int = 0,
    cluster: str | None = None,
    goal: int | None = None,
    spawn: str | None = None,
    start: int | None = None,
    spawner: str | None = None,
    stop_at_goal: bool = False,
    store: "bool | str | Path" = False,
    resume: bool = False,
    luck: bool = False,
    progress: bool | None = None,
) -> "MatchResult":
    """Let players play the same seeds, and compare them.

    With `stop_at_goal` games end when the goal is reached.  `workers` is the number of parallel games (0 = one per
    core); it does not change the results, and neither does `cluster`: a Ray cluster that plays ("auto", "local" or an
    address).  With `store` (True for your own store, or the path of a file) every game is saved, and `resume` continues
    from the saved games.  With `luck` the result also has the mean score without luck, whose interval is smaller.
    Ctrl-C stops the match and returns the finished games.

    >>> import lab2048 as lab
    >>> result = lab.match(["greedy", "random"], rules="3x3", games=50, seed=1)
    >>> result.mean("greedy") > result.mean("random")
    True
    >>> result.to_dict()["players"][1]["games"]
    50
    """
    the_rules = read_rules(rules, goal, spawn, start, spawner, stop_at_goal)
    games, seed, workers = read_whole("games", games, 1), read_whole("seed", seed), read_whole("workers", workers, 0)
    the_match = Match(the_rules, read_specs(players), check_seed(seed), games)
    n_all = games * len(the_match.players)
    with (
        MatchRunner(the_match, workers, store, cluster=cluster, resume=resume, luck=luck, progress=progress) as runner,
        progress_line(progress) as show,
    ):
        return runner.play(lambda: show(f"{runner.n_over:,} of {count(n_all, 'game')}", runner.n_over / n_all))


class MatchRunner:
    """Plays a match, with what the command line and `match` need: a store, callbacks and Ctrl-C.

    Entering it loads saved games and compiles; `play` plays the games that are missing.
    """

    def __init__(
        self,
        match: Match,
        workers: int = 0,
        store: "bool | str | Path" = False,
        *,
        cluster: str | None = None,
        resume: bool = False,
        on_found: Callable[[str, int], None] = lambda *_: None,
        on_games: OnGames = lambda *_: None,
        on_stop: Callable[[], None] = lambda: None,
        luck: bool = False,
        progress: bool | None = None,
    ) -> None:
        """Check that every player can play by the rules; nothing is compiled yet.

        `on_found` is called with the number of saved games of each player, `on_games` with finished games once they are
        saved, and `on_stop` after Ctrl-C.
        """
        if resume and store is False:
            raise UsageError("resume needs a store: expected store=True", field="resume")
        for spec in match.players:
            fit_player(spec, match.rules)
        self.match, self._store, self._is_resumed = match, store, resume
        self._workers, self._cluster = workers, cluster
        self._on_found, self._on_games, self._on_stop, self._progress = on_found, on_games, on_stop, progress
        self._has_luck = luck
        self._reviewer: Reviewer | None = None
        self._recorder: MatchRecorder | None = None
        self._pool: Executor | None = None
        self._show: Callable[[], None] = lambda: None
        self._stack = contextlib.ExitStack()

    def __enter__(self) -> Self:
        with contextlib.ExitStack() as stack:
            if self._store is not False:
                path = None if self._store is True else Path(self._store)
                store = stack.enter_context(Store.open(path))
                self._recorder = MatchRecorder(store, self.match, on_kept=self._tell, on_failure=self._stop)
            for player, n_found in self._recorder.resume() if self._recorder and self._is_resumed else ():
                self._on_found(player, n_found)
                self._on_games(player, self.match.results[player].games, 0.0)
            self._pool = stack.enter_context(executor_for(self._cluster, self._workers, "match"))
            groups = groups_of(self.match.players, self.match.rules, games=True)
            make_ready(*groups, progress=self._progress)
            if self._has_luck:
                spec = quick_reviewer(self.match.rules)
                make_ready(*groups_of_reviewer(spec, self.match.rules), progress=self._progress)
                self._reviewer = make_reviewer(spec, self.match.rules)
            with working("preparing the nodes of the cluster", self._progress):
                self._pool.make_ready(self.match.players, groups)
            self._stack = stack.pop_all()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._stack.close()

    @property
    def n_over(self) -> int:
        """Return the number of games that are over."""
        return sum(len(result.games) for result in self.match.results.values())

    def play(self, show: Callable[[], None] = lambda: None) -> "MatchResult":
        """Play the games that are missing; Ctrl-C ends it.

        `show` is called when games are over, and saved if they are to be saved; on another thread then.
        """
        self._show = show
        take = self._recorder.keep if self._recorder else self._tell

        pool = self._pool
        assert pool is not None  # entered

        def stop() -> None:
            pool.stop()
            self._on_stop()

        with stopping(stop):
            try:
                self._measure_luck_of_saved_games(pool)
                for played in self.match.play(pool, is_counted=False):
                    take(played)
            except KeyboardInterrupt:
                pool.stop()
            finally:
                if self._recorder:
                    self._recorder.flush()
            return MatchResult(self.match, is_interrupted=pool.is_stopped)

    def _stop(self) -> None:
        if self._pool is not None:
            self._pool.stop()

    def _measure_luck_of_saved_games(self, pool: Executor) -> None:
        if self._reviewer is None or self._recorder is None or not self._is_resumed:
            return
        for player in self.match.players:
            for number, episode in self._recorder.episodes(player).items():
                if pool.is_stopped:
                    return
                self._measure_luck(player, number, episode)

    def _measure_luck(self, player: str, number: int, episode: Episode) -> None:
        if self._reviewer is not None:
            luck = total_up(episode, self._reviewer, has_accuracy=False).luck
            self.match.results[player].lucks[number] = luck

    def _tell(self, played: Played) -> None:
        """Count finished games and report them."""
        self.match.count(played)
        for number, episode in played.episodes.items():
            self._measure_luck(played.player, number, episode)
        if played.episodes:
            self._on_games(played.player, played.episodes, played.cpu_seconds)
        self._show()


class MatchResult:
    """The games of a match and their statistics.

    Methods take a player as `lab2048.match` does; without one they use the first player.

    >>> import lab2048 as lab
    >>> result = lab.match(["greedy", "random"], rules="2x3", games=20, seed=1)
    >>> result
    MatchResult(greedy, random: 40 games)
    >>> print(result.table())  # doctest: +ELLIPSIS
    2x3, goal 2048, seed 1...
    """

    def __init__(self, match: Match, *, is_interrupted: bool = False) -> None:
        """Use `lab2048.match`."""
        self._match, self.is_interrupted = match, is_interrupted

    @property
    def players(self) -> list[str]:
        """Return the specs of the players, in the order of the match."""
        return list(self._match.players)

    @property
    def is_complete(self) -> bool:
        """Return False if games are missing because the match was interrupted."""
        return all(len(result.games) == self._match.n_games for result in self._match.results.values())

    def scores(self, player: "PlayerLike | None" = None) -> list[int]:
        """Return the scores of a player, in the order of the seeds.

        >>> import lab2048 as lab
        >>> len(lab.match("random", rules="2x2", games=5).scores())
        5
        """
        result = self._of(player)
        return [result.games[number].score for number in sorted(result.games)]

    def mean(self, player: "PlayerLike | None" = None) -> float:
        """Return the mean score of a player.

        >>> import lab2048 as lab
        >>> result = lab.match("random", rules="2x2", games=5)
        >>> result.mean() == sum(result.scores()) / 5
        True
        """
        return self.interval(player).value

    def interval(self, player: "PlayerLike | None" = None) -> Interval:
        """Return the mean score of a player with its 95% confidence interval: value, low, high.

        >>> import lab2048 as lab
        >>> mean = lab.match("random", rules="2x2", games=5).interval()
        >>> mean.low < mean.value < mean.high
        True
        """
        return mean_interval(self._of(player).scores)

    def reached(self, tile: int, player: "PlayerLike | None" = None) -> Interval:
        """Return the share of a player's games that reached a tile, with its 95% confidence interval.

        >>> import lab2048 as lab
        >>> lab.match("random", rules="2x2", games=5).reached(4).value
        1.0
        """
        return self._of(player).reached(tile)

    def difference(self, a: PlayerLike, b: PlayerLike) -> Interval:
        """Return the mean score of a minus that of b on the same seeds, with its 95% confidence interval.

        >>> import lab2048 as lab
        >>> result = lab.match(["greedy", "random"], rules="3x3", games=50, seed=1)
        >>> result.difference("greedy", "random").low > 0  # greedy is significantly better
        True
        """
        found = self._match.difference(self._of(a), self._of(b))
        if found is None:
            raise UsageError("the two players have no common game: expected a longer match", field="player")
        return found[0]

    def table(self) -> Shown:
        """Return the statistics as a table that `print` and notebooks can show.

        >>> import lab2048 as lab
        >>> print(lab.match("random", rules="2x2", games=5).table().text.splitlines()[0])
        2x2, goal 2048, seed 1
        """
        from lab2048.views.match_table import match_rows, match_table

        board = self._match.rules.board.to_text()
        title = f"{board}, goal {self._match.rules.goal}, seed {self._match.seed}"
        match = self._with_names()
        return Shown.of_rich(match_table(match, title=title, width=200, is_over=True), title, match_rows(match))

    def to_dict(self) -> dict[str, Any]:
        """Return the statistics as a dict, the same as `lab2048 match --json` prints.

        >>> import lab2048 as lab
        >>> lab.match("random", rules="2x2", games=5).to_dict()["players"][0]["games"]
        5
        """
        return self._match.to_json()

    def to_pandas(self) -> "pandas.DataFrame":
        """Return a data frame with a row per game: player, game, seed, score, moves, max_tile, moves_to_goal, seconds.

        >>> import lab2048 as lab
        >>> lab.match("random", rules="2x2", games=5).to_pandas().shape
        (5, 8)
        """
        from lab2048.extras import load

        rows = [
            {
                "player": with_names(result.player),
                "game": number,
                "seed": episode_seed(self._match.seed, number),
                "score": game.score,
                "moves": game.n_moves,
                "max_tile": game.max_tile,
                "moves_to_goal": game.moves_to_goal,
                "seconds": game.seconds,
            }
            for result in self._match.results.values()
            for number, game in sorted(result.games.items())
        ]
        frame: pandas.DataFrame = load("pandas").DataFrame(rows)
        return frame

    def plot(self, kind: str = "scores") -> "plotly.graph_objects.Figure":
        """Return a Plotly figure: "scores" (means), "tiles", "distribution" or "differences".

        >>> import lab2048 as lab
        >>> lab.match("random", rules="2x2", games=5).plot("tiles").data != ()
        True
        """
        from lab2048.views import charts

        makers = {
            "scores": charts.score_chart,
            "tiles": charts.tile_chart,
            "distribution": charts.distribution_chart,
            "differences": charts.paired_chart,
        }
        if kind not in makers:
            raise UnknownNameError("chart", kind, makers)
        return makers[kind](self._with_names()).to_figure()

    def _with_names(self) -> Match:
        """Return the match with names in place of temporary paths."""
        named = replace(self._match, players=[with_names(player) for player in self.players])
        for player, result in zip(named.players, self._match.results.values(), strict=True):
            named.results[player] = replace(result, player=player)
        return named

    def _of(self, player: "PlayerLike | None") -> PlayerResult:
        if player is None:
            return self._match.results[self._match.players[0]]
        spec = read_spec(player)
        if spec not in self._match.results:
            raise UnknownNameError("player", spec, self._match.results)
        return self._match.results[spec]

    def __repr__(self) -> str:
        n = sum(len(result.games) for result in self._match.results.values())
        return f"MatchResult({', '.join(map(with_names, self.players))}: {count(n, 'game')})"

    def __str__(self) -> str:
        return str(self.table())

    def _repr_html_(self) -> str:
        return self.table()._repr_html_()
