"""Players in the library: by name, with options, and your own."""

import numpy as np
import pytest

import lab2048 as lab
from lab2048.errors import BoardError, LabError, UsageError
from lab2048.rules import Board


class LastMove(lab.Player):
    """Makes the last legal move."""

    def choose(self, board: Board) -> lab.Decision:
        moves = board.legal_moves()
        return lab.Decision(moves[-1], {move: float(move) for move in moves})


def test_options_can_be_in_the_name_or_beside_it() -> None:
    assert lab.player("expectimax:depth=3").spec == lab.player("expectimax", depth=3).spec
    assert lab.player("expectimax:depth=2", depth=3).spec == "expectimax:depth=3"
    with pytest.raises(UsageError, match="dept"):
        lab.player("expectimax", dept=3)
    with pytest.raises(UsageError, match="expectimax"):
        lab.player("expectimx")
    with pytest.raises(UsageError, match="chooses by itself"):
        lab.player("human")


def test_a_decision_has_named_moves() -> None:
    decision = lab.player("expectimax:depth=2").ask("2 4 8 16 / # # 2 # / # # # # / # # # 2")
    assert isinstance(decision.move, lab.Move)
    assert all(isinstance(move, lab.Move) for move in decision.values)
    assert str(decision).startswith(decision.move.name.lower())
    assert decision.move.name.lower() in decision._repr_html_()
    assert isinstance(lab.player("random").ask("hex1:##|#2#|##").move, lab.HexMove)


def test_boards_of_any_form_can_be_asked_about() -> None:
    tiles = [[2, 4, 8], [0, 0, 2], [0, 0, 0]]
    greedy = lab.player("greedy")
    assert greedy.ask(tiles) == greedy.ask(np.array(tiles)) == greedy.ask(lab.Board(tiles))
    for board, words in (("4x4", "no tiles"), ("2 4 / 4 2", "no move is possible")):
        with pytest.raises(BoardError, match=words):
            greedy.ask(board)


def test_the_default_player_depends_on_the_board() -> None:
    assert lab.player().ask("2 2 # / # # 4 / # # #").depth > 0


def test_a_player_of_your_own_plays_everywhere() -> None:
    assert lab.player(LastMove()).ask("2 2 / # 4").move == lab.Move.LEFT
    lab.check_player(LastMove)
    result = lab.match([LastMove, "random"], rules="3x3", games=4, workers=2)
    assert result.players == ["last-move", "random"]
    assert result.is_complete
    assert lab.Game("3x3", seed=1).play(LastMove(), moves=5).to_episode().player == "last-move"


def test_something_else_is_no_player() -> None:
    with pytest.raises(UsageError, match="expected a name"):
        lab.player(3)


def test_a_failing_player_is_named() -> None:
    class Fails(LastMove):
        def choose(self, _: Board) -> lab.Decision:
            raise ZeroDivisionError("oops")

    with pytest.raises(LabError, match=r"player fails fails.*ZeroDivisionError: oops"):
        lab.player(Fails()).ask("2 2 / # 4")
