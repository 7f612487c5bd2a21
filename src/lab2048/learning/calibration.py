"""Calibrate a network: play games with it, and compare its values with the scores that follow."""

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace

from lab2048.errors import UsageError
from lab2048.models.ntuple.calibration import Observation
from lab2048.players.ntuple import NTuplePlayer
from lab2048.players.registry import make_player
from lab2048.rules import Game, Rules
from lab2048.rules.dice import episode_seed


def read_search(text: str) -> NTuplePlayer:
    """Read the options of an `ntuple` player, such as depth=3."""
    player = make_player(f"ntuple:{text}")
    if not isinstance(player, NTuplePlayer) or player.weights:
        raise UsageError(f"{text} is no search: expected options of ntuple such as depth=3 or ms=10", field="search")
    return player


def observe(
    player: NTuplePlayer,
    rules: Rules,
    n_games: int,
    seed: int,
    *,
    workers: int = 1,
    progress: Callable[[int], object] = lambda _: None,
) -> list[Observation]:
    """Play games, and return what the player expected of every state and what came; `progress` gets every game."""

    def play(k: int) -> list[Observation]:
        own, game = replace(player), Game(rules, episode_seed(seed, k))
        searcher, seen = own.searcher(rules), []
        while not game.is_over:
            values, _ = own.search(searcher, game.board)
            best = max(values, key=lambda move: values[move])
            seen.append((game.board.tile_sum, values[best], game.score))
            game.play(best)
        progress(k)
        return [Observation(k, tile_sum, value, game.score - score) for tile_sum, value, score in seen]

    with ThreadPoolExecutor(workers) as pool:
        return [row for rows in pool.map(play, range(n_games)) for row in rows]
