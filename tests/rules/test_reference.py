"""The rules as a player knows them."""

import pytest

from lab2048.rules import Board, Move, reference


def ranks(text: str) -> tuple[int, ...]:
    return Board.from_text(text).ranks


@pytest.mark.parametrize(
    ("before", "after", "reward"),
    [
        ("2 # # #", "2 # # #", 0),
        ("# # # 2", "2 # # #", 0),
        ("2 2 # #", "4 # # #", 4),
        ("2 # # 2", "4 # # #", 4),
        ("2 2 2 #", "4 2 # #", 4),  # the pair nearest to the wall merges
        ("2 2 2 2", "4 4 # #", 8),
        ("4 2 2 #", "4 4 # #", 4),  # a tile made by this slide does not merge again
        ("2 2 4 8", "4 4 8 #", 4),
        ("2 4 2 4", "2 4 2 4", 0),
        ("1024 1024 # #", "2048 # # #", 2048),
        ("32768 32768 # #", "65536 # # #", 65536),
        ("65536 # # 65536", "131072 # # #", 131072),
    ],
)
def test_slide_line(before: str, after: str, reward: int) -> None:
    assert reference.slide_line(ranks(before)) == (ranks(after), reward)


@pytest.mark.parametrize(
    ("move", "after"),
    [
        (Move.UP, "4 4 8 # / # # # # / # # # # / # # # #"),
        (Move.RIGHT, "# # 2 4 / # # # # / # # 2 8 / # # # #"),
        (Move.DOWN, "# # # # / # # # # / # # # # / 4 4 8 #"),
        (Move.LEFT, "2 4 # # / # # # # / 2 8 # # / # # # #"),
    ],
)
def test_each_move_slides_its_own_way(move: Move, after: str) -> None:
    board = Board.from_text("2 4 # # / # # # # / 2 # 8 # / # # # #")
    assert board.slide(move).board == Board.from_text(after)


def test_a_brick_splits_a_line() -> None:
    board = Board.from_text("2 x 2 2")
    assert board.slide(Move.LEFT).board.to_text() == "2x4#"
    assert board.slide(Move.RIGHT).board.to_text() == "2x#4"


def test_spawns_are_every_empty_cell_with_every_tile() -> None:
    found = reference.spawns(ranks("2 # # 4"), ((1, 0.9), (2, 0.1)))
    assert found == [(1, 1, 0.45), (1, 2, 0.05), (2, 1, 0.45), (2, 2, 0.05)]


def test_the_worst_spawn_ends_the_game_if_it_can() -> None:
    board = Board.from_text("2 4 / 4 #")
    cell, rank = reference.worst_spawn(board.ranks, ((1, 0.9), (2, 0.1)), board.shape.lines, board.shape.holding)
    assert (cell, rank) == (3, 1)
    assert not board.put(cell, rank).legal_moves()


def test_the_potential_is_the_score_of_building_a_board() -> None:
    assert reference.potential(ranks("2 2 # #")) == 0
    assert reference.potential(ranks("2048 # # #")) == 2048 * 10
