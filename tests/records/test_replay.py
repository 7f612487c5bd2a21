"""Replays of other programs: what they recorded is read, and what breaks a rule is refused."""

import contextlib
import random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lab2048.errors import FileError
from lab2048.records.replay import rpl1
from lab2048.records.replay.reading import read_replay
from lab2048.rules import Game, Rules
from records.replay_writer import write_league, write_rpl1, write_tablebase, write_verse

WRITERS = {
    "2048league": lambda game, size: write_league(game, size),
    "2048verse, old": lambda game, size: write_league(game, size, "replay " if size == "4x4" else f"replay{size} "),
    "2048verse": write_verse,
    "2048next": write_rpl1,
    "2048EndgameTablebase": lambda game, size: write_tablebase(game),  # noqa: ARG005
}
SIZES = {name: ["4x4"] for name in WRITERS} | {
    "2048verse, old": ["4x4", "3x4", "3x3", "2x4"],
    "2048verse": ["4x4", "3x4", "3x3", "2x4"],
    "2048next": ["4x4", "3x4", "3x3", "2x4"],
}
CASES = [(name, size) for name, sizes in SIZES.items() for size in sizes]


def played(size: str, seed: int, n_moves: int = 1000) -> Game:
    game, dice = Game(Rules.from_text(size), seed), random.Random(seed)
    while not game.is_over and len(game.turns) < n_moves:
        game.play(dice.choice(game.board.legal_moves()))
    return game


@pytest.mark.parametrize(("name", "size"), CASES)
@given(seed=st.integers(0, 10_000), n_moves=st.sampled_from([1, 2, 17, 1000]))
def test_what_was_written_is_read(name: str, size: str, seed: int, n_moves: int) -> None:
    game = played(size, seed, n_moves)
    found = read_replay(WRITERS[name](game, size))
    assert found.first_board == game.first_board
    assert [(turn.move, turn.spawn, turn.board, turn.score) for turn in found.turns] == [
        (turn.move, turn.spawn, turn.board, turn.score) for turn in game.turns
    ]


@pytest.mark.parametrize(("name", "size"), CASES)
@given(seed=st.integers(0, 50), data=st.data())
def test_a_damaged_replay_is_refused_or_a_game(name: str, size: str, seed: int, data: st.DataObject) -> None:
    content = bytearray(WRITERS[name](played(size, seed, 40), size))
    for _ in range(data.draw(st.integers(1, 4))):
        place = data.draw(st.integers(0, len(content) - 1))
        match data.draw(st.sampled_from(["change", "delete", "insert", "cut"])):
            case "change":
                content[place] = data.draw(st.integers(0, 255))
            case "delete":
                del content[place : place + data.draw(st.integers(1, 30))]
            case "insert":
                content[place:place] = data.draw(st.binary(max_size=5))
            case "cut":
                del content[place:]
        content = content or bytearray(b"x")
    try:
        game = read_replay(bytes(content))
    except FileError:
        return
    board = game.first_board
    for turn in game.turns:  # what is accepted keeps the rules
        after, reward = board.slide(turn.move)
        assert (after, reward) == (turn.after, turn.reward)
        board = after.put(*turn.spawn)
        assert board == turn.board


@given(st.one_of(st.binary(max_size=200), st.text(max_size=100).map(str.encode)))
def test_anything_is_a_game_or_refused(content: bytes) -> None:
    with contextlib.suppress(FileError):
        assert read_replay(content).first_board


def test_undone_moves_are_left_out() -> None:
    game = played("4x4", 3, 1)
    (turn,) = game.turns
    cell, rank = turn.spawn
    move = bytes([rpl1.MOVES.index(turn.move) | cell << 2 | (rank - 1) << 6, 7])
    undone = move + bytes([rpl1.UNDO_ONE, 3]) + move + bytes([rpl1.UNDO, 1, 0])
    assert len(read_replay(write_rpl1(game, "4x4", extra=undone)).turns) == 1


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"", "not a replay"),
        (b"garbage", "^not a replay: expected one of 2048verse"),
        (b"not a game", "^not a replay"),  # a legal game of one move, if the first seven letters are taken for a header
        ("ß".encode(), "^not a replay"),
        (b"REPLAY_v1RPL_B64_!!", "base64"),
        (b"REPLAY_v1RPL_B64_UlBMMQ==", "RPL1"),
        (b"5x5-abc_000000", "5x5"),
        (b"4x4-abc_0000", "three per move"),
        (b"4x4-abc_000000", "first board is impossible"),
        (b"\xff\xfe\xfd", "not a replay"),
    ],
)
def test_a_refusal_says_why(content: bytes, message: str) -> None:
    with pytest.raises(FileError, match=message):
        read_replay(content)


def test_a_replay_without_a_header_is_known_by_its_first_moves() -> None:
    content = write_league(played("4x4", 1, 20))
    with pytest.raises(FileError, match=r"^as a replay of 2048league: move \d+ is impossible"):
        read_replay(content + content[-1:] * 40)


def test_a_broken_rule_is_named_with_its_move() -> None:
    game = played("4x4", 1, 20)
    content = write_verse(game, "4x4")
    twice = content[:-3] + content[-3:] * 40  # the same move and spawn again and again
    with pytest.raises(FileError, match=r"^move \d+ is impossible"):
        read_replay(twice)


@pytest.mark.parametrize("n_bytes", [50, 70, 25 * 12, 25 * 12 + 7])
def test_a_replay_of_the_tablebase_that_is_cut_off_is_named(n_bytes: int) -> None:
    content = write_tablebase(played("4x4", 1, 20))
    with pytest.raises(FileError, match=r"^the replay is cut off"):
        read_replay(content[:n_bytes])
    with pytest.raises(FileError, match=r"^not a replay"):
        read_replay(content[:49])
