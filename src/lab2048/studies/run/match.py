"""Rows of the kind match: a player plays games, and figures are read off them."""

import time

from lab2048.arena.episode import ask
from lab2048.arena.executor import Pool
from lab2048.arena.match import Match
from lab2048.players import canonical_spec, make_player
from lab2048.records.entry import Summary
from lab2048.records.episode import Episode
from lab2048.rules import Game
from lab2048.rules.dice import episode_seed
from lab2048.studies.game_figures import game_result
from lab2048.studies.result import GameResult, Result
from lab2048.studies.run.task import Job, StoppedError

KEEP_SECONDS = 5.0


def run_match(job: Job) -> Result:
    """Play what is missing of a row's games."""
    result = job.result()
    result.games = play_games(job, job.row.player)
    return result


def play_games(job: Job, spec: str) -> list[GameResult]:
    """Play a row's games by a player; those that are kept already are not played again."""
    earlier = job.earlier.games if job.earlier else []
    games = {game.number: game for game in earlier if game.number < job.amount}
    counts = any(figure.measure.name in ("overrides", "interventions") for figure in job.row.figures)
    play = _count_overrides if counts else _play
    try:
        play(job, spec, games)
    finally:
        if len(games) < job.amount:
            job.keep_part(_in_order(games))
    if len(games) < job.amount:
        raise StoppedError("interrupted")
    return _in_order(games)


def _in_order(games: dict[int, GameResult]) -> list[GameResult]:
    return [games[number] for number in sorted(games)]


def _play(job: Job, spec: str, games: dict[int, GameResult]) -> None:
    """As a match plays them: on all workers, compiled where that can be."""
    name = canonical_spec(spec)
    match = Match(job.rules, [name], job.seed, job.amount)
    kept_at = time.monotonic()
    known = match.standings[name].games
    for each in games.values():
        known[each.number] = Summary(
            each.number, each.score, each.n_moves, each.max_tile, each.moves_to_goal, each.seconds
        )
    with Pool(job.n_workers) as pool:
        job.when_stopped(pool.stop)
        for played in match.play(pool):
            games |= {number: game_result(number, episode) for number, episode in played.episodes.items()}
            job.show(f"{len(games)} of {job.amount} games")
            if time.monotonic() > kept_at + KEEP_SECONDS:
                job.keep_part(_in_order(games))
                kept_at = time.monotonic()


def _count_overrides(job: Job, spec: str, games: dict[int, GameResult]) -> None:
    """One game after the other, asking of each decision whether the player's own move was overruled, and by what."""
    player, kept_at = make_player(spec), time.monotonic()
    for number in range(job.amount):
        if job.is_stopped:
            return
        if number in games:
            continue
        game = Game(job.rules, episode_seed(job.seed, number))
        player.start(game.rules, game.seed)
        n_overridden, n_replaced, seconds = 0, 0, 0.0
        while not game.is_over:
            begin = time.perf_counter()
            decision = ask(player, spec, game.board)
            seconds += time.perf_counter() - begin
            n_overridden += decision.overridden is not None
            n_replaced += decision.replaced is not None
            game.play(decision.move)
        games[number] = game_result(number, Episode.from_game(game, spec, seconds), n_overridden, n_replaced)
        job.show(f"{len(games)} of {job.amount} games")
        if time.monotonic() > kept_at + KEEP_SECONDS:
            job.keep_part(_in_order(games))
            kept_at = time.monotonic()
