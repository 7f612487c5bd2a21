"""The triangular board: added in rules/ alone, it plays wherever a shape is played."""

import pytest

from lab2048.arena.episode import play_episode
from lab2048.cli.app import run
from lab2048.envs.render import draw_board
from lab2048.errors import BoardError
from lab2048.players import make_player
from lab2048.rules import Board, Game, Rules, TriangleMove, triangle
from lab2048.rules.drawing import draw_svg
from lab2048.rules.kind import KINDS, Kind
from lab2048.views.text import render
from lab2048.views.tui.palette import Palette
from lab2048.views.tui.widgets.facts import move_keys, play_help
from lab2048.views.tui.widgets.picture import Picture, fitting
from lab2048.views.web.serialize.game import shape_data


def test_lines_follow_the_strips_along_the_three_sides() -> None:
    #        0
    #      1 2 3         2, 5 and 7 stand on a tip
    #    4 5 6 7 8
    lines = triangle(3).lines
    assert lines[TriangleMove.RIGHT] == ((0,), (3, 2, 1), (8, 7, 6, 5, 4))
    assert lines[TriangleMove.UP_RIGHT] == ((0, 2, 1, 5, 4), (3, 7, 6), (8,))
    assert lines[TriangleMove.UP_LEFT] == ((0, 2, 3, 7, 8), (1, 5, 6), (4,))
    for move in TriangleMove:
        back = lines[(move + 3) % 6]
        assert {line[::-1] for line in lines[move]} == set(back)


@pytest.mark.parametrize("side", range(2, 9))
def test_a_triangle_has_the_square_of_its_side_as_cells_and_six_symmetries(side: int) -> None:
    shape = triangle(side)
    assert (shape.n_cells, len(shape.symmetries)) == (side**2, 6)
    assert {len(outline) for row in shape.outlines for outline in row} == {3}


def test_six_triangles_around_a_point_turn_by_sixty_degrees() -> None:
    assert len(Board.from_text("tri3:x|###|x###x").shape.symmetries) == 12


@pytest.mark.parametrize("text", ["tri3", "tri2:#|#2x", "tri3:2 / # 1024 # / # # x # 4"])
def test_text_is_read_as_it_was_written(text: str) -> None:
    assert Board.from_text(text).to_text() == text


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("tri1", "expected tri2 to tri8"),
        ("tri9", "expected tri2 to tri8"),
        ("triangle4", "did you mean tri4?"),
        ("tri2:#|##", "the rows have 1, 2 cells: expected 1, 3"),
    ],
)
def test_what_is_no_triangle_is_refused(text: str, message: str) -> None:
    with pytest.raises(BoardError) as caught:
        Board.from_text(text)
    assert message in str(caught.value)


def test_tiles_merge_around_a_tip() -> None:
    after, reward = Board.from_text("tri2:2|#2#").slide(TriangleMove.UP_RIGHT)
    assert (after.to_text(), reward) == ("tri2:4|###", 4)


def test_a_row_of_text_for_every_half_of_a_cell() -> None:
    assert render(Board.from_text("tri2:2|4 . 8"), columns=9).split("\n") == ["     2", "", "     .", "  4     8"]


def test_every_player_of_the_terminal_can_press_its_keys(capsys: pytest.CaptureFixture[str]) -> None:
    keys = move_keys(triangle(3))
    assert [keys[key] for key in "edczaq"] == list(TriangleMove)
    assert (keys["left"], keys["right"]) == (TriangleMove.LEFT, TriangleMove.RIGHT)
    assert "up" not in keys
    assert play_help(triangle(3))[0] == ("q e / a d / z c", "move")
    assert run(["perft", "tri2", "1"]) == 0
    assert capsys.readouterr().out


@pytest.mark.parametrize("side", range(2, 9))
def test_the_full_screen_shows_every_cell(side: int) -> None:
    board = Board(triangle(side), (1,) * side**2)
    density = fitting(board.shape, 120, 50)
    assert density is not None
    shown = "\n".join("".join(piece.text for piece in line) for line in Picture(board, density, Palette()).lines)
    assert shown.count("2") == side**2 or density.columns >= 18


def test_the_page_gets_outlines_and_directions() -> None:
    data = shape_data(Board.from_text("tri3"))
    assert (data.kind, data.boxed, len(data.outlines), len(data.entries)) == ("triangles", False, 2, 9)
    assert [move.letter for move in data.moves] == list("edczaq")
    assert data.moves[TriangleMove.RIGHT].angle == 0
    assert data.width == pytest.approx(3 * 3**0.5)
    assert data.height == pytest.approx(4.5)


def test_an_environment_draws_it() -> None:
    assert draw_board(Board.from_text("tri3:2|#4#|#####")).ndim == 3


@pytest.mark.parametrize("spec", ["random", "greedy", "expectimax:depth=1", "montecarlo:rollouts=2,limit=5"])
def test_players_play_it(spec: str) -> None:
    rules = Rules.from_text("tri3", goal=64)
    episode = play_episode(make_player(spec), spec, rules, 1)
    game = Game(rules, 1)
    game.replay(episode.moves)
    assert game.is_over
    assert set(episode.moves) <= set("edczaq")


def test_a_picture_has_one_frame_with_round_corners_behind_its_cells() -> None:
    picture = draw_svg(triangle(3), (0,) * 9, "empty")
    assert picture.count("<polygon") == 9
    assert picture.count("stroke=") == picture.count('stroke-linejoin="round"') == picture.count("<path") == 1
    assert picture.index("<path") < picture.index("<polygon")


@pytest.mark.parametrize("kind", KINDS)
def test_the_boards_that_views_offer_are_of_their_kind(kind: Kind) -> None:
    for board, label in kind.presets.items():
        shape = Board.from_text(board).shape
        assert shape.kind == kind.cells
        if kind.prefix:
            assert label == f"{shape.n_cells} {kind.cells}"
