"""Rows of kinds match and threads: a player plays games, or the same games on one thread and on several."""

import os
import time

from lab2048.arena.compile import groups_of
from lab2048.arena.episode import ask, play_episode
from lab2048.arena.match import Match
from lab2048.arena.review.reviewer import default_totals_reviewer, groups_of_reviewer, make_reviewer
from lab2048.arena.review.totals import total_up
from lab2048.arena.statistics import mean_interval
from lab2048.errors import StoppedError
from lab2048.players import canonical_spec, make_player
from lab2048.players.registry import spec_with
from lab2048.records.entry import Summary
from lab2048.records.episode import Episode
from lab2048.rules import Game
from lab2048.rules.dice import episode_seed
from lab2048.studies.game_figures import game_result
from lab2048.studies.measure import COUNTED, REVIEWED, Measured
from lab2048.studies.result import GameResult, Result
from lab2048.studies.run.task import RowTask

KEEP_SECONDS = 5.0


def run_match(task: RowTask) -> Result:
    """Play the missing games of a row."""
    result = task.result()
    result.games = play_games(task, task.row.player)
    return result


def play_games(task: RowTask, spec: str) -> list[GameResult]:
    """Play the games of a row; saved games are not played again."""
    earlier = task.earlier.games if task.earlier else []
    games = {game.number: game for game in earlier if game.number < task.amount}
    counts = any(figure.measure.name in COUNTED for figure in task.row.figures)
    play = _count_overrides if counts else _play
    try:
        play(task, spec, games)
    finally:
        if len(games) < task.amount:
            task.save_partial(_in_order(games))
    if len(games) < task.amount:
        raise StoppedError("interrupted")
    return _in_order(games)


def _in_order(games: dict[int, GameResult]) -> list[GameResult]:
    return [games[number] for number in sorted(games)]


def _play(task: RowTask, spec: str, games: dict[int, GameResult]) -> None:
    """Play like a match: on all workers, compiled where possible."""
    name = canonical_spec(spec)
    match = Match(task.rules, [name], task.seed, task.amount)
    kept_at = time.monotonic()
    known = match.results[name].games
    for each in games.values():
        known[each.number] = Summary(*(getattr(each, name) for name in Summary._fields))
    reviewer, groups = None, groups_of([name], task.rules, games=True)
    if any(figure.measure.name in REVIEWED for figure in task.row.figures):
        reviewer_spec = default_totals_reviewer(task.rules)
        groups = sorted({*groups, *groups_of_reviewer(reviewer_spec, task.rules)})
        reviewer = make_reviewer(reviewer_spec, task.rules)
    with task.executor() as pool:
        task.when_stopped(pool.stop)
        pool.make_ready([name], groups)
        for played in match.play(pool):
            for number, episode in played.episodes.items():
                task.check()
                games[number] = game_result(
                    number, episode, review=total_up(episode, reviewer) if reviewer is not None else None
                )
            task.show(f"{len(games)} of {task.amount} games")
            if time.monotonic() > kept_at + KEEP_SECONDS:
                task.save_partial(_in_order(games))
                kept_at = time.monotonic()


def _count_overrides(task: RowTask, spec: str, games: dict[int, GameResult]) -> None:
    """Play one game after the other, counting the decisions that a mask or shield overrode or replaced."""
    player, kept_at = make_player(spec), time.monotonic()
    for number in range(task.amount):
        if task.is_stopped:
            return
        if number in games:
            continue
        game = Game(task.rules, episode_seed(task.seed, number))
        player.start(game.rules, game.seed)
        n_overridden, n_replaced, seconds = 0, 0, 0.0
        while not game.is_over:
            task.check()
            begin = time.perf_counter()
            decision = ask(player, spec, game.board)
            seconds += time.perf_counter() - begin
            n_overridden += decision.overridden is not None
            n_replaced += decision.replaced is not None
            game.play(decision.move)
        games[number] = game_result(number, Episode.from_game(game, spec, seconds), n_overridden, n_replaced)
        task.show(f"{len(games)} of {task.amount} games")
        if time.monotonic() > kept_at + KEEP_SECONDS:
            task.save_partial(_in_order(games))
            kept_at = time.monotonic()


def run_threads(task: RowTask) -> Result:
    """Play each game on one thread and then on all workers.

    The two alternate, so other load on the machine affects both equally.  The moves are the same.
    """
    n_threads = max(2, task.n_workers or os.cpu_count() or 1)
    specs = [spec_with(task.row.player, threads=n) for n in (1, n_threads)]
    players = [make_player(spec) for spec in specs]
    times: list[list[float]] = [[], []]
    for number in range(task.amount):
        task.show(f"game {number + 1} of {task.amount}, on 1 and on {n_threads} threads")
        seed = episode_seed(task.seed, number)
        moves = []
        for spec, player, seconds in zip(specs, players, times, strict=True):
            task.check()
            episode = play_episode(player, spec, task.rules, seed)
            seconds.append(episode.seconds)
            moves.append(episode.moves)
        assert moves[0] == moves[1], "threads change no move"
    result = task.result()
    result.measured = {
        "one-thread": Measured.mean(times[0]),
        "many-threads": Measured.mean(times[1]),
        "speedup": Measured(*mean_interval([a / b for a, b in zip(*times, strict=True)]), task.amount),
    }
    return result
