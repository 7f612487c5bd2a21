"""Free large tiles: as if different large tiles stood there, too large to merge with anything else."""

import pytest
from hypothesis import given
from strategies import FREE_PACKED, FREE_WIDE, boards

from lab2048.errors import BoardError, LabError, UsageError
from lab2048.rules import Board, Game, Move, Rules, reference
from lab2048.rules.kind import without_large
from lab2048.rules.motion import motions
from lab2048.rules.shape import ANCHOR, BRICK, FREE

FREED = (*FREE_PACKED, *FREE_WIDE)


@given(boards(FREED))
def test_a_free_large_tile_moves_like_a_tile_that_finds_no_equal(board: Board) -> None:
    """In place of each there is a tile of its own; in place of an anchor, too, and it must stay."""
    entries = [entry for row in board.shape.rows for entry in row if entry != BRICK]
    whole = without_large(board.shape)
    ranks = [60 + place if entry == ANCHOR else board.ranks[entry] for place, entry in enumerate(entries)]
    ranks = [200 + place if rank == FREE else rank for place, rank in enumerate(ranks)]
    anchors = [place for place, entry in enumerate(entries) if entry == ANCHOR]
    for move, lines in enumerate(whole.lines):
        slid, reward = reference.slide(tuple(ranks), lines)
        expected = board.ranks, 0
        if all(slid[place] == ranks[place] for place in anchors):
            places = (place for place, entry in enumerate(entries) if entry != ANCHOR)
            expected = tuple(FREE if slid[place] >= 200 else slid[place] for place in places), reward
        shape = board.shape
        assert reference.slide(board.ranks, shape.lines[move], shape.holding[move], FREE) == expected


@pytest.mark.parametrize(
    ("before", "after", "reward"),
    [
        ("F # F 2 2 / # # # # #", "F F 4 # # / # # # # #", 4),
        ("# F F # # / # # # # #", "F F # # # / # # # # #", 0),
        ("2 F 2 # # / # # # # #", None, 0),
        ("F F F F # / # # # # #", None, 0),
    ],
)
def test_a_row_slides_left(before: str, after: str | None, reward: int) -> None:
    slides = dict(Board(before).slides())
    assert slides.get(Move.LEFT) == (None if after is None else (Board(after), reward))


@pytest.mark.parametrize("text", [*FREED, "F 16 # / F F #", "hex1:F#|#F#|##", "AF#|A#F"])
def test_maps_are_read_as_they_are_written(text: str) -> None:
    rules = Rules.from_text(text)
    assert rules.board_text == text
    assert Rules.from_json(rules.to_json()) == rules
    assert Board(rules.board.to_text(spaced=True)) == rules.board
    assert Board.from_packed(rules.shape, 0).shape.n_free == text.count("F") == rules.board.ranks.count(FREE)


def test_it_counts_neither_as_a_tile_nor_as_the_goal() -> None:
    board = Board("F F 4 / 8 # F")
    assert (board.max_tile, board.tile_sum, board.tiles) == (8, 12, (0, 0, 4, 8, 0, 0))
    rules = Rules.from_text("F F # / # # F", goal=8)
    assert rules.n_start == 2
    assert not rules.is_won(rules.board)
    assert rules.is_won(board)
    goal_cells = Rules.from_text("F F G / # # F", goal=8)
    assert not goal_cells.is_won(Board("F F F / 8 # #"))
    assert goal_cells.is_won(Board("F F 8 / # # F"))


def test_boards_with_free_large_tiles_have_a_shape_of_their_own() -> None:
    shapes = {Board(text).shape for text in ("FF##|####", "F###|####", "2x4")}
    assert len(shapes) == 3
    assert Board("FF##|####").shape == Board("##F#|#F##").shape
    assert Board("F F # # / 2 # # #").shape.symmetries == Board("2x4").shape.symmetries


def test_a_game_scores_what_merges() -> None:
    game = Game(Rules.from_text("FFF|###|###"), seed=1)
    while not game.is_over:
        game.play(game.legal_moves()[0])
    spawned = sum(reference.potential((turn.spawn[1],)) for turn in game.turns)
    first = reference.potential(game.first_board.ranks)
    assert game.score == game.board.potential - first - spawned
    assert game.board.ranks.count(FREE) == 3


def test_the_picture_shows_them() -> None:
    assert str(Board("F 16 # / # 2 F")) == " F 16  .\n .  2  F"
    assert ">F</text>" in Board("F 16 # / # 2 F")._repr_html_()


def test_an_animation_merges_no_free_large_tiles() -> None:
    lines = ((0, 1, 2, 3),)
    assert [tuple(each) for each in motions((0, FREE, FREE, 1), lines, FREE)] == [
        (1, 0, False),
        (2, 1, False),
        (3, 2, False),
    ]


@pytest.mark.parametrize(
    ("make", "says"),
    [
        (lambda: Board("F # / # 32768"), "32768 stands beside free large tiles: expected tiles of at most 16384"),
        (
            lambda: Board.from_ranks([15, 15, 0, 0], "F#|##"),
            "rank 15 is a free large tile on F#|##: expected 1 of them",
        ),
        (lambda: Rules.from_text("F###|####|####|####"), "tiles above 16384 could be made beside the free large tiles"),
        (lambda: Rules.from_text("F F 16384 / # # #"), "tiles above 16384 could be made beside the free large tiles"),
        (lambda: Rules.from_text("FFF|###", goal=32768), "goal 32768 is too large beside free large tiles"),
        (lambda: Rules.from_text("FF#|###", null_moves=True), "boards with large tiles have no null moves"),
        (lambda: Rules.from_text("0 F / 0 0"), "the position has no tiles"),
        (lambda: Rules.from_text("FF|FF"), "expected 0 to 0, the number of empty cells|no move is possible"),
    ],
)
def test_what_makes_no_sense_is_one_line(make: object, says: str) -> None:
    assert callable(make)
    with pytest.raises(LabError, match=says.replace("|", r"\|") if "#|#" in says else says) as error:
        make()
    assert isinstance(error.value, BoardError | UsageError)
    assert "\n" not in str(error.value)
