"""The players of the page: asked when all that they need is there, and only so long."""

import threading

import pytest

from lab2048.arena.player_service import AskedPlayer
from lab2048.kernels.group import CLASSIC, ENDGAME, ENVIRONMENTS, GROUPS, NETWORK, PACKED, ROLLOUT, SEARCH, SOLVER, WIDE
from lab2048.models import SHIPPED
from lab2048.rules import Game, Rules
from lab2048.views.web.errors import ApiError, NotReadyError
from lab2048.views.web.services import players as module
from lab2048.views.web.services.players import Players


@pytest.fixture
def players(monkeypatch):
    """Players whose preparation has begun, and compiled nothing yet."""
    monkeypatch.setattr("lab2048.arena.compile.is_ready", lambda _: False)
    found = Players(lambda: None)
    monkeypatch.setattr(found.preparation, "_thread", threading.current_thread())
    yield found
    found.close()


def is_ready(players, spec, rules):
    try:
        players.check_ready(spec, rules)
    except NotReadyError:
        return False
    return True


@pytest.mark.parametrize(
    ("spec", "rules", "needed"),
    [
        ("random", "4x4", set()),
        ("expectimax", "4x4", {SEARCH, CLASSIC}),
        ("expectimax", "3x3", {SEARCH, PACKED}),
        ("expectimax", "5x5", {WIDE}),
        ("ntuple", "4x4", {SEARCH, CLASSIC, NETWORK, SHIPPED, ENDGAME}),
        ("ntuple:endgames=no", "4x4", {SEARCH, CLASSIC, NETWORK, SHIPPED}),
        ("ntuple:weights=my.safetensors,trust=0", "4x4", {SEARCH, NETWORK}),
        ("shield:inner=(ntuple:depth=2)", "4x4", {ROLLOUT, SEARCH, CLASSIC, NETWORK, SHIPPED, ENDGAME}),
        ("shield:inner=(net:weights=my.safetensors)", "4x4", {ROLLOUT, ENVIRONMENTS}),
    ],
)
def test_nobody_is_asked_before_all_that_they_need_is_there_also_for_whom_they_ask(players, spec, rules, needed):
    for missing in needed:
        players.preparation._ready = {*GROUPS, SHIPPED} - {missing}
        assert not is_ready(players, spec, Rules.from_text(rules)), missing
    players.preparation._ready = set(needed)
    assert is_ready(players, spec, Rules.from_text(rules))


def test_after_a_failed_preparation_every_question_says_why(players):
    players.preparation.failure = "the disk is full"
    with pytest.raises(ApiError, match="the disk is full"):
        players.check_ready("greedy")


def test_nobody_waits_for_ever(players, monkeypatch):
    may_answer, game = threading.Event(), Game(Rules.from_text("4x4"), 1)
    players.preparation._ready = {SEARCH}
    monkeypatch.setattr(AskedPlayer, "choose", lambda *_: may_answer.wait(30))
    monkeypatch.setattr(module, "MAX_SECONDS", 0.01)
    with pytest.raises(NotReadyError, match=r"no answer within 0.01 s"):
        players.decide("first", game.rules, game.board)
    may_answer.set()


def test_whether_a_player_can_be_asked_is_told_without_asking_it(players):
    assert not players.is_ready(SEARCH)
    players.preparation._ready.add(SEARCH)
    assert players.is_ready(SEARCH)
    assert not players.is_ready(SEARCH, SOLVER)
    players.preparation.failure = "no compiler"
    assert players.is_ready(SEARCH, SOLVER)  # asking tells why it cannot be
