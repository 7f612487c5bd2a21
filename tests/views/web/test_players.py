"""Who answers at the page: a player is asked when all that it needs is there, and says what is missing for good."""

import threading

import pytest

from lab2048.arena.compile import ENVIRONMENTS, NETWORK, PLAY, SOLVER
from lab2048.models import SHIPPED
from lab2048.views.web.errors import NotReadyError
from lab2048.views.web.services import players as module
from lab2048.views.web.services.players import Coach


@pytest.fixture
def coach(monkeypatch):
    """A coach that was told to begin, and has compiled nothing yet."""
    found = Coach(lambda: None)
    monkeypatch.setattr(found, "_thread", threading.current_thread())
    monkeypatch.setattr(found, "_meet_default", lambda: None)
    found.hurry()
    yield found
    found.close()


def is_ready(coach, spec):
    try:
        coach.check_ready(spec)
    except NotReadyError:
        return False
    return True


@pytest.mark.parametrize(
    ("spec", "needed"),
    [
        ("greedy", {PLAY}),
        ("ntuple", {PLAY, NETWORK, SHIPPED}),
        ("ntuple:weights=my.safetensors", {PLAY, NETWORK}),
        ("shield:inner=(ntuple:depth=2)", {PLAY, NETWORK, SHIPPED}),
        ("shield:inner=(net:weights=my.safetensors)", {PLAY, ENVIRONMENTS}),
    ],
)
def test_nobody_is_asked_before_all_that_they_need_is_there_also_for_whom_they_ask(coach, spec, needed):
    for missing in needed:
        coach._ready = {PLAY, NETWORK, SOLVER, ENVIRONMENTS, SHIPPED} - {missing}
        assert not is_ready(coach, spec), missing
    coach._ready = set(needed)
    assert is_ready(coach, spec)


@pytest.mark.parametrize("is_there", [True, False])
def test_without_torch_nothing_is_compiled_for_it_and_its_players_do_not_wait_for_ever(coach, monkeypatch, is_there):
    compiled = []
    monkeypatch.setattr(coach, "_compile", compiled.append)
    monkeypatch.setattr(module, "has_torch", lambda: is_there)
    assert not is_ready(coach, "net:weights=my.safetensors")
    coach._warm_up()
    assert compiled == [PLAY, NETWORK, SOLVER, *([ENVIRONMENTS] if is_there else [])]
    assert coach.doing == coach.failure == ""
    for spec in ("net:weights=my.safetensors", "c51:weights=my.safetensors", "ntuple", "shield:inner=(ntuple:depth=2)"):
        assert is_ready(coach, spec)
