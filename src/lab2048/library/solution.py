"""Solved boards, and the exact values of their positions."""

import shutil
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from html import escape
from pathlib import Path
from typing import TYPE_CHECKING, Any

from lab2048.errors import BoardError, FileError
from lab2048.kernels.group import SOLVER
from lab2048.library.arguments import PlayerLike, read_board
from lab2048.library.player import ReadyPlayer, player
from lab2048.library.progress import make_ready
from lab2048.rules import Board, Rules
from lab2048.rules.board import BoardSource
from lab2048.rules.move import AnyMove
from lab2048.solver.table import Table

if TYPE_CHECKING:
    import plotly.graph_objects

    from lab2048.library.regret import RegretResult


@dataclass(frozen=True)
class Probe:
    """The best move of a board, and the exact value of every legal move.

    >>> import lab2048 as lab
    >>> probe = lab.solve("2x2", goal=16).probe("2 2 / # 4")
    >>> probe.move, probe.value == max(probe.values.values())
    (Move.RIGHT, True)
    """

    board: Board
    move: AnyMove
    value: float  #: of the best move: the probability of winning, or the expected future score
    values: Mapping[AnyMove, float]
    losses: Mapping[AnyMove, float]  #: with a goal, the probability of missing it; precise where the value is near 1
    spawns: tuple[tuple[int, int, float], ...]  #: after the best move: cell, tile, value; the best first


class Solution:
    """A solved board: the exact value of every position that can occur.

    >>> import lab2048 as lab
    >>> lab.solve("2x2", goal=16)
    Solution(2x2, goal 16: reached with probability 0.962511254)
    """

    def __init__(self, table: Table, *, seconds: float = 0.0) -> None:
        """Use `lab2048.solve` or `lab2048.open_solution`."""
        self.table, self.seconds = table, seconds

    @property
    def rules(self) -> Rules:
        return self.table.problem.rules

    @property
    def objective(self) -> str:
        """Return "win" (reach the goal) or "score"."""
        return self.table.problem.objective.value

    @property
    def value(self) -> float:
        """Return the probability that optimal play reaches the goal, or its expected score."""
        return float(self.table.manifest["value"])

    @property
    def loss(self) -> float | None:
        """Return the probability of missing the goal, precise even if it is tiny; None without a goal."""
        return float(self.table.manifest["loss_probability"]) if self.table.problem.goal_rank else None

    @property
    def n_states(self) -> int:
        """Return the number of boards, up to symmetry."""
        return self.table.count.states

    def probe(self, board: "Board | BoardSource") -> Probe:
        """Return the best move of a board, and the exact value of every legal move.

        >>> import lab2048 as lab
        >>> probe = lab.solve("2x2", goal=16).probe("2 2 / # 4")
        >>> probe.move, round(probe.value, 4)
        (Move.RIGHT, 0.9728)
        """
        state = read_board(board)
        moves = self.table.move_values(state)
        if not moves:
            raise BoardError(f"no move is possible on {state.to_text()}: expected a board with a legal move")
        best = self.table.best(moves)
        spawns = []
        if not self.table.problem.is_decided(best.after):
            for spawn in self.rules.spawns(best.after):
                value, _ = self.table.state_value(best.after.put(spawn.cell, spawn.rank))
                spawns.append((spawn.cell, 1 << spawn.rank, value))
        return Probe(
            state,
            best.move,
            best.value,
            {each.move: each.value for each in moves},
            {each.move: each.loss for each in moves if each.loss is not None},
            tuple(sorted(spawns, key=lambda spawn: -spawn[2])),
        )

    def player(self) -> ReadyPlayer:
        """Return a player that plays optimally by this solution.

        >>> import lab2048 as lab
        >>> lab.solve("2x2", goal=16).player().ask("2 2 / # 4").move
        Move.RIGHT
        """
        ready = player("optimal", table=str(self.table.folder))
        ready.source = self  # keeps a temporary table as long as the player is used
        return ready

    def tiles(self) -> dict[int, float]:
        """Return the probability that optimal play reaches each tile.

        >>> import lab2048 as lab
        >>> round(lab.solve("2x2").tiles()[16], 4)
        0.9625
        """
        from lab2048.solver.final_tiles import tile_chances

        return tile_chances(self.table)

    def regret(self, players: "PlayerLike | Sequence[PlayerLike]", **options: Any) -> "RegretResult":
        """Return how much players lose against optimal play; options as in `lab2048.regret`.

        >>> import lab2048 as lab
        >>> lab.solve("2x2", goal=16).regret("random", games=20)["random"].per_game.value > 0
        True
        """
        from lab2048.library.regret import regret

        return regret(self, players, **options)

    def verify(self, sample: int = 100_000) -> int:
        """Check all checksums and recompute a sample of values (0 = all); return the number of recomputed values.

        Raise FileError if anything is wrong.

        >>> import lab2048 as lab
        >>> lab.solve("2x2", goal=16).verify(sample=0)
        23
        """
        from lab2048.solver.verify import verify

        make_ready(SOLVER)
        return verify(self.table, n_sample=sample, progress=lambda _: None).checked

    def save(self, folder: "str | Path") -> "Solution":
        """Copy the table to a new folder; return the solution of that folder.

        >>> import lab2048 as lab, tempfile, pathlib
        >>> lab.solve("2x2", goal=16).save(pathlib.Path(tempfile.mkdtemp()) / "2x2")
        Solution(2x2, goal 16: reached with probability 0.962511254)
        """
        target = Path(folder)
        if target.exists():
            raise FileError(f"{target} exists already: expected a name for a new folder", code="file.exists")
        shutil.copytree(self.table.folder, target)
        return open_solution(target)

    def export(self, path: "str | Path", *, force: bool = False) -> int:
        """Write all values as .sqlite, .csv or .parquet; return the number of rows.

        >>> import lab2048 as lab, tempfile, pathlib
        >>> lab.solve("2x2", goal=16).export(pathlib.Path(tempfile.mkdtemp()) / "2x2.csv")
        23
        """
        from lab2048.solver.export import export

        target = Path(path)
        return export(self.table, target.suffix.lstrip(".") or "sqlite", target, force=force)

    def plot(self) -> "plotly.graph_objects.Figure":
        """Return a Plotly figure: the number of boards by tile sum.

        >>> import lab2048 as lab
        >>> len(lab.solve("2x2", goal=16).plot().data) > 0
        True
        """
        from lab2048.views.charts import layer_chart

        layers = [(tile_sum, each.count.states, each.count.afterstates) for tile_sum, each in self.table.layers.items()]
        return layer_chart(sorted(layers)).to_figure()

    def __repr__(self) -> str:
        return f"Solution({self._answer()})"

    def _answer(self) -> str:
        board = self.rules.board.to_text()
        if self.objective == "win":
            return f"{board}, goal {self.rules.goal}: reached with probability {self.value:.9g}"
        return f"{board}: expected score {self.value:.9g}"

    def _repr_html_(self) -> str:
        facts = f"{escape(self._answer())}<br>{self.n_states:,} states"
        return f"<div>{self.rules.board._repr_html_()}<div>{facts}</div></div>"


def open_solution(folder: "str | Path") -> "Solution":
    """Open the folder of a solved board, written by `lab2048.solve(..., out=folder)` or `lab2048 solve --out`.

    >>> import lab2048 as lab, tempfile, pathlib
    >>> folder = pathlib.Path(tempfile.mkdtemp()) / "2x2"
    >>> lab.solve("2x2", out=folder).value == lab.open_solution(folder).value
    True
    """
    return Solution(Table.open(Path(folder)))
