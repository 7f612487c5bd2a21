"""Rules: what the command line takes, as data and back."""

import pytest
from hypothesis import given
from strategies import PACKED, WIDE
from strategies import rules as any_rules

from lab2048.errors import BoardError, LabError, UsageError
from lab2048.rules import Rules, Spawner


@given(any_rules(PACKED + WIDE))
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
        ({"spawn": "3:1"}, UsageError, "'3:1' is not understood"),
        ({"spawn": "2"}, UsageError, "'2' is not understood"),
        ({"spawn": ""}, UsageError, "not understood"),
        ({"spawn": "2:-1,4:2"}, UsageError, "expected a probability"),
        ({"spawn": "2:nan"}, UsageError, "expected a probability"),
        ({"spawn": "2:inf"}, UsageError, "expected a probability"),
        ({"spawn": "2:0.5,2:0.5"}, UsageError, "each named once"),
        ({"goal": 2047}, UsageError, "goal 2047 is no tile"),
        ({"goal": 0}, UsageError, "goal 0 is no tile"),
        ({"goal": 2**40}, UsageError, "is no tile"),
        ({"start": 17}, UsageError, "start 17 is out of range: the board has 16 empty cells"),
        ({"start": -1}, UsageError, "out of range"),
        ({"start": 0}, BoardError, "no move is possible"),
        ({"spawner": "wrst"}, UsageError, "did you mean worst?"),
    ],
)
def test_wrong_options_are_refused(options: dict[str, object], kind: type[LabError], says: str) -> None:
    with pytest.raises(kind) as caught:
        Rules.from_text("4x4", **options)  # type: ignore[arg-type]
    assert says in str(caught.value)


def test_a_full_board_without_moves_is_refused() -> None:
    with pytest.raises(BoardError, match="no move is possible on 24"):
        Rules.from_text("24|42")


@pytest.mark.parametrize("data", [None, [], {}, {"board": "4x4"}, {**Rules.from_text("4x4").to_json(), "goal": "2048"}])
def test_foreign_data_is_refused(data: object) -> None:
    with pytest.raises(BoardError):
        Rules.from_json(data)


def test_the_highest_tile_of_the_classic_board_is_131072() -> None:
    assert Rules.from_text("4x4").max_rank == 17


def test_the_first_spawner_is_no_chance_at_all() -> None:
    rules = Rules.from_text("2x2", spawner="first")
    assert rules.spawner is Spawner.FIRST
    assert rules.spawn(rules.board, word=123) == (0, 1)
