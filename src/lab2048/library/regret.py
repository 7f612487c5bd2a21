"""Regret: how much players lose against optimal play on a solved board."""

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from lab2048.arena.compile import groups_of
from lab2048.arena.executor.choice import executor_for
from lab2048.arena.regret import Regret, measure_on, measure_regret
from lab2048.kernels.group import SOLVER
from lab2048.library.arguments import PlayerLike, read_specs, read_whole
from lab2048.library.interrupt import interruptible, stopping
from lab2048.library.progress import make_ready, progress_line
from lab2048.library.shown import Shown, html_table
from lab2048.library.solution import Solution, open_solution
from lab2048.library.unsaved import with_names
from lab2048.players import fit_player
from lab2048.rules.dice import check_seed
from lab2048.views.number import number, percent

if TYPE_CHECKING:
    import pandas


@interruptible()
def regret(
    solution: "Solution | str | Path",
    players: "PlayerLike | Sequence[PlayerLike]",
    *,
    games: int = 100,
    seed: int = 1,
    cluster: str | None = None,
    progress: bool | None = None,
) -> "RegretResult":
    """Play games on a solved board and compare every move with the best one.

    Ctrl-C returns the results of the finished players.  `cluster` is a Ray cluster that plays: "auto", "local" or an
    address.

    >>> import lab2048 as lab
    >>> result = lab.regret(lab.solve("2x2", goal=16), ["random", "greedy"], games=20)
    >>> result["random"].per_game.value > result["greedy"].per_game.value
    True
    """
    the_solution = solution if isinstance(solution, Solution) else open_solution(solution)
    table, specs = the_solution.table, read_specs(players)
    games, seed = read_whole("games", games, 1), check_seed(read_whole("seed", seed))
    for spec in specs:
        fit_player(spec, the_solution.rules)
    make_ready(SOLVER, *groups_of(specs, the_solution.rules, games=True), progress=progress)
    found: list[Regret] = []
    if cluster:
        with executor_for(cluster, 0, "regret") as executor, progress_line(progress) as show, stopping(executor.stop):
            executor.make_ready(specs, [SOLVER, *groups_of(specs, the_solution.rules, games=True)])
            for each in measure_on(executor, table, specs, seed=seed, n_games=games):
                found.append(each)
                show(f"{each.player}: {games} games", len(found) / len(specs))
        found.sort(key=lambda each: specs.index(each.player))
        return RegretResult(the_solution, seed, found)
    with progress_line(progress) as show:
        for i, spec in enumerate(specs):

            def note(n: int, spec: str = spec, i: int = i) -> None:
                show(f"{spec}: game {n} of {games}", (i + n / games) / len(specs))

            try:
                found.append(measure_regret(table, spec, seed=seed, n_games=games, progress=note))
            except KeyboardInterrupt:
                break
    return RegretResult(the_solution, seed, found)


class RegretResult:
    """The regret of several players; `result["greedy"]` is that of one.

    >>> import lab2048 as lab
    >>> result = lab.regret(lab.solve("2x2", goal=16), "random", games=20)
    >>> result["random"].n_best <= result["random"].n_moves
    True
    """

    def __init__(self, solution: Solution, seed: int, found: list[Regret]) -> None:
        """Use `lab2048.regret`."""
        self.solution, self.seed = solution, seed
        self.players = {each.player: each for each in found}

    def __getitem__(self, player: PlayerLike) -> Regret:
        return self.players[read_specs(player)[0]]

    def to_dict(self) -> dict[str, Any]:
        """Return the result as a dict, the same as `lab2048 regret --json` prints.

        >>> import lab2048 as lab
        >>> lab.regret(lab.solve("2x2", goal=16), "random", games=5).to_dict()["players"][0]["games"]
        5
        """
        problem = self.solution.table.problem
        return {
            "table": str(self.solution.table.folder),
            "rules": problem.rules.to_json(),
            "objective": problem.objective.value,
            "optimum": self.solution.value,
            "seed": self.seed,
            "players": [each.to_json(has_goal=problem.goal_rank > 0) for each in self.players.values()],
        }

    def to_pandas(self) -> "pandas.DataFrame":
        """Return a data frame with a row per player.

        >>> import lab2048 as lab
        >>> lab.solve("2x2", goal=16).regret(["random", "greedy"], games=5).to_pandas()["player"].tolist()
        ['random', 'greedy']
        """
        from lab2048.extras import load

        rows = [{name: value for name, value in row.items() if name != "worst"} for row in self.to_dict()["players"]]
        frame: pandas.DataFrame = load("pandas").DataFrame(rows)
        return frame

    def table(self) -> Shown:
        """Return a table with a row per player: loss per move, loss per game, and share of best moves.

        >>> import lab2048 as lab
        >>> print(lab.solve("2x2", goal=16).regret("random", games=5).table().text.splitlines()[0])
        player  loss per move  loss per game   95% interval  best moves
        """
        rows = [("player", "loss per move", "loss per game", "95% interval", "best moves")]
        for each in self.players.values():
            loss = each.per_game
            best = percent(each.n_best / each.n_moves) if each.n_moves else "-"
            interval = f"{number(loss.low)} to {number(loss.high)}"
            rows.append((with_names(each.player), number(each.per_move), number(loss.value), interval, best))
        widths = [max(len(row[i]) for row in rows) for i in range(len(rows[0]))]
        lines = [
            "  ".join(
                cell.ljust(width) if i == 0 else cell.rjust(width)
                for i, (cell, width) in enumerate(zip(row, widths, strict=True))
            )
            for row in rows
        ]
        return Shown("\n".join(lines), html_table(repr(self.solution), rows))

    def __repr__(self) -> str:
        return str(self.table())

    def _repr_html_(self) -> str:
        return self.table()._repr_html_()
