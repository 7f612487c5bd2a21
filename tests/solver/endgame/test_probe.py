"""Endgame tables: equal to published values and to plain recursion, found on every copy of a formation."""

from functools import cache
from pathlib import Path

import numpy as np
import pytest

from lab2048.errors import BoardError, UnknownNameError
from lab2048.kernels.board.block import GATHER
from lab2048.rules import Board, Rules
from lab2048.rules.move import Move
from lab2048.solver.endgame.formation import KNOWN, Formation, formation_names
from lab2048.solver.endgame.probe import Endgame
from lab2048.solver.memory import Memory
from lab2048.solver.probing import chance_of
from lab2048.solver.problem import Problem
from lab2048.solver.solve import Solve
from lab2048.solver.table import Table
from lab2048.solver.verify import verify
from lab2048.solver.workers import Workers

SNAKE = "A A A A / A A A A / 2 2 2 4 / # # 2 2"
PDF = "A A A # / A A A # / A A 4 2 / 2 2 2 2"
# Positions of the suite (lab2048 bench positions) with the same free cells.
BLOCK = "8192 2048 512 128 / 4096 1024 256 64 / 2 2 2 4 / # # 2 2"
CORNER = "8192 2048 512 # / 4096 1024 256 # / 128 64 4 2 / 2 2 2 2"


def build(name: str, folder: Path) -> Table:
    problem = Problem.of(Formation.from_name(name).rules, "win")
    with Workers(2) as workers:
        return Solve(problem, folder / name, workers, Memory(2**30), is_kept=False).run()


@pytest.fixture(scope="module")
def tables(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Table]:
    folder = tmp_path_factory.mktemp("endgames")
    return {name: build(name, folder) for name in ("snake8-64", "pdf8-64")}


@pytest.mark.parametrize(
    ("name", "text", "move", "value"),
    [
        ("snake8-64", SNAKE, Move.RIGHT, 0.976849),
        ("snake8-128", SNAKE, Move.RIGHT, 0.782384),
        ("snake8-256", SNAKE, Move.RIGHT, 0.124619),
        ("pdf8-64", PDF, Move.UP, 0.990791),
        ("pdf8-128", PDF, Move.UP, 0.811834),
        ("pdf8-256", PDF, Move.UP, 0.172561),
    ],
)
def test_published_values(
    tables: dict[str, Table], tmp_path: Path, name: str, text: str, move: Move, value: float
) -> None:
    """Published by 2048EndgameTablebase."""
    table = tables.get(name) or build(name, tmp_path)
    best = table.best(table.move_values(Board(text)))
    assert best.move == move
    assert round(best.value, 6) == value


def plain_values(rules: Rules) -> dict[Board, float]:
    """The value of every afterstate that is asked for, by recursion on the reference."""

    class Values(dict[Board, float]):
        def __missing__(self, after: Board) -> float:
            spawns = rules.spawns(after)
            self[after] = sum(each.probability * of_state(after.put(each.cell, each.rank)) for each in spawns)
            return self[after]

    @cache
    def of_state(board: Board) -> float:
        return max((of_after(after) for _, (after, _) in board.slides()), default=0.0)

    def of_after(after: Board) -> float:
        return float(rules.is_won(after)) if max(after.ranks) >= rules.goal_rank else values[after]

    values = Values()
    return values


@pytest.mark.parametrize("name", ["snake8-64", "pdf8-64"])
def test_a_sample_agrees_with_the_reference(tables: dict[str, Table], name: str) -> None:
    table, rng = tables[name], np.random.default_rng(1)
    rules = table.problem.rules
    values, n = plain_values(rules), 0
    for tile_sum, layer in sorted(table.layers.items(), reverse=True)[:40]:
        for key in rng.choice(layer.keys.read(), min(layer.keys.n, 50)).tolist():
            after = Board.from_packed(rules.shape, key * int(GATHER) % 2**64)
            assert after.tile_sum == tile_sum
            assert chance_of(table.stored_value(after)) == pytest.approx(values[after], abs=1e-6)
            n += 1
    assert n > 500
    assert verify(table, n_sample=0).checked == table.count.afterstates


def copies(board: Board) -> list[Board]:
    return [board.carry(symmetry) for symmetry in board.shape.symmetries]


@pytest.mark.parametrize(("name", "text", "value"), [("snake8-64", BLOCK, 0.976849), ("pdf8-64", CORNER, 0.990791)])
def test_every_copy_of_a_formation_is_found(tables: dict[str, Table], name: str, text: str, value: float) -> None:
    endgame, board = Endgame(tables[name]), Board(text)
    expected = endgame.best(endgame.probe(board).moves)
    assert round(expected.value, 6) == value
    for symmetry in board.shape.symmetries:
        found = endgame.probe(board.carry(symmetry))
        best = endgame.best(found.moves)
        assert (int(best.move), best.value) == (symmetry.moves[int(expected.move)], expected.value)
        assert best.after == expected.after.carry(symmetry)
        assert {*(each.move for each in found.moves), *found.leaving} == set(board.carry(symmetry).legal_moves())


def test_the_goal_is_made_beside_the_smallest_large_tile(tables: dict[str, Table]) -> None:
    """A mirrored copy has the goal cell at the other end, where the new tile would join nothing."""
    endgame = Endgame(tables["snake8-64"])
    other = Board("128 512 2048 8192 / 64 256 1024 4096 / 2 2 2 4 / # # 2 2")
    assert endgame.probe(Board(BLOCK)).position == Board(SNAKE)
    assert endgame.probe(other).position == Board("A A A A / A A A A / 4 2 2 2 / 2 2 # #")


@pytest.mark.parametrize(
    "text",
    [
        "8192 2048 512 128 / 4096 1024 256 # / 2 2 2 4 / 64 # 2 2",  # a large tile elsewhere
        "8192 2048 512 128 / 4096 1024 256 128 / 2 2 2 4 / # # 2 2",  # two are equal
        "8192 2048 512 128 / 4096 1024 256 32 / 2 2 2 4 / # # 2 2",  # one is below the goal
        "8192 2048 512 128 / 4096 1024 256 64 / 2 2 2 64 / # # 2 2",  # the goal is made
        "2 4 # / # # #",
    ],
)
def test_boards_that_do_not_fit_are_one_line(tables: dict[str, Table], text: str) -> None:
    endgame = Endgame(tables["snake8-64"])
    with pytest.raises(
        BoardError, match=r"the formation AAAA\|AAAA\|###G\|#### is not on .*: expected different tiles"
    ):
        endgame.probe(Board(text))


@pytest.mark.parametrize("name", formation_names())
def test_known_formations(name: str) -> None:
    formation = Formation.from_name(name)
    assert formation.whole == Board("4x4").shape
    assert bool(formation.rules.goal_cells) == (formation.n_free == 0)  # free large tiles can go where the goal is made
    assert len(formation.picture) == 4
    assert KNOWN[name.partition("-")[0]][1][formation.rules.goal] > 0


def test_unknown_formations() -> None:
    with pytest.raises(UnknownNameError, match=r"did you mean L3-256\?"):
        Formation.from_name("l3-256")
    with pytest.raises(BoardError, match="has no anchors: expected A where the large tiles stand"):
        Formation.from_text("####|###G", 64)
