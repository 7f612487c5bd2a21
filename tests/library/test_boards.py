"""Boards and games as Python users make them."""

import numpy as np
import pytest

import lab2048 as lab
from lab2048.errors import BoardError, IllegalMoveError, UsageError
from lab2048.rules.shape import BRICK

TEXT = "2 4 8 16 / # # 2 # / # # # # / # # # 2"


def test_a_board_is_made_of_text_tiles_or_ranks() -> None:
    board = lab.Board(TEXT)
    tiles = [[2, 4, 8, 16], [0, 0, 2, 0], [0, 0, 0, 0], [0, 0, 0, 2]]
    ranks = [1, 2, 3, 4, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0, 0, 1]
    for source in (tiles, np.array(tiles), np.array(tiles, float), tuple(map(tuple, tiles)), ranks, np.array(ranks)):
        assert lab.Board(source) == board
    assert lab.Board(str(tiles)) == lab.Board(str(ranks)) == lab.Board(board) == board
    assert lab.Board.from_ranks(np.array(ranks).reshape(4, 4)) == board
    assert eval(repr(board), {"Board": lab.Board}) == board


@pytest.mark.parametrize(
    ("source", "words"),
    [
        ([[1, 2], [3, 0]], "from_ranks"),
        ([[2, 4], [8]], "row 2"),
        ([[2, 6]], "6"),
        ([2, 4, 8], "16"),
        ([100] * 16, "exponents"),
        ([[2, 4], 8], "not lists"),
        (5, "expected text"),
        ("[[2, 4]", "not JSON"),
        ([], "ranks"),
        ([[]], "empty"),
    ],
)
def test_a_wrong_board_is_refused_in_one_line(source: object, words: str) -> None:
    with pytest.raises(BoardError, match=words) as caught:
        lab.Board(source)  # type: ignore[arg-type]
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize("text", ["4x4", TEXT, "hex2", "tri3", "##x|#2#", "2 131072 # / # # #"])
def test_a_board_draws_itself(text: str) -> None:
    import xml.dom.minidom

    board = lab.Board(text)
    n_bricks = sum(row.count(BRICK) for row in board.shape.rows)
    assert str(board).count("x") == n_bricks
    picture = xml.dom.minidom.parseString(board._repr_html_())
    n_entries = sum(len(row) for row in board.shape.rows)
    assert len(picture.getElementsByTagName("polygon")) == n_entries
    faces = sorted(node.firstChild.data for node in picture.getElementsByTagName("text"))  # type: ignore[union-attr]
    assert faces == sorted(str(tile) for tile in board.tiles if tile)


def test_a_game_takes_moves_by_number_name_and_letter() -> None:
    games = [lab.Game("3x3", seed=3) for _ in range(3)]
    for game, move in zip(games, (lab.Move.LEFT, "left", "a"), strict=True):
        game.play(move)
    assert games[0].board == games[1].board == games[2].board
    with pytest.raises(IllegalMoveError):
        lab.Game("2 # / # #").play("left")
    with pytest.raises(UsageError, match="lefft"):
        games[0].play("lefft")


def test_a_game_without_a_seed_is_a_new_one() -> None:
    assert lab.Game().seed != lab.Game().seed
    assert lab.Game("3x3", goal=64, spawn="2:1").rules.goal == 64
    with pytest.raises(UsageError, match="goal"):
        lab.Game(lab.Rules.from_text("3x3"), goal=64)


def test_a_player_plays_a_game_as_in_a_match() -> None:
    result = lab.match("expectimax:depth=2", rules="3x3", games=2, seed=5)
    for seed, score in zip(result.to_pandas()["seed"], result.scores(), strict=True):
        assert lab.Game("3x3", int(seed)).play("expectimax:depth=2").score == score


def test_the_record_of_a_game_names_who_moved() -> None:
    game = lab.Game("3x3", seed=1)
    game.play("greedy", moves=3)
    game.play(game.board.legal_moves()[0])
    game.undo()
    game.play(lab.player("random"), moves=2)
    episode = game.to_episode()
    assert (episode.player, episode.movers, len(episode.moves)) == ("greedy", ((4, "random"),), 5)
    for _ in episode.replay():
        pass
