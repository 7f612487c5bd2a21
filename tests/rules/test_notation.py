"""Boards as text: round trips, and a clear line for whatever is no board."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from strategies import FREE_PACKED, FREE_WIDE, PACKED, WIDE, boards

from lab2048.errors import BoardError, UsageError
from lab2048.rules import Board, Move, Rules
from lab2048.rules.notation import read_board


@given(boards(PACKED + WIDE + FREE_PACKED + FREE_WIDE, max_rank=54))  # 64 tiles of 2^54 are as rich as a board may be
def test_every_board_round_trips(board: Board) -> None:
    assert Board.from_text(board.to_text()) == board


@pytest.mark.parametrize("tile", [2**31, 2**40, 2**59])
def test_what_can_be_played_can_be_read(tile: int) -> None:
    board = Board.from_text(f"{tile} {tile} / # #").slide(Move.LEFT).board
    assert board.max_tile == 2 * tile
    assert Board.from_text(board.to_text()) == board


@pytest.mark.parametrize("options", [{"goal": 2**32}, {"spawn": f"{2**32}:1"}])
def test_goals_and_spawns_stay_within_reason(options: dict[str, Any]) -> None:
    with pytest.raises(UsageError, match="expected"):
        Rules.from_text("4x4", **options)


@given(boards(PACKED + FREE_PACKED, max_rank=15))
def test_every_packed_board_round_trips(board: Board) -> None:
    assert Board.from_packed(board.shape, board.to_packed()) == board


@pytest.mark.parametrize(
    ("text", "same"),
    [
        ("2 2 . . / . . . .", "22##|####"),
        ("22..|....", "22##|####"),
        ("22##/####", "22##|####"),
        ("22##\n####\n", "22##|####"),
        ("  22## | ####  ", "22##|####"),
        ("22##|####|", "22##|####"),
        ("0 2 / 0 4", "#2|#4"),
        ("####|####", "2x4"),
        ("4X4", "4x4"),
        ("HEX2", "hex2"),
        ("hex1:##|###|##", "hex1"),
        ("2 1024 # x / # # # #", "2 1024 # x / # # # #"),
        ("#X|##", "#x|##"),
        ("1b00000000000002", "2 2048 # # / # # # # / # # # # / # # # 4"),
        ("0x1b00000000000002", "2 2048 # # / # # # # / # # # # / # # # 4"),
        ("G000000000000001", "65536 # # # / # # # # / # # # # / # # # 2"),
        ("2 x 4 4", "2 x 4 4"),  # 2x44 would be a size
        ("2,1024,,x\n0,0,.,#", "2 1024 # x / # # # #"),  # CSV
        ("2, 4 / 8, 16", "2 4 / 8 16"),
        ("0 2 4 8 16 2 4 8 0 0 0 0 0 0 0 2", "# 2 4 8 / 16 2 4 8 / # # # # / # # # 2"),  # sixteen tiles
        ("1 11 0 0 0 0 0 0 0 0 0 0 0 0 0 2", "2 2048 # # / # # # # / # # # # / # # # 4"),  # sixteen ranks
        ("1,11,0,0,0,0,0,0,0,0,0,0,0,0,0,2", "2 2048 # # / # # # # / # # # # / # # # 4"),
        ("[0,2,4,8,16,2,4,8,null,0,0,0,0,0,0,2]", "# 2 4 8 / 16 2 4 8 / # # # # / # # # 2"),
        ("[1,11,0,0,0,0,0,0,0,0,0,0,0,0,0,2]", "2 2048 # # / # # # # / # # # # / # # # 4"),
        ("\t2\t4\n16\t\t8\n", "# 2 4 / 16 # 8"),  # cells of a spreadsheet, two of them empty
        ("2\t4\n16\t8", "2 4 / 16 8"),
    ],
)
def test_ways_to_write_the_same_board(text: str, same: str) -> None:
    assert Board.from_text(text).to_text() == same


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("", "the board is empty"),
        ("   ", "the board is empty"),
        ("0", "board '0' is not understood: expected a size such as 4x4"),
        ("4", "board '4' is not understood: did you mean 4x4?"),
        ("4x", "board '4x' is not understood: did you mean 4x4?"),
        ("3xx3", "did you mean 3x3?"),
        ("4*4", "did you mean 4x4?"),
        ("4 x 5", "did you mean 4x5?"),
        ("3by4", "did you mean 3x4?"),
        ("4y4", "did you mean 4x4?"),
        ("hexx2", "did you mean hex2?"),
        ("hexagon-3", "did you mean hex3?"),
        ("classic", "did you mean 4x4?"),
        ("9*9", "board '9*9' is not understood: expected a size such as 4x4, hex2 or tri3, or a map such as ####|#xx#"),
        ("oops", "board 'oops' is not understood: expected a size"),
        ("|||", "the board is empty"),
        ("####|###|####", "row 2 of the board has 3 cells: expected 4"),
        ("####||####", "row 2 of the board has 0 cells"),
        ("##q#|####", "row 1, entry 3: unknown tile 'q'"),
        ("2 3 # # / # # # #", "row 1, entry 2: 3 is not a tile"),
        ("2 1 # #", "row 1, entry 2: 1 is not a tile"),
        (
            "2 2305843009213693952 # #",
            "2305843009213693952 is not a tile: expected a power of two from 2 to 1152921504606",
        ),
        (
            "2 1152921504606846976 # #",
            "the tiles of the board sum to 1152921504606846978: expected at most 11529215046068",
        ),
        ("2 99999999999999999999 # #", "unknown tile"),
        ("2 -4 # #", "unknown tile '-4'"),
        ("2 ² # #", "unknown tile"),
        ("9x9", "board 9x9 is out of range: expected 1x2 to 8x8"),
        ("0x3", "out of range"),
        ("10000x10000", "board 10000x10000 is out of range"),
        ("hex5", "expected hex1 to hex4"),
        ("hex0", "expected hex1 to hex4"),
        ("hex1:##|##|##", "the columns have 2, 2, 2 cells: expected 2, 3, 2"),
        ("hex9:##", "expected hex1 to hex4"),
        ("#########", "expected at most 8x8"),
        ("xx|xx", "no two cells of the map are neighbours"),
        ("#x|x#", "no two cells of the map are neighbours"),
        ("#", "no two cells"),
        ("#" * 5000, "expected at most 2000"),
    ],
)
def test_what_is_no_board_is_refused_in_one_line(text: str, says: str) -> None:
    with pytest.raises(BoardError) as caught:
        Board.from_text(text)
    assert says in str(caught.value)
    assert "\n" not in str(caught.value)


@given(st.text(max_size=60))
def test_no_text_breaks_the_reader(text: str) -> None:
    try:
        shape, ranks = read_board(text)
    except BoardError:
        return
    assert len(ranks) == shape.n_cells


@given(st.text(alphabet="#x248 |/.0hex:1\n", max_size=60))
def test_no_map_breaks_the_reader(text: str) -> None:
    try:
        shape, ranks = read_board(text)
    except BoardError:
        return
    assert Board.from_text(Board(shape, ranks).to_text()) == Board(shape, ranks)
