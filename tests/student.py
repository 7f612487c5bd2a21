"""A network that learns as the kernels have it, game by game, and shows what it played."""

import numpy as np

from lab2048.kernels.ntuple import self_play, update
from lab2048.models.ntuple.network import Network
from lab2048.rules import Board

F32 = np.float32
SEED = 7


def method_of(
    *, alpha: float = 0.25, discount: float = 1.0, trace: float = 0.0, epsilon: float = 0.0, kind: str = "td",
    order: str = "forward", restart: bool = False, carousel: bool = False, guide: float = 0.0, guided: int = 0,
    corners: int = 0, taught: int = 0, synthetic: float = 0.0, truncate: int = 0, early: float = 0.0,
    choose: str = "return",
) -> update.Method:  # fmt: skip
    return update.Method(
        F32(alpha), F32(discount), F32(trace), epsilon, kind == "tc", order == "backward", restart, carousel,
        F32(guide), guided, np.uint64(corners), taught, synthetic, truncate, early, choose == "value",
    )  # fmt: skip


class Student:
    """A network that learns game by game, and what it played last."""

    def __init__(self, network: Network, method: update.Method) -> None:
        self.network, self.method = network, method
        self.cursor = np.zeros(self_play.CURSOR_SIZE, np.uint64)
        self.cursor[self_play.SEED], self.cursor[self_play.STRIDE] = SEED, 1
        self.trajectory, self.report = update.make_trajectory(network.design.n_lookups), self_play.make_report()

    def play(self, budget: int = 1) -> int:
        """Play games until a budget of moves is spent: 1 is a whole game."""
        plan, net = self.network.plan, self.network.address
        self.n_taught = int(self.cursor[self_play.TAUGHT])
        return int(self_play.train(plan, net, self.method, self.cursor, self.trajectory, self.report, budget))

    def boards(self, n: int) -> list[Board]:
        shape = self.network.design.rules.shape
        return [Board.from_packed(shape, int(word)) for word in self.trajectory.boards[:n]]
