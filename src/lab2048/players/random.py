"""`random`: any legal move, each as likely as the other."""

from dataclasses import dataclass
from typing import ClassVar

from lab2048.players.player import Decision, GamesKernel, Player
from lab2048.rules import Board, Rules, dice


@dataclass
class RandomPlayer(Player):
    """Any legal move, each as likely as the other: the yardstick that all others must beat."""

    measure: ClassVar[str] = "none"

    def start(self, rules: Rules, seed: int) -> None:  # noqa: ARG002
        """Take the player's own stream of the seed, which shares nothing with the dice."""
        self._key = dice.stream_key(seed, dice.PLAYER)

    def choose(self, board: Board) -> Decision:
        """Draw moves until one is legal.

        The count of the draw is the tile sum: it never repeats in a game, and a board
        tells it, so that the choice is a function of seed and board alone.
        """
        legal = board.legal_moves()
        word = dice.draw(self._key, board.tile_sum // 2)
        left = list(board.shape.moves)
        while (move := left.pop(dice.pick(word, len(left)))) not in legal:
            word = dice.mix((word + dice.GOLDEN) & dice.MASK)
        return Decision(move, dict.fromkeys(legal, 0.0), nodes=1)

    def games_kernel(self, rules: Rules) -> GamesKernel:
        """The same choices, compiled."""
        from lab2048.kernels.games import play
        from lab2048.rules.plan import make_plan

        plan = make_plan(rules)
        return lambda games, budget: int(play.play_games(plan, games, play.RANDOM, play.NO_SEARCH, budget))
