"""Replays: a recorded game, turn by turn, each proved before the next.

The turns are made one at a time and forgotten, so a record of any length needs
little memory: this is how games from strangers are checked.
"""

from collections.abc import Iterator
from typing import NamedTuple

from lab2048.errors import BoardError, FileError
from lab2048.records.episode import Episode
from lab2048.rules import Board, Game, dice
from lab2048.rules.game import Turn
from lab2048.rules.move import letters


class Step(NamedTuple):
    """One turn of a replay: its number from 1, the turn, and the score after it."""

    number: int
    turn: Turn
    score: int


def first_board(episode: Episode) -> Board:
    """The board that the player found."""
    return Game(episode.rules, episode.seed).first_board


def replay(episode: Episode) -> Iterator[Step]:
    """Play a recorded game again; raise FileError, with the number of the move, at the first thing that is not so.

    The game is proved when the iterator ends: score, highest tile and the way to the
    goal have then come out as recorded.

    >>> from lab2048.rules import Rules
    >>> game = Game(Rules.from_text("1x2"), seed=1)
    >>> game.replay("d")
    >>> [step.score for step in replay(Episode.from_game(game, "human", 0.0))]
    [4]
    """
    rules = episode.rules
    key, alphabet = dice.stream_key(episode.seed, dice.SPAWN), letters(rules.shape.moves)
    board = first_board(episode)
    score = 0
    to_goal = 0 if max(board.ranks) >= rules.goal_rank else None
    for number, letter in enumerate(episode.moves, 1):
        move = alphabet.find(letter)
        if move < 0:
            raise FileError(f"the game does not replay: move {number} is {letter!r}: expected one of {alphabet}")
        try:
            after, reward = board.slide(move)
        except BoardError as error:
            raise FileError(f"the game does not replay: move {number} is illegal: {error}") from None
        spawn = rules.spawn(after, dice.draw(key, rules.n_start + number - 1))
        board = after.put(*spawn)
        score += reward
        if to_goal is None and max(board.ranks) >= rules.goal_rank:
            to_goal = number
        yield Step(number, Turn(rules.shape.moves[move], after, reward, spawn, board), score)
    outcome = (("score", score), ("max_tile", board.max_tile), ("moves_to_goal", to_goal))
    for name, found in outcome:
        recorded = getattr(episode, name)
        if recorded != found:
            end = f"after move {len(episode.moves)}, the last, {name} is {found}"
            raise FileError(f"the game does not replay: {end}, but recorded as {recorded}")


def prove(episode: Episode) -> Board:
    """Play a recorded game again and return its last board; raise FileError unless all comes out as recorded."""
    board = None
    for step in replay(episode):
        board = step.turn.board
    return board or first_board(episode)
