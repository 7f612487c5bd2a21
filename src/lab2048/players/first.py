"""`first`: the first legal move in a fixed order of directions."""

from dataclasses import dataclass
from typing import ClassVar

from lab2048.errors import UsageError
from lab2048.players.player import Decision, GamesKernel, Player, option
from lab2048.rules import Board, Rules, Shape


@dataclass
class FirstPlayer(Player):
    """Chooses the first legal move in a fixed order: a baseline without any evaluation."""

    measure: ClassVar[str] = "preference"

    order: str = option("", "letters of the moves, preferred first; the other moves follow in their usual order")

    def _order(self, shape: Shape) -> list[int]:
        alphabet = shape.letters
        unknown = set(self.order) - set(alphabet)
        if unknown or len(set(self.order)) != len(self.order):
            raise UsageError(
                f"order={self.order} is not understood: expected letters of {alphabet}, each at most once",
                field="order",
            )
        wanted = [alphabet.index(letter) for letter in self.order]
        return wanted + [move for move in range(len(alphabet)) if move not in wanted]

    def check(self, rules: Rules) -> None:
        """Check that `order` consists of moves of this shape."""
        self._order(rules.shape)

    def choose(self, board: Board) -> Decision:
        legal = set(board.legal_moves())
        order = [move for move in self._order(board.shape) if move in legal]
        return Decision(order[0], {move: float(-i) for i, move in enumerate(order)}, nodes=1)

    def games_kernel(self, rules: Rules) -> GamesKernel:
        """Return a compiled loop that makes the same choices."""
        import numpy as np

        from lab2048.kernels.games import play
        from lab2048.rules.plan import make_plan

        plan = make_plan(rules)
        order = np.uint64(sum(move << 4 * i for i, move in enumerate(self._order(rules.shape))))
        return lambda games, budget: int(play.play_games(plan, games, order, play.NO_SEARCH, budget))
