"""Replays in `lab2048 tui`: the values of moves, the review, and the search for games."""

from functools import partial
from itertools import pairwise
from pathlib import Path

import pytest
from played import play
from textual.pilot import Pilot
from tui_scene import Run, press, run_scene
from tui_shots import text_of, until

from lab2048.records.store import Store
from lab2048.rules import Rules
from lab2048.views.tui.app import LabApp
from lab2048.views.tui.palette import Depth, Palette
from lab2048.views.tui.screens.base import Choices
from lab2048.views.tui.screens.games import GamesScreen
from lab2048.views.tui.screens.replay import ReplayScreen


@pytest.fixture
def run(own_store: Path) -> Run:
    """Plays a scene in a store with games on two boards."""
    with Store.open(own_store) as store:
        for board, player in (("2x2", "random"), ("3x3", "first")):
            number = store.begin_run("match", Rules.from_text(board), player, 1)
            store.keep(number, {n: play(board, seed=n, player=player) for n in range(2)})
    return partial(run_scene, own_store)


async def replay(app: LabApp, pilot: Pilot[None], n_down: int = 2) -> ReplayScreen:
    """Open the last game on 2x2, or another one of the list."""
    await press(pilot, ["g", *["down"] * n_down, "enter"])
    screen = app.screen
    assert isinstance(screen, ReplayScreen)
    await until(pilot, lambda: screen.message.startswith("verified"))
    return screen


def test_a_replay_shows_the_values_of_all_moves(run: Run) -> None:
    async def scene(app: LabApp, pilot: Pilot[None]) -> None:
        screen = await replay(app, pilot)
        await press(pilot, ["t"])
        await until(pilot, lambda: screen.decision is not None)
        assert screen.decision is not None
        assert set(screen.decision[1].values) == set(map(int, screen._first.legal_moves()))
        assert f"by {screen.adviser.spec}" in text_of(app)
        await press(pilot, ["right"])
        await until(pilot, lambda: screen.decision is not None and screen.decision[0] == 1)
        await press(pilot, ["t"])
        assert f"by {screen.adviser.spec}" not in text_of(app)

    run(scene)


def test_a_replay_is_reviewed_and_the_review_is_kept(run: Run, own_store: Path) -> None:
    async def scene(app: LabApp, pilot: Pilot[None]) -> None:
        screen = await replay(app, pilot)
        await press(pilot, ["b"])
        assert screen.message == "v reviews the game first"
        await press(pilot, ["v"])
        await until(pilot, lambda: screen.message.startswith("accuracy "))
        await press(pilot, ["right"])
        shown = text_of(app)
        assert "review" in shown
        assert "luck of the tile" in shown
        assert screen.review is not None
        first = screen.review.next_fault(0, 1)
        await press(pilot, ["home", "b"])
        assert screen.at == (first or 0)
        while screen.message != "no further mistake":
            await press(pilot, ["b"])
        await press(pilot, ["home", "B"])
        assert screen.message == "no earlier mistake"

    run(scene)
    with Store.open(own_store) as store:
        assert len(store.reviews_of(2)) == 1


def test_a_board_without_a_reviewer_says_so(run: Run) -> None:
    async def scene(app: LabApp, pilot: Pilot[None]) -> None:
        screen = await replay(app, pilot, n_down=0)
        await press(pilot, ["v"])
        await until(pilot, lambda: screen.message.startswith("games on 3x3 have no reviewer yet"))

    run(scene)


def test_games_are_searched(run: Run) -> None:
    async def scene(app: LabApp, pilot: Pilot[None]) -> None:
        await press(pilot, "g")
        screen = app.screen
        assert isinstance(screen, GamesScreen)
        choices = screen.query_one(Choices)
        assert choices.option_count == 4
        await press(pilot, ["slash", *"random"])
        assert choices.option_count == 2
        await press(pilot, ["enter"])
        assert "with random" in text_of(app)
        await press(pilot, ["b"])  # keys are those of the list again
        assert screen.is_best
        await press(pilot, ["slash", *" nobody"])
        assert choices.option_count == 0
        assert "no such games" in text_of(app)
        await press(pilot, ["escape"])
        assert (choices.option_count, app.screen) == (4, screen)
        await press(pilot, ["slash", *"3x3", "down", "enter"])
        assert isinstance(app.screen, ReplayScreen)

    run(scene)


@pytest.mark.parametrize(
    ("search", "ids"), [("", [4, 3, 2, 1]), ("RANDOM", [2, 1]), ("first 3x3", [4, 3]), ("random 3x3", []), ("%", [])]
)
def test_every_word_must_be_there(run: Run, own_store: Path, search: str, ids: list[int]) -> None:
    with Store.open(own_store) as store:
        assert [entry.id for entry in store.entries(search=search)] == ids


def test_sixteen_colours_tell_all_tiles_apart() -> None:
    styles = [Palette(Depth.SIXTEEN).tile(rank) for rank in range(1, 18)]
    assert len({(style.bgcolor, style.color) for style in styles}) == 17
    for style, other in pairwise(styles):
        assert style.bgcolor != other.bgcolor
