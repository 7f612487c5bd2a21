"""Rules: what the command line takes, as data and back."""

import numpy as np
import pytest
from hypothesis import given
from strategies import FREE_PACKED, FREE_WIDE, PACKED, WIDE
from strategies import rules as any_rules

from lab2048.errors import BoardError, LabError, UsageError
from lab2048.kernels.board.layout import SPAWN_SIZE
from lab2048.rules import Board, Rules, Spawner
from lab2048.rules.kind import SQUARES, make_shape
from lab2048.rules.rules import MAX_SPAWN_TILES


@given(any_rules(PACKED + WIDE + FREE_PACKED + FREE_WIDE))
def test_rules_round_trip(rules: Rules) -> None:
    assert Rules.from_json(rules.to_json()) == rules


def test_a_map_with_tiles_brings_its_own_start() -> None:
    assert Rules.from_text("4x4").n_start == 2
    assert Rules.from_text("22##|####").n_start == 0
    assert Rules.from_text("22##|####", start=1).n_start == 1


@pytest.mark.parametrize(
    ("options", "kind", "says"),
    [
        ({"spawn": "2:0.9,4:0.2"}, UsageError, "sum to 1.1: expected 1"),
        ({"spawn": "2:0.5"}, UsageError, "sum to 0.5"),
        ({"spawn": "3:1"}, UsageError, "spawn '3:1': 3 is not a tile: expected a power of two"),
        ({"spawn": "2:\u0660.\u0669,4:\u0660.\u0661"}, UsageError, "not understood"),
        ({"spawn": "\u0662:1"}, UsageError, "not understood"),
        ({"spawn": "x:1"}, UsageError, "'x:1' is not understood"),
        ({"spawn": "2:one"}, UsageError, "'2:one' is not understood"),
        ({"spawn": "2"}, UsageError, "'2' is not understood"),
        ({"spawn": ""}, UsageError, "not understood"),
        ({"spawn": "2:-1,4:2"}, UsageError, "expected a probability"),
        ({"spawn": "2:nan"}, UsageError, "expected a probability"),
        ({"spawn": "2:inf"}, UsageError, "expected a probability"),
        ({"spawn": "2:0.5,2:0.5"}, UsageError, "each named once"),
        ({"goal": 2047}, UsageError, "goal 2047 is not a tile"),
        ({"goal": 0}, UsageError, "goal 0 is not a tile"),
        ({"goal": 2**40}, UsageError, "is not a tile"),
        ({"start": 17}, UsageError, "start 17 is out of range: expected 0 to 16"),
        ({"start": -1}, UsageError, "start -1 is out of range: expected 0 to 16"),
        ({"start": 0}, BoardError, "no move is possible"),
        ({"spawner": "wrst"}, UsageError, "did you mean worst?"),
    ],
)
def test_wrong_options_are_refused(options: dict[str, object], kind: type[LabError], says: str) -> None:
    with pytest.raises(kind) as caught:
        Rules.from_text("4x4", **options)  # type: ignore[arg-type]
    assert says in str(caught.value)


SQUARE = Board.from_text("2x2")
LARGE = make_shape(SQUARES, ((False,) * 9,) * 9)


