"""What is chosen in `lab2048 tui` can be seen on every terminal, and board and panel stand together at every size."""

from functools import partial
from pathlib import Path

import pytest
from played import play
from textual.pilot import Pilot
from tui_scene import Run, press, run_scene, screen_of
from tui_shots import is_loaded, reversed_in, text_of, until

from lab2048.records.store import Store
from lab2048.rules import Rules
from lab2048.views.tui.app import LabApp
from lab2048.views.tui.palette import Depth
from lab2048.views.tui.widgets.panel import BoardAndPanel
from lab2048.views.tui.widgets.picture import fitting

PLAIN = pytest.mark.parametrize(
    ("depth", "is_ascii"), [(Depth.NONE, False), (Depth.NONE, True), (Depth.SIXTEEN, False), (Depth.SIXTEEN, True)]
)


@pytest.fixture
def run(own_store: Path) -> Run:
    """Plays a scene in a store of its own."""
    return partial(run_scene, own_store)


def shows(app: LabApp, text: str) -> bool:
    """True if a text stands in reverse, and no more than a line does."""
    return text in "".join(reversed_in(app)) and sum(map(len, reversed_in(app))) <= 80


@PLAIN
def test_what_is_chosen_is_seen_without_colours(run: Run, own_store: Path, depth: Depth, is_ascii: bool) -> None:
    mark = ">" if is_ascii else "▸"
    with Store.open(own_store) as store:
        number = store.begin_run("match", Rules.from_text("2x2"), "random", 1)
        store.keep(number, {n: play("2x2", seed=n) for n in range(2)})

    async def scene(app: LabApp, pilot: Pilot[None]) -> None:
        assert shows(app, f"{mark}play")
        await press(pilot, ["down"])
        assert shows(app, f"{mark}watch")
        await press(pilot, "m")
        assert f"{mark}players" in text_of(app)
        assert shows(app, "greedy expectimax")  # ready to be replaced
        await press(pilot, ["down"])
        assert f"{mark}board" in text_of(app)
        assert shows(app, "4x4")
        await press(pilot, ["escape", "g", "down"])
        assert shows(app, f"{mark}    1  20")
        await press(pilot, ["escape", "p", "enter", "p"])
        await until(pilot, lambda: is_loaded(app))
        await press(pilot, [*"first", "backspace"])
        assert shows(app, f"{mark}first")

    run(scene, depth=depth, is_ascii=is_ascii)


@pytest.mark.parametrize("board", ["2x2", "4x4", "8x8", "1x8", "hex2", "hex4"])
def test_board_and_panel_are_large_and_together(run: Run, board: str) -> None:
    async def scene(app: LabApp, pilot: Pilot[None]) -> None:
        table = screen_of(app).query_one(BoardAndPanel)
        for columns, lines in ((40, 15), (64, 20), (70, 24), (120, 30), (160, 50), (80, 24)):
            await pilot.resize_terminal(columns, lines)
            await until(pilot, lambda size=(columns, lines - 3): table.size == size)  # type: ignore[misc]
            view, panel, body = table.view.region, table.panel.region, table.region
            shape, picture = table.view.board.shape, table.view.picture
            beside = fitting(shape, columns - 35, lines - 3) if columns >= 64 else None
            assert table.has_panel == (beside is not None)
            assert (picture and picture.density) == (beside or fitting(shape, columns, lines - 3))
            end = panel.right if table.has_panel else view.right
            assert abs(view.x - (body.right - end)) <= 1
            if table.has_panel:
                assert panel.x == view.right
                assert body.contains_region(panel)
            assert "score" in text_of(app)

    run(scene, board)
