"""Games: undo, redo, the dice, and the score identity."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from strategies import FREE_PACKED, FREE_WIDE, PACKED, WIDE, seeds
from strategies import rules as any_rules

from lab2048.errors import BoardError, IllegalMoveError
from lab2048.rules import Game, Move, Rules, reference
from lab2048.rules.game import replay


def play_some(game: Game, data: st.DataObject, n: int) -> None:
    for _ in range(n):
        if game.is_over:
            return
        game.play(data.draw(st.sampled_from(game.board.legal_moves())))


@given(any_rules(PACKED + WIDE + FREE_PACKED + FREE_WIDE), seeds, st.data())
def test_undo_and_the_same_move_give_the_same_tile(rules: Rules, seed: int, data: st.DataObject) -> None:
    game = Game(rules, seed)
    play_some(game, data, 8)
    turns = list(game.turns)
    while game.undo():
        pass
    assert game.board == game.first_board
    for turn in turns:
        assert game.play(turn.move) == turn


@given(any_rules(PACKED + WIDE + FREE_PACKED + FREE_WIDE), seeds, st.data())
def test_the_score_is_the_potential_less_what_spawned(rules: Rules, seed: int, data: st.DataObject) -> None:
    game = Game(rules, seed)
    play_some(game, data, 15)
    spawned = [rank for _, rank in game.first_spawns] + [turn.spawn[1] for turn in game.turns]
    assert game.score == game.board.potential - rules.board.potential - reference.potential(tuple(spawned))


def test_redo_goes_forward_until_another_move_is_made() -> None:
    game = Game(Rules.from_text("4x4"), seed=1)
    first, second = game.board.legal_moves()[:2]
    turn = game.play(first)
    assert game.undo()
    assert game.redo()
    assert game.turns == [turn]
    assert not game.redo()
    game.undo()
    game.play(second)
    assert not game.redo()


def test_an_illegal_move_changes_nothing_and_spawns_nothing() -> None:
    game = Game(Rules.from_text("2 # # # / 4 # # # / # # # # / # # # #"), seed=1)
    before = game.board
    with pytest.raises(IllegalMoveError, match="left changes nothing"):
        game.play(Move.LEFT)
    with pytest.raises(IllegalMoveError, match="expected 0 to 3"):
        game.play(7)
    assert game.board == before
    assert not game.turns


def test_legal_moves_are_those_after_the_spawn() -> None:
    game = Game(Rules.from_text("24|2#", goal=64), seed=3)
    turn = game.play(Move.DOWN)
    assert game.board == turn.board
    assert game.board.legal_moves() == tuple(move for move, _ in turn.board.slides())


@given(any_rules(PACKED + WIDE + FREE_PACKED + FREE_WIDE), seeds, st.data())
def test_a_turn_carries_what_led_to_it(rules: Rules, seed: int, data: st.DataObject) -> None:
    game = Game(rules, seed)
    play_some(game, data, 15)
    score = 0
    boards = [game.first_board, *(turn.board for turn in game.turns)]
    to_goal = next((i for i, board in enumerate(boards) if board.max_tile >= rules.goal), None)
    for number, turn in enumerate(game.turns, 1):
        score += turn.reward
        assert (turn.number, turn.score) == (number, score)
        assert turn.moves_to_goal == (None if to_goal is None or to_goal > number else to_goal)
        assert turn.reaches_goal == (number == to_goal)
    assert (game.score, game.moves_to_goal) == (score, to_goal)
    assert list(replay(rules, seed, game.moves_text())) == game.turns


def test_play_goes_on_past_the_goal_and_undo_un_wins_it() -> None:
    game = Game(Rules.from_text("4 4 # #", goal=8, spawner="first"), seed=1)
    assert game.moves_to_goal is None
    game.play(Move.LEFT)
    assert game.moves_to_goal == 1
    assert not game.is_over
    game.undo()
    assert game.moves_to_goal is None


def test_a_game_can_stop_at_the_goal_and_undo_goes_back() -> None:
    game = Game(Rules.from_text("4 4 # #", goal=8, spawner="first", stop_at_goal=True), seed=1)
    game.play(Move.LEFT)
    assert game.is_over
    assert game.legal_moves() == ()
    with pytest.raises(IllegalMoveError, match="8 is reached"):
        game.play(Move.RIGHT)
    game.undo()
    assert not game.is_over


@pytest.mark.parametrize(("moves", "says"), [("wz", "move 2 is 'z'"), ("sswwww", "is illegal")])
def test_a_wrong_record_is_named_by_its_move(moves: str, says: str) -> None:
    with pytest.raises(BoardError, match=says):
        Game(Rules.from_text("4x4"), seed=1).replay(moves)
