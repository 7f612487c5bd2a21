"""The ledger of a game adds up, luck is fair, and an exact reviewer never drifts."""

import math
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from plain_network import random_network

from lab2048.arena.review.grade import Grade
from lab2048.arena.review.review import Review, review_game
from lab2048.arena.review.reviewer import PlayerReviewer, Reviewer, make_reviewer
from lab2048.errors import UsageError
from lab2048.models.ntuple.file import save_network
from lab2048.models.ntuple.network import Design
from lab2048.players import make_player
from lab2048.rules import Game, Rules

BOARDS = ["2x2", "2x3", "3x3", "##x|#x#|###", "hex1", "tri2"]
PATTERNS = {"##x|#x#|###": "4x3", "hex1": "4x3", "tri2": "0123"}


def played(text: str, seed: int, spec: str = "random", n_moves: int = 10_000, **more: object) -> Game:
    rules = Rules.from_text(text, **more)
    player, game = make_player(spec), Game(rules, seed)
    player.start(rules, seed)
    while not game.is_over and len(game.turns) < n_moves:
        game.play(player.choose(game.board).move)
    return game


def total(review: Review) -> float:
    ledger = review.ledger
    return math.fsum([ledger.initial_value, ledger.luck, ledger.skill, ledger.drift])


@pytest.fixture(scope="module")
def reviewers(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Reviewer]:
    """A reviewer with a random network for each board: what it believes is nonsense, but its ledger is sound."""
    folder, found = tmp_path_factory.mktemp("networks"), {}
    for i, text in enumerate(BOARDS):
        rules, path = Rules.from_text(text), folder / str(i)
        save_network(path, random_network(Design.from_text(rules, PATTERNS.get(text, "rows")), i))
        found[text] = make_reviewer(f"ntuple:weights={path},depth=2,trust=0", rules)
    return found


@given(st.sampled_from(BOARDS), st.integers(0, 1000))
def test_the_ledger_adds_up(reviewers: dict[str, Reviewer], text: str, seed: int) -> None:
    for n_moves in (0, 7, 10_000):
        game = played(text, seed, n_moves=n_moves)
        review = review_game(game, reviewers[text])
        ledger = review.ledger
        assert total(review) == pytest.approx(ledger.final_value, rel=1e-9, abs=1e-6)
        assert all(entry.skill <= 0 for entry in ledger.entries)
        assert len(ledger.entries) == len(game.turns)
        if game.is_over:
            assert ledger.final_value == game.score


@pytest.mark.parametrize("text", BOARDS)
def test_the_compiled_reviewer_gives_the_values_of_its_player(reviewers: dict[str, Reviewer], text: str) -> None:
    reviewer, game = reviewers[text], played(text, 3, n_moves=12)
    plain = review_game(game, PlayerReviewer(reviewer.spec, reviewer.player, reviewer.rules)).ledger
    compiled = review_game(game, reviewer).ledger
    for one, other in zip(plain.entries, compiled.entries, strict=True):
        assert one.values == pytest.approx(other.values, rel=1e-4, abs=0.01)
        assert (one.luck, one.drift) == pytest.approx((other.luck, other.drift), rel=1e-4, abs=0.02)


@pytest.mark.parametrize("text", ["2x3", "##x|#x#|###"])
def test_luck_is_zero_on_average_over_the_spawns(reviewers: dict[str, Reviewer], text: str) -> None:
    """The luck of a turn is the value of the state that came minus the mean over all that might have come."""
    reviewer = reviewers[text]
    after = played(text, 5, n_moves=4).turns[-1].after
    mean, weight = 0.0, 0.0
    empty = [cell for cell, rank in enumerate(after.ranks) if not rank]
    for rank, p in reviewer.rules.spawn_table:
        for cell in empty:
            mean += p / len(empty) * (reviewer.state_value(after.put(cell, rank)) - reviewer.expect(after))
            weight += p / len(empty)
    assert weight == pytest.approx(1)
    assert mean == pytest.approx(0, abs=1e-6)


@pytest.mark.parametrize(
    ("text", "more", "spec"),
    [
        ("2x2", {}, "optimal"),
        ("2x3", {}, "optimal"),
        ("2x2", {"goal": 16}, "optimal:objective=win"),
        ("2x3", {"goal": 64}, "optimal:objective=win"),
    ],
)
def test_an_exact_reviewer_never_drifts(text: str, more: dict[str, object], spec: str) -> None:
    reviewer = make_reviewer(spec, Rules.from_text(text, **more))
    for seed in range(20):
        game = played(text, seed, "greedy" if seed % 2 else "random", **more)
        review = review_game(game, reviewer)
        ledger = review.ledger
        assert all(abs(entry.drift) <= 1e-9 * max(1.0, entry.value) for entry in ledger.entries)
        assert total(review) == pytest.approx(ledger.final_value, rel=1e-9, abs=1e-9)
        expected = float(game.moves_to_goal is not None) if reviewer.unit == "chance" else game.score
        assert ledger.final_value == expected


def test_perfect_play_is_graded_best() -> None:
    reviewer = make_reviewer("optimal", Rules.from_text("2x2"))
    ledger = review_game(played("2x2", 4, "optimal"), reviewer).ledger
    assert ledger.count(Grade.BEST) == len(ledger.entries)
    assert ledger.accuracy == pytest.approx(100)
    assert ledger.skill == pytest.approx(0, abs=1e-6)
    random = review_game(played("2x2", 4), reviewer).ledger
    assert random.accuracy < 100
    assert random.skill < 0 < random.error_rate


def test_boards_with_larger_tiles_are_reviewerd(reviewers: dict[str, Reviewer], tmp_path: Path) -> None:
    rules = Rules.from_text("32768 16384 8192 4096 / 2 4 8 16 / # # # # / # # # #")
    path = tmp_path / "network"
    save_network(path, random_network(Design.from_text(Rules.from_text("4x4"), "rows"), 1))
    reviewer = make_reviewer(f"ntuple:weights={path},depth=1,trust=0", rules)
    game = Game(rules, 1)
    for _ in range(30):
        game.play(game.board.legal_moves()[0])
    review = review_game(game, reviewer)
    assert total(review) == pytest.approx(review.ledger.final_value, rel=1e-9, abs=1e-6)


@pytest.mark.parametrize(
    ("spec", "message"),
    [
        ("greedy", "expected scores"),
        ("mcts:iterations=50", "random"),
        ("human", "expected scores"),
    ],
)
def test_players_that_cannot_reviewer(spec: str, message: str) -> None:
    rules = Rules.from_text("2x2")
    with pytest.raises(UsageError, match=message):
        review_game(played("2x2", 1, n_moves=1), make_reviewer(spec, rules))


def test_games_without_luck_are_refused() -> None:
    with pytest.raises(UsageError, match="random spawns"):
        make_reviewer("optimal", Rules.from_text("2x2", spawner="worst"))
