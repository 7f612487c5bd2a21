"""Evaluators in Python: a function of a line, which the compiled search looks up."""

from collections.abc import Callable
from itertools import groupby, pairwise
from pathlib import Path

import pytest
from hypothesis import given, settings
from kernels.test_search import plain_rules
from strategies import boards

import lab2048 as lab
from lab2048.errors import PlayerError, UsageError
from lab2048.players.evaluator import TERMS, Evaluator, make_evaluator
from lab2048.players.registry import LineFunction
from lab2048.players.searcher import Searcher
from lab2048.rules import Board, Rules

Line = tuple[int, ...]
ROWS = make_evaluator("rows")


def rows_in_python(n_axes: int) -> Callable[[Line], float]:
    """The evaluator `rows` as a user would write it; a cell is in one line of each axis."""
    weight = dict(zip(TERMS, ROWS.terms, strict=True))

    def value(line: Line) -> float:
        tiles = [rank for rank in line if rank]
        cells = weight["empty"] * line.count(0) + weight["sum"] * sum(rank ** weight["sum_power"] for rank in tiles)
        runs = [len(list(run)) for _, run in groupby(tiles)]
        heights = [rank ** weight["monotone_power"] if rank else 0.0 for rank in line]
        rise = sum(max(0.0, b - a) for a, b in pairwise(heights))
        fall = sum(max(0.0, a - b) for a, b in pairwise(heights))
        order = weight["merges"] * sum(run for run in runs if run > 1) + weight["monotone"] * min(rise, fall)
        return cells / n_axes + weight["base"] + order

    return value


def of_function(value: Callable[[Line], float], lost: float | None = None, margin: float | None = None) -> Evaluator:
    function = LineFunction("mine", value, lost, margin)
    return Evaluator("mine", "", (0.0,) * len(TERMS), lost, margin=margin, function=function)


# One each, because every function fills its tables once.
PYTHON = {n_axes: of_function(rows_in_python(n_axes), ROWS.lost, ROWS.margin) for n_axes in (2, 3)}


@settings(max_examples=30)
@given(boards(("4x4", "3x3", "2x3", "##x|#x#|###", "hex1", "tri3"), max_rank=13))
def test_rows_in_python_is_rows(board: Board) -> None:
    if not board.legal_moves():
        return
    rules, evaluator = plain_rules(board), PYTHON[len(board.shape.moves) // 2]
    assert evaluator.value(board, rules) == pytest.approx(ROWS.value(board, rules), rel=1e-12)
    found, expected = (Searcher(rules, each, cut=None).root_values(board, 3) for each in (evaluator, ROWS))
    assert found == pytest.approx(expected, rel=1e-6)


def sided(line: Line) -> float:
    """Cheap, because lines of five cells take a million calls; and not the same in both directions."""
    return float(line[0] - 3 * line[-1])


SIDED = of_function(sided, lost=-1.0)


@given(boards(("3x5", "4x5", "hex2", "4x4", "hex1"), max_rank=12))
def test_lines_run_from_the_first_cell_to_the_last_on_every_board(board: Board) -> None:
    if not board.legal_moves():
        return
    rules = plain_rules(board)
    values = Searcher(rules, SIDED).root_values(board, 1)
    for move, (after, _) in board.slides():
        shape = board.shape
        lines = [line for along in shape.lines[: len(shape.moves) // 2] for line in along]
        ends = [(min(line[0], line[-1]), max(line[0], line[-1])) for line in lines]
        assert values[move] == sum(after.ranks[a] - 3 * after.ranks[b] for a, b in ends)


@pytest.mark.usefixtures("own_registry")
def test_players_search_with_it(tmp_path: Path) -> None:
    path = tmp_path / "room.py"
    path.write_text("import lab2048 as lab\nlab.register_evaluator('room', lambda line: line.count(0), lost=-9)\n")
    lab.load_player_file(path)
    board = "2 2 4 / # # #"
    for spec in ("greedy:eval=room", "lookahead:eval=room,end=spawn", "expectimax:eval=room,depth=2"):
        assert lab.player(spec).ask(board).values
        lab.check_player(spec)
    assert lab.player("greedy:eval=room").ask(board).values[lab.Move.LEFT] == 8
    result = lab.match(["expectimax:depth=2,eval=room", "random"], rules="3x3", games=5, workers=2)
    assert result.mean("expectimax:depth=2,eval=room") > result.mean("random")


@pytest.mark.usefixtures("own_registry")
@pytest.mark.parametrize(
    ("value", "says"),
    [
        (lambda line: 1 / (line[0] - 5), r"fails on the line \(5, 0\): .*line \d+: ZeroDivisionError"),
        (lambda line: "much" if line == (3, 4) else 1.0, r"fails on the line \(3, 4\): .*ValueError"),
        (
            lambda line: float("nan") if line == (0, 0) else 0.0,
            r"values the line \(0, 0\) with nan: expected a finite number",
        ),
        (lambda line: 1e38 * line[1], r"values the line \(0, 1\) with 1e\+38: expected a finite number"),
    ],
)
def test_an_error_names_the_line(value: Callable[[Line], float], says: str) -> None:
    lab.register_evaluator("mine", value)
    with pytest.raises(PlayerError, match=rf"evaluator mine {says}"):
        lab.player("greedy:eval=mine").ask("2 2 / # #")


@pytest.mark.usefixtures("own_registry")
def test_names_are_checked() -> None:
    with pytest.raises(UsageError, match="evaluator name 'rows' is taken"):
        lab.register_evaluator("rows", sum)
    with pytest.raises(UsageError, match="evaluator name 'My Own' is not understood"):
        lab.register_evaluator("My Own", sum)
    with pytest.raises(UsageError, match="expected a function of a line"):
        lab.register_evaluator("mine", 3)  # type: ignore[arg-type]
    lab.register_evaluator("mine", sum)
    with pytest.raises(UsageError, match=r"unknown evaluator 'min': did you mean mine\?"):
        make_evaluator("min")


@pytest.mark.usefixtures("own_registry")
def test_long_lines_are_refused_in_one_line() -> None:
    lab.register_evaluator("mine", sum)
    with pytest.raises(UsageError, match="6x6 has lines of 6 cells: expected at most 5"):
        lab.player("expectimax:eval=mine").prepare(Rules.from_text("6x6"))


@pytest.mark.usefixtures("own_registry")
def test_a_new_function_of_the_same_name_replaces_the_old_one() -> None:
    for factor in (1, 2):
        lab.register_evaluator("mine", lambda line, factor=factor: factor * line.count(0))
        assert lab.player("greedy:eval=mine").ask("2 2 4 / # # #").values[lab.Move.LEFT] == 8 * factor


@pytest.mark.usefixtures("own_registry")
def test_a_function_cannot_be_tuned() -> None:
    lab.register_evaluator("mine", sum)
    with pytest.raises(UsageError, match="evaluator mine is a function and has no weights to tune"):
        lab.tune("mine", rules="2x2", games=10, trials=10)
