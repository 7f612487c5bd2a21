"""The suite of positions, and games that end when their goal is made."""

from dataclasses import replace

import pytest

from lab2048.arena.batch import Batch, play_batch
from lab2048.arena.benchmark.positions import load_positions, play_positions, read_positions
from lab2048.arena.executor.local import Pool
from lab2048.errors import FileError
from lab2048.rules import Rules

SUITE = load_positions()


def test_the_suite_has_names_of_its_own_and_boards_that_are_not_over() -> None:
    assert len({position.name for position in SUITE}) == len(SUITE) >= 24
    for position in SUITE:
        board = position.rules.board
        assert board.legal_moves(), position.name
        assert max(board.ranks) < position.rules.goal_rank, position.name


@pytest.mark.parametrize("name", ["block-32768", "corner-32768", "snake-32768", "snake-16384"])
def test_turned_copies_are_copies(name: str) -> None:
    copies = [position.rules for position in SUITE if position.name == name or position.name.startswith(f"{name}-")]
    assert len({rules.board for rules in copies}) == len(copies) > 1
    assert len({rules.board.canonical() for rules in copies}) == 1
    assert len({rules.goal for rules in copies}) == 1


@pytest.mark.parametrize("spec", ["random", "greedy", "montecarlo:rollouts=4"])
def test_games_end_when_the_goal_is_made(spec: str) -> None:
    rules = Rules.from_text("2x3", goal=16)
    short = play_batch(Batch(spec, replace(rules, stop_at_goal=True), 1, range(20)), lambda: False)
    whole = play_batch(Batch(spec, rules, 1, range(20)), lambda: False)
    for number, episode in short.episodes.items():
        other = whole.episodes[number]
        assert episode.moves_to_goal == other.moves_to_goal
        assert len(episode.moves) == (other.moves_to_goal if other.moves_to_goal is not None else len(other.moves))
        assert other.moves.startswith(episode.moves)


def test_positions_are_played_on_the_seeds_of_a_match() -> None:
    suite = read_positions("id a\nboard 4 4 / 2 .\ngoal 8\nbound 0.9\n\nid b\nboard 2 . / . .\ngoal 32\n")
    with Pool(1) as pool:
        easy, hard = play_positions(suite, "random", pool, n_games=50, seed=1)
    assert easy.n_won > hard.n_won
    assert easy.to_json()["bound"] == 0.9
    assert easy.to_json()["rate_ci95"][0] < easy.rate.value


@pytest.mark.parametrize(
    "text", ["id a\nboard 2 2 / . .\n", "goal 4\n", "id a\nid b\n", "nonsense\n", "id a\nboard 2 2 / . .\ngoal x\n"]
)
def test_a_suite_that_is_not_understood_is_one_line(text: str) -> None:
    with pytest.raises(FileError):
        read_positions(text)
