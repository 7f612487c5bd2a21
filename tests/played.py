"""Games for the tests of the records: random, legal, and the same at every call."""

import random
from pathlib import Path

from lab2048.records.episode import Episode
from lab2048.records.store import Store
from lab2048.rules import Game, Rules

BOARDS = ("4x4", "1x2", "2x2", "3x5", "hex1", "hex2", "##x|#2#|###", "hex1:##|#x#|2#", "2 1024 # x / 1024 # # #")


def play(
    board: str = "4x4", seed: int = 1, *, player: str = "random", max_moves: int = 10_000, goal: int = 2048
) -> Episode:
    """A random game, cut after `max_moves` moves."""
    rules = Rules.from_text(board, goal=goal)
    game, random_word = Game(rules, seed), random.Random(seed)
    while (moves := game.board.legal_moves()) and len(game.turns) < max_moves:
        game.play(random_word.choice(moves))
    return Episode.from_game(game, player, seconds=0.25)


def play_many(n: int, board: str = "3x3", **options: str) -> dict[int, Episode]:
    return {number: play(board, seed=number, **options) for number in range(n)}


def fill(path: Path, n: int = 5, board: str = "3x3") -> int:
    """Make a store with one run of n games."""
    with Store.open(path) as store:
        run = store.begin_run("match", Rules.from_text(board), "random", 7)
        store.keep(run, play_many(n, board))
        return run