@pytest.mark.parametrize(
    ("fields", "says"),
    [
        ({"spawn_table": tuple((rank, 0.05) for rank in range(1, 21))}, "table of 20 tiles: expected 1 to 16"),
        ({"spawn_table": ()}, "table of 0 tiles"),
        ({"spawn_table": ((1, 0.5), (1, 0.5))}, "each named once"),
        ({"spawn_table": ((200, 1.0),)}, "rank 200"),
        ({"spawn_table": ((0, 1.0),)}, "rank 0"),
        ({"spawn_table": ((-1, 1.0),)}, "rank -1"),
        ({"spawn_table": ((1.5, 1.0),)}, "rank 1.5"),
        ({"spawn_table": ((1, 2.0), (2, -1.0))}, "probability 2.0"),
        ({"spawn_table": ((1, float("nan")),)}, "probability nan"),
        ({"spawn_table": ((1, 0.5), (2, 0.4))}, "sum to 0.9"),
        ({"board": Board(SQUARE.shape, (1,) * 6)}, "6 ranks on 4 cells"),
        ({"board": Board(LARGE, (0,) * 81)}, "at most 64"),
        ({"board": Board(SQUARE.shape, (62, 62, 0, 0))}, "rank 62"),
        ({"board": Board(SQUARE.shape, (60, 60, 0, 0))}, "sum to"),
        ({"board": Board(SQUARE.shape, (-1, 1, 0, 0))}, "rank -1"),
        ({"board": Board(SQUARE.shape, (0.5, 1, 0, 0))}, "rank 0.5"),  # type: ignore[arg-type]
        ({"board": Board(SQUARE.shape, (10**12, 1, 0, 0))}, "out of range"),
        ({"goal_rank": 1}, "goal rank 1"),
        ({"goal_rank": 63}, "goal rank 63"),
        ({"goal_rank": 11.0}, "goal rank 11.0"),
        ({"n_start": 5}, "start 5"),
        ({"n_start": -1}, "start -1"),
        ({"n_start": 2.0}, "start 2.0"),
        ({"n_start": 0}, "no move is possible"),
        ({"spawner": "worst"}, "spawner 'worst'"),
        ({"stop_at_goal": 1}, "stop_at_goal is 1"),
        ({"stop_at_goal": True, "board": Board(SQUARE.shape, (11, 0, 0, 0))}, "the goal 2048 is already on"),
    ],
)
def test_rules_made_by_hand_are_checked_too(fields: dict[str, object], says: str) -> None:
    with pytest.raises(LabError) as caught:
        Rules(**{"board": SQUARE, **fields})  # type: ignore[arg-type]
    assert says in str(caught.value)


def test_the_longest_spawn_table_fits_the_plan() -> None:
    assert MAX_SPAWN_TILES <= SPAWN_SIZE


@pytest.mark.parametrize("p", [1, np.float64(1)])
def test_equal_rules_have_equal_texts(p: float) -> None:
    assert Rules(SQUARE, ((1, p),)).json_text == Rules(SQUARE, ((1, 1.0),)).json_text


def test_rules_that_stop_at_the_goal_are_written_and_others_as_before() -> None:
    stopping = Rules.from_text("2x2", stop_at_goal=True)
    assert Rules.from_json(stopping.to_json()) == stopping
    assert "stop_at_goal" not in Rules.from_text("2x2").to_json()


def test_a_full_board_without_moves_is_refused() -> None:
    with pytest.raises(BoardError, match="no move is possible on 24"):
        Rules.from_text("24|42")


@pytest.mark.parametrize("data", [None, [], {}, {"board": "4x4"}, {**Rules.from_text("4x4").to_json(), "goal": "2048"}])
def test_foreign_data_is_refused(data: object) -> None:
    with pytest.raises(BoardError):
        Rules.from_json(data)


@pytest.mark.parametrize(
    "text", ["0 0 / 0 0", "0,0|0,0", "[[0, 0], [0, 0]]", 16 * "0", "0x" + 16 * "0", "hex1:00|000|00"]
)
def test_a_position_needs_a_tile(text: str) -> None:
    with pytest.raises(BoardError, match=r"^the position has no tiles: expected at least one"):
        Rules.from_text(text)
    assert Rules.from_text(text, start=1).n_start == 1


def test_a_map_needs_none() -> None:
    assert Rules.from_text("##|#x").n_start == Rules.from_text(". . / . .").n_start == 2


def test_the_highest_tile_of_the_classic_board_is_131072() -> None:
    assert Rules.from_text("4x4").max_rank == 17


def test_the_first_spawner_is_no_chance_at_all() -> None:
    rules = Rules.from_text("2x2", spawner="first")
    assert rules.spawner is Spawner.FIRST
    assert rules.spawn(rules.board, word=123) == (0, 1)
