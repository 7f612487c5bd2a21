"""Choosing a player in `lab2048 tui`: letters pick, arrows choose, Enter selects what the line says."""

import dataclasses
from collections.abc import Sequence
from functools import partial
from pathlib import Path

import pytest
from textual.pilot import Pilot
from textual.widget import Widget
from tui_scene import Run, press, run_scene, screen_of
from tui_shots import is_loaded, text_of, until

from lab2048.players.registry import names, player_class
from lab2048.views.tui.app import LabApp
from lab2048.views.tui.screens.base import Choices
from lab2048.views.tui.screens.choose_player import ChooseScreen, options_text
from lab2048.views.tui.screens.play import PlayScreen


@pytest.fixture
def run(own_store: Path) -> Run:
    """Plays a scene in a store of its own."""
    return partial(run_scene, own_store)


@pytest.mark.parametrize(
    ("now", "keys", "taken"),
    [
        ("random", [*"first", "enter"], "first"),
        ("random", [*"expectimax:depth=3", "enter"], "expectimax:depth=3"),
        ("random", [*"shield:inner=(lookahead:depth=3,eval=snake)", "enter"], None),
        ("random", [*"look", "enter"], "lookahead"),  # one begins so
        ("random", [*"ne", "backspace", "down", "enter"], "ntuple"),  # the second that begins with n
        ("random", ["up", "enter"], "optimal"),  # the line before
        ("random", [*"ex", "tab", *"depth=2", "enter"], "expectimax:depth=2"),
        ("expectimax:depth=3", ["enter"], "expectimax:depth=3"),  # nothing was typed or chosen
        ("expectimax:depth=3", [*"expectimax", "enter"], "expectimax"),
        ("expectimax:depth=3", ["tab", "backspace", "4", "enter"], "expectimax:depth=4"),
        ("random", [*"first", "escape"], "random"),
    ],
)
def test_enter_takes_what_is_typed_or_the_chosen_line(
    run: Run, now: str, keys: Sequence[str], taken: str | None
) -> None:
    async def scene(app: LabApp, pilot: Pilot[None]) -> None:
        screen = screen_of(app)
        await press(pilot, "p")
        await until(pilot, lambda: is_loaded(app))
        await press(pilot, keys)
        assert isinstance(app.screen, PlayScreen)
        assert screen.adviser.spec == (taken or "".join(keys[:-1]))

    run(scene, "4x4", player=now)


def test_keys_that_are_typed_before_the_list_is_there_count(run: Run) -> None:
    async def scene(app: LabApp, pilot: Pilot[None]) -> None:
        screen = screen_of(app)
        await pilot.press("p", *"gree", "enter")
        await until(pilot, lambda: app.screen is screen)
        assert screen.adviser.spec == "greedy"

    run(scene, "4x4")


@pytest.mark.parametrize(
    ("typed", "says"),
    [
        ("randm", "unknown player 'randm': did you mean random?"),
        ("expectimax:dept=3", "player expectimax has no option 'dept': did you mean depth?"),
        ("expectimax:depth=x", "depth=x is not understood: expected a whole number"),
        ("human", "player human is a person"),
    ],
)
def test_what_is_wrong_is_said_in_a_line_and_can_be_mended(run: Run, typed: str, says: str) -> None:
    async def scene(app: LabApp, pilot: Pilot[None]) -> None:
        await press(pilot, "p")
        await until(pilot, lambda: is_loaded(app))
        await press(pilot, [*typed, "enter"])
        assert isinstance(app.screen, ChooseScreen)
        assert says in text_of(app)
        await press(pilot, ["home", *["delete"] * len(typed), *"first"])
        assert says not in text_of(app)
        await press(pilot, ["enter"])
        assert screen_of(app).adviser.spec == "first"

    run(scene, "4x4")


@pytest.mark.parametrize("size", [(30, 10), (40, 15), (80, 24)])
def test_it_fits_every_terminal(run: Run, size: tuple[int, int]) -> None:
    async def scene(app: LabApp, pilot: Pilot[None]) -> None:
        await press(pilot, "p")
        await until(pilot, lambda: is_loaded(app))
        players = app.screen.query_one(Choices)
        for widget in app.screen.walk_children(Widget):
            assert not widget.display or app.screen.region.contains_region(widget.region)
        assert players.size.height >= 4
        for _ in range(players.option_count):
            await press(pilot, ["down"])
            shown = text_of(app)
            assert f"▸{players.highlighted_option.id}" in shown  # type: ignore[union-attr]
            assert f"Enter selects {players.highlighted_option.id}" in shown  # type: ignore[union-attr]

    run(scene, "4x4", size=size)


@pytest.mark.parametrize("name", names())
def test_options_are_shown_as_one_types_them(name: str) -> None:
    text = options_text(name)
    assert "None" not in text
    assert all(f"{field.name}=" in text for field in dataclasses.fields(player_class(name)) if field.init)


def test_an_option_is_explained_while_it_is_typed() -> None:
    assert options_text("expectimax:dep") == "options depth=NUMBER"
    assert options_text("expectimax:ms=5,depth=").startswith("depth=NUMBER  search depth in own moves")
    assert options_text("ntuple:deepen=no").startswith("deepen=no|tiles|empty")
