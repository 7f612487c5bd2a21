"""`optimal`: perfect play from the table of a solved board."""

import os
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, ClassVar

from lab2048.errors import FileError, UsageError
from lab2048.kernels.group import SOLVER
from lab2048.players.player import Decision, Player, option
from lab2048.rules import Board, Rules

if TYPE_CHECKING:
    from lab2048.solver.solve import Progress
    from lab2048.solver.table import Table

MAX_CELLS = 12  # without a goal, boards with more cells are always too large
MAX_AFTERSTATES = 5_000_000  # of a board that is solved at the start of a game: takes a few seconds


@dataclass
class OptimalPlayer(Player):
    """Perfect play, from a table made by `lab2048 solve`, or by solving a small board first."""

    kernels: ClassVar[tuple[str, ...]] = (SOLVER,)

    table: str = option("", "folder of a table; without it, a small board is solved when the game starts")
    objective: str = option(
        "score",
        "what to maximize without a table: score, or win (the probability of reaching the goal)",
        ("score", "win"),
    )

    def __post_init__(self) -> None:
        self._table: Table | None = None
        self._rules: Rules | None = None

    def check(self, rules: Rules) -> None:
        """Check that the table exists and belongs to this game, or that the board can be solved."""
        from lab2048.solver.problem import Problem

        if self.table:
            self._open(rules)
        elif self.objective == "score" and rules.shape.n_cells > MAX_CELLS:
            raise _too_large(rules)
        else:
            Problem.of(rules, self.objective)

    def start(self, rules: Rules, seed: int) -> None:  # noqa: ARG002
        """Open the table, or solve the board."""
        if self._rules == rules:
            return
        self._table = self._open(rules) if self.table else self._solve(rules)
        self._rules = rules

    def choose(self, board: Board) -> Decision:
        """Look up every move; among equal ones, choose the one that leads to the smallest canonical board."""
        table = self._table
        if table is None or table.problem.rules.shape != board.shape:
            raise UsageError("the player has not been started: expected start(rules, seed) before choose")
        if table.problem.is_decided(board):  # the table ends at its goal, but a game may go on
            moves, value = board.legal_moves(), table.state_value(board)[0]
            return Decision(moves[0], dict.fromkeys(moves, value))
        found = table.move_values(board)
        return Decision(table.best(found).move, {each.move: each.value for each in found}, len(found), 1)

    @property
    def unit_of_table(self) -> str:
        """Return what the values of the table are: "score" or "chance"."""
        assert self._table is not None
        return "chance" if self._table.problem.goal_rank else "score"

    def _open(self, rules: Rules) -> "Table":
        from lab2048.solver.table import Table

        table = Table.open(Path(self.table))
        solved = table.problem.rules
        if (solved.shape, solved.spawn_table, solved.spawner) != (rules.shape, rules.spawn_table, rules.spawner):
            expected = f"expected {solved.board.to_text()} with the same spawns"
            raise FileError(f"table {self.table} is not for {rules.board.to_text()}: {expected}")
        return table

    def _solve(self, rules: Rules) -> "Table":
        from lab2048.records.process_lock import temporary_folder
        from lab2048.solver.memory import Memory
        from lab2048.solver.problem import Problem
        from lab2048.solver.solve import Solve
        from lab2048.solver.workers import Workers

        def watch(progress: "Progress") -> None:
            if progress.count.afterstates > MAX_AFTERSTATES:
                raise _too_large(rules)

        problem = Problem.of(rules, self.objective)
        with temporary_folder() as folder, Workers(os.cpu_count() or 1) as workers:
            memory = Memory(2**29, workers.n_workers)
            solve = Solve(problem, folder / "table", workers, memory, is_exact=True, is_kept=False, progress=watch)
            table = solve.run()
            table.load()
        return table


def _too_large(rules: Rules) -> UsageError:
    return UsageError(
        f"{rules.board.to_text()} is too large to be solved on the fly: "
        "expected optimal:table=DIR with a table that lab2048 solve made",
        field="player",
    )
