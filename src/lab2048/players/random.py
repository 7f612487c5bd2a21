"""`random`: a uniformly random legal move."""

from dataclasses import dataclass
from typing import ClassVar

from lab2048.players.player import Decision, GamesKernel, Player
from lab2048.rules import Board, Rules, dice


@dataclass
class RandomPlayer(Player):
    """Chooses a legal move uniformly at random: the baseline for all other players."""

    measure: ClassVar[str] = "none"

    def start(self, rules: Rules, seed: int) -> None:  # noqa: ARG002
        """Take the player's own stream of the seed, which is independent of the game's dice."""
        self._key = dice.stream_key(seed, dice.PLAYER)

    def choose(self, board: Board) -> Decision:
        """Draw moves until one is legal.

        The counter of the draw is the tile sum, which never repeats in a game.  So the choice is a function
        of seed and board alone.
        """
        legal = board.legal_moves()
        word = dice.draw(self._key, board.tile_sum // 2)
        left = list(board.shape.moves)
        while (move := left.pop(dice.pick(word, len(left)))) not in legal:
            word = dice.mix((word + dice.GOLDEN) & dice.MASK)
        return Decision(move, dict.fromkeys(legal, 0.0), nodes=1)

    def games_kernel(self, rules: Rules) -> GamesKernel:
        """Return a compiled loop that makes the same choices."""
        from lab2048.kernels.games import play
        from lab2048.rules.plan import make_plan

        plan = make_plan(rules)
        return lambda games, budget: int(play.play_games(plan, games, play.RANDOM, play.NO_SEARCH, budget))
