"""Playing one episode: a player meets the dice of one seed."""

import time
from collections.abc import Callable

from lab2048.errors import IllegalMoveError, LabError
from lab2048.players import Player
from lab2048.records.episode import Episode
from lab2048.rules import Game, Rules, Turn


def play_episode(
    player: Player, name: str, rules: Rules, seed: int, *, on_turn: Callable[[Game, Turn], None] | None = None
) -> Episode:
    """Play one game to its end; the clock runs only while the player chooses."""
    game = Game(rules, seed)
    seconds = 0.0
    player.start(rules, seed)
    while not game.is_over:
        begin = time.perf_counter()
        move = player.choose(game.board).move
        seconds += time.perf_counter() - begin
        try:
            turn = game.play(move)
        except IllegalMoveError as error:
            raise LabError(f"player {name} chose an illegal move: {error}") from None
        if on_turn:
            on_turn(game, turn)
    return Episode.from_game(game, name, seconds)
