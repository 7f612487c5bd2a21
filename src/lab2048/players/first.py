"""`first`: the first legal move in a fixed order of directions."""

from dataclasses import dataclass
from typing import ClassVar

from lab2048.errors import UsageError
from lab2048.players.player import Decision, GamesKernel, Player, option
from lab2048.rules import Board, Rules, Shape
from lab2048.rules.move import letters


@dataclass
class FirstPlayer(Player):
    """The first legal move in a fixed order: what happens without any thought at all."""

    measure: ClassVar[str] = "preference"

    order: str = option("", "letters of the moves, most wanted first; the others follow in their own order")

    def _order(self, shape: Shape) -> list[int]:
        alphabet = letters(shape.moves)
        unknown = set(self.order) - set(alphabet)
        if unknown or len(set(self.order)) != len(self.order):
            raise UsageError(
                f"order={self.order} is not understood: expected letters of {alphabet}, each at most once",
                field="order",
            )
        wanted = [alphabet.index(letter) for letter in self.order]
        return wanted + [move for move in range(len(alphabet)) if move not in wanted]

    def check(self, rules: Rules) -> None:
        """See that the letters are moves of this shape."""
        self._order(rules.shape)

    def choose(self, board: Board) -> Decision:
        """Take the most wanted move that is legal."""
        legal = set(board.legal_moves())
        order = [move for move in self._order(board.shape) if move in legal]
        return Decision(order[0], {move: float(-i) for i, move in enumerate(order)}, nodes=1)

    def games_kernel(self, rules: Rules) -> GamesKernel:
        """The same choices, compiled."""
        import numpy as np

        from lab2048.kernels.games import play
        from lab2048.rules.plan import make_plan

        plan = make_plan(rules)
        order = np.uint64(sum(move << 4 * i for i, move in enumerate(self._order(rules.shape))))
        return lambda games, budget: int(play.play_games(plan, games, order, play.NO_SEARCH, budget))
