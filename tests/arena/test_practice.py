"""Practice of endgames: positions of every difficulty, exact rates, a spawner from fair to worst, and a notebook."""

from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path

import numpy as np
import pytest

from lab2048.arena.practice import Difficulty, Outcome, Practice, difficulty_of, practice_folders
from lab2048.arena.review.grade import FAULTS
from lab2048.errors import BoardError, UnknownNameError, UsageError
from lab2048.records.store import Store
from lab2048.rules.shape import FREE
from lab2048.solver.endgame.compact_table import compact
from lab2048.solver.endgame.formation import Formation
from lab2048.solver.memory import Memory
from lab2048.solver.solve import Solve
from lab2048.solver.workers import Workers

TRAP = "A A A A / A A A A / 4 32 16 8 / 4 # # 2"  # up merges the fours, and is a mistake
LEFT, UP, RIGHT, DOWN = 3, 0, 1, 2


@pytest.fixture(scope="module")
def practice() -> Practice:
    return Practice.open("snake8-64")


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Store]:
    with Store.open(tmp_path / "games.sqlite") as opened:
        yield opened


def rng(seed: int = 1) -> np.random.Generator:
    return np.random.default_rng(seed)


def test_the_tables_that_ship_can_be_practised() -> None:
    shipped = [f"{family}-{goal}" for family in ("snake8", "pdf8") for goal in (64, 128, 256)]
    assert list(practice_folders())[:6] == shipped
    assert Practice.open("pdf8-64").rules == Formation.from_name("pdf8-64").rules


def test_what_is_not_built_is_said_with_its_command() -> None:
    with pytest.raises(UsageError, match="L3-512 is not built yet") as caught:
        Practice.open("L3-512")
    assert caught.value.hint == "lab2048 endgame build L3-512"
    with pytest.raises(UnknownNameError, match="unknown formation 'nonsense'"):
        Practice.open("nonsense")


@pytest.mark.parametrize("level", [Difficulty.EASY, Difficulty.MEDIUM, Difficulty.HARD])
@pytest.mark.parametrize("name", ["snake8-64", "pdf8-128"])
def test_positions_have_the_difficulty_that_was_chosen(name: str, level: Difficulty) -> None:
    found = Practice.open(name)
    for seed in range(5):
        assert difficulty_of(found.rate(found.draw(level, rng(seed)).board)) is level


def test_free_large_tiles_are_practised_from_any_arrangement(
    tmp_path: Path, store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path))
    folder = tmp_path / "lab2048" / "endgames" / "mine"
    with Workers(1) as workers:
        problem = Formation.from_text("FFF|###|###", 32).problem
        compact(Solve(problem, folder, workers, Memory(2**28), is_kept=False).run())
    practice = Practice.open("mine")
    starts = [practice.draw(Difficulty.START, rng(seed)).board for seed in range(20)]
    assert all(board.ranks.count(FREE) == 3 and board.n_empty == 4 for board in starts)
    assert len({tuple(rank == FREE for rank in board.ranks) for board in starts}) > 5
    board = practice.draw(Difficulty.MEDIUM, rng()).board
    moves = practice.rate(board)
    made = practice.make(practice.read(board.to_text()), moves[0].move, store=store, rng=rng())
    assert made.is_good


def test_a_position_is_a_function_of_the_seed(practice: Practice) -> None:
    assert practice.draw(Difficulty.HARD, rng(7)) == practice.draw(Difficulty.HARD, rng(7))


def test_rates_are_those_of_the_table(practice: Practice) -> None:
    board = practice.read(TRAP)
    rates = {each.move: each.value.value for each in practice.rate(board)}
    assert rates == {each.move: each.value for each in practice.table.move_values(board)}
    assert [each.move for each in practice.rate(board)] == [LEFT, UP, RIGHT]
    assert difficulty_of(practice.rate(board)) is Difficulty.HARD


def test_a_mistake_goes_into_the_notebook_and_returns(practice: Practice, store: Store) -> None:
    made = practice.make(practice.read(TRAP), UP, store=store, rng=rng())
    assert not made.is_good
    assert made.is_noted
    assert made.chosen.grade in FAULTS
    assert practice.returning(store) is None  # only after a minute
    found = store.due_mistake("snake8-64", datetime.now(UTC) + timedelta(minutes=2))
    assert found is not None
    assert found.board == TRAP
    assert practice.figures(store).n_mistakes == 1
    practice.make(practice.read(TRAP), LEFT, store=store, rng=rng(), puzzle=found)
    assert store.puzzle(found.id).streak == 1
    assert practice.figures(store)[:2] == (2, 1)
    with pytest.raises(UsageError, match="is not this position"):
        practice.make(practice.read("AAAA|AAAA|##2#|2###"), LEFT, store=store, rng=rng(), puzzle=found)


def test_the_worst_spawner_gives_the_lowest_rate(practice: Practice, store: Store) -> None:
    board = practice.read(TRAP)
    made = practice.make(board, LEFT, store=store, rng=rng(), worst=1.0)
    rates = {
        (each.cell, each.rank): practice.table.state_value(made.chosen.value.after.put(each.cell, each.rank))[0]
        for each in practice.rules.spawns(made.chosen.value.after)
    }
    assert made.spawn is not None
    assert rates[made.spawn] == min(rates.values()) < max(rates.values())
    fair = {practice.make(board, LEFT, store=store, rng=rng(seed)).spawn for seed in range(60)}
    assert len(fair) > 1


def test_the_best_moves_win_as_often_as_the_table_says(practice: Practice, store: Store) -> None:
    n_won = 0
    dice = rng(5)
    for _ in range(40):
        board = practice.draw(Difficulty.START, dice).board
        outcome = None
        while outcome is None:
            made = practice.make(board, practice.rate(board)[0].move, store=store, rng=dice)
            board, outcome = made.board, made.outcome
        n_won += outcome is Outcome.WON
    assert 34 <= n_won <= 40  # 0.976
    assert practice.figures(store).n_won == n_won


@pytest.mark.parametrize(
    ("board", "complaint"),
    [("2x2", "is no position of snake8-64"), ("AAAA|AAAA|8888|8888", "is not in the table"), ("junk", "junk")],
)
def test_other_boards_are_refused(practice: Practice, board: str, complaint: str) -> None:
    with pytest.raises(BoardError, match=complaint):
        practice.read(board)


def test_an_illegal_move_is_refused(practice: Practice, store: Store) -> None:
    with pytest.raises(UsageError, match="move 2 is illegal here: expected one of left, up, right"):
        practice.make(practice.read(TRAP), DOWN, store=store, rng=rng())
    assert practice.figures(store).n_moves == 0


def test_a_goal_on_a_wrong_cell_is_lost(practice: Practice, store: Store) -> None:
    for seed in range(200):
        dice = rng(seed)
        board = practice.draw(Difficulty.EASY, dice).board
        made = practice.make(board, practice.rate(board)[-1].move, store=store, rng=dice)
        while made.outcome is None:
            moves = practice.rate(made.board)
            wrong = [each.move for each in moves if max(each.value.after.ranks) == practice.rules.goal_rank]
            made = practice.make(made.board, (wrong or [moves[0].move])[0], store=store, rng=dice)
        if made.outcome is Outcome.MISPLACED:
            break
    assert (made.outcome, made.spawn, made.chosen.value.value) == (Outcome.MISPLACED, None, 0.0)
