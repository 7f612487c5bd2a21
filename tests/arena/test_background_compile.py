"""Everything that players need is prepared beside a running program, most wanted first."""

import threading
from collections.abc import Callable

import pytest

from lab2048.arena import background_compile as module
from lab2048.arena import compile as compiling
from lab2048.arena.background_compile import BackgroundCompiler
from lab2048.errors import FileError, UsageError
from lab2048.kernels.group import ENVIRONMENTS, GROUPS, NETWORK, SEARCH
from lab2048.models import SHIPPED

SECONDS = 30


class Compiled:
    """What was compiled, and a preparation that runs to its end."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.groups: list[list[str]] = []
        self.told: list[tuple[str, bool]] = []
        self._monkeypatch = monkeypatch

    def run(self, load_default: Callable[[], object] = lambda: None) -> BackgroundCompiler:
        found = BackgroundCompiler(load_default, lambda: self.told.append((found.doing, found.is_ready)))
        self._monkeypatch.setattr(found, "_compile", self.groups.append)
        found.hurry()
        found.start(delay=SECONDS)
        assert found._thread is not None
        found._thread.join(SECONDS)
        return found


@pytest.fixture
def compiled(monkeypatch: pytest.MonkeyPatch) -> Compiled:
    return Compiled(monkeypatch)


@pytest.mark.parametrize("is_there", [True, False])
def test_without_torch_its_kernels_are_not_compiled_and_its_players_do_not_wait(
    compiled: Compiled, monkeypatch: pytest.MonkeyPatch, is_there: bool
) -> None:
    monkeypatch.setattr(module, "has_extra", lambda _: is_there)
    preparation = compiled.run()
    first, rest = compiled.groups
    assert {SEARCH, NETWORK, SHIPPED} <= set(first)
    assert set(rest) == set(GROUPS) - (set() if is_there else {ENVIRONMENTS})
    assert preparation.doing == preparation.failure == ""
    assert preparation.is_ready
    assert preparation.has({*GROUPS, SHIPPED})
    assert compiled.told[-1] == ("", True)


def test_until_a_group_is_there_others_can_be_used(monkeypatch: pytest.MonkeyPatch) -> None:
    may_go_on, has_begun, ready = threading.Event(), threading.Event(), set[str]()

    def compile_(groups: list[str]) -> None:
        if SHIPPED in groups:
            ready.add(SEARCH)
            has_begun.set()
            assert may_go_on.wait(SECONDS)

    preparation = BackgroundCompiler(lambda: None, lambda: None)
    monkeypatch.setattr(preparation, "_compile", compile_)
    monkeypatch.setattr(compiling, "is_ready", ready.__contains__)
    assert preparation.has([SEARCH])  # before it has begun, players compile what they need themselves
    preparation.start(delay=SECONDS)
    assert not preparation.has([NETWORK])  # which also makes it begin
    assert has_begun.wait(SECONDS)
    assert preparation.has([SEARCH])
    assert not preparation.has([SEARCH, NETWORK])
    assert not preparation.is_ready
    may_go_on.set()
    assert preparation._thread is not None
    preparation._thread.join(SECONDS)
    assert preparation.has([SEARCH, NETWORK, SHIPPED])


def test_without_a_shipped_network_other_players_can_be_asked(compiled: Compiled) -> None:
    def load() -> None:
        raise FileError("no network is shipped")

    preparation = compiled.run(load)
    assert preparation.is_ready
    assert preparation.failure == ""
    assert ("no network is shipped", False) in compiled.told


def test_a_failure_is_told(compiled: Compiled) -> None:
    def load() -> None:
        raise UsageError("there is no such player")

    preparation = compiled.run(load)
    assert preparation.failure == preparation.doing == "there is no such player"
    assert not preparation.is_ready
    assert compiled.told[-1] == ("there is no such player", False)
    assert len(compiled.groups) == 1


def test_closing_ends_it(compiled: Compiled) -> None:
    closed = BackgroundCompiler(lambda: None, lambda: None)
    closed.start(delay=SECONDS)
    closed.close()
    assert closed._thread is not None
    closed._thread.join(SECONDS)
    assert not closed._thread.is_alive()
    assert compiled.groups == []
