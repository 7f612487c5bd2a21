"""Practice in `lab2048 tui`: the formations, moves with their rates, and the notebook."""

from functools import partial
from pathlib import Path

import pytest
from textual.pilot import Pilot
from tui_scene import Run, press, run_scene
from tui_shots import text_of, until

from lab2048.arena.practice import Difficulty, Position, Practice
from lab2048.views.tui.app import LabApp
from lab2048.views.tui.screens.practice import DrillScreen, PracticeScreen

TRAP = "A A A A / A A A A / 4 32 16 8 / 4 # # 2"  # left is the best move, up a mistake


@pytest.fixture
def run(own_store: Path) -> Run:
    return partial(run_scene, own_store)


async def drill(app: LabApp, pilot: Pilot[None]) -> DrillScreen:
    """Open a drill and show the position of these tests."""
    practice = Practice.open("snake8-64")
    screen = DrillScreen(practice, seed=1)
    app.push_screen(screen)
    await until(pilot, lambda: screen.message == "your move")
    screen.position = Position(practice.read(TRAP))
    screen._draw()
    return screen


def test_the_menu_leads_to_the_formations(run: Run) -> None:
    async def scene(app: LabApp, pilot: Pilot[None]) -> None:
        await press(pilot, "e")
        assert isinstance(app.screen, PracticeScreen)
        assert "snake8-64" in text_of(app)
        assert "97.6" in text_of(app)
        await press(pilot, ["down", "enter"])
        assert isinstance(app.screen, DrillScreen)
        assert app.screen.practice.name == "snake8-128"
        await press(pilot, ["escape", "escape"])

    run(scene)


def test_a_mistake_shows_what_was_better_and_can_be_taken_back(run: Run) -> None:
    async def scene(app: LabApp, pilot: Pilot[None]) -> None:
        screen = await drill(app, pilot)
        await press(pilot, ["up"])
        assert screen.message == "up: 91.4%, mistake ?; left keeps 99.31%"
        shown = text_of(app)
        assert "1 mistake, 0 due" in shown
        assert "0 of 1" in shown
        await press(pilot, ["u"])
        assert screen.position.board.to_text() == TRAP
        await press(pilot, ["left"])
        assert screen.message == "left: 99.31%, best"
        assert "1 of 2" in text_of(app)
        await press(pilot, ["u", "u"])
        assert screen.message == "nothing to take back"

    run(scene)


def test_moves_of_large_tiles_are_refused(run: Run) -> None:
    async def scene(app: LabApp, pilot: Pilot[None]) -> None:
        screen = await drill(app, pilot)
        await press(pilot, ["down"])
        assert screen.message == "down would move nothing, or a large tile"
        assert screen.position.board.to_text() == TRAP

    run(scene)


def test_difficulty_and_spawner_have_keys(run: Run) -> None:
    async def scene(app: LabApp, pilot: Pilot[None]) -> None:
        screen = await drill(app, pilot)
        await press(pilot, ["plus"] * 3)
        assert "30% the worst tile" in text_of(app)
        await press(pilot, ["plus"] * 8)
        assert "always the worst" in text_of(app)
        await press(pilot, ["minus"] * 11)
        assert screen.worst == 0
        await press(pilot, ["v"])
        await until(pilot, lambda: screen.level is Difficulty.HARD and screen.message == "your move")

    run(scene)


def test_a_mistake_that_is_due_comes_first(run: Run) -> None:
    async def scene(app: LabApp, pilot: Pilot[None]) -> None:
        screen = await drill(app, pilot)
        await press(pilot, ["up"])
        with app.store._change() as database:
            database.execute("UPDATE puzzles SET due = '2020-01-01T00:00:00+00:00'")
        await press(pilot, ["n"])
        await until(pilot, lambda: screen.message == "from your notebook: find a good move")
        assert screen.position.board.to_text() == TRAP
        await press(pilot, ["left"])
        assert app.store.due_mistake("snake8-64") is None

    run(scene)


def test_a_small_terminal_shows_the_verdict_and_the_streak(run: Run) -> None:
    async def scene(app: LabApp, pilot: Pilot[None]) -> None:
        await drill(app, pilot)
        await press(pilot, ["left"])
        assert "left: 99.31%, best   streak 1" in text_of(app)

    run(scene, size=(40, 16))
