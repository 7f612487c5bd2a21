"""Scenes for the screens of `lab2048 tui`, without a terminal: keys are pressed, and something is so."""

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from pathlib import Path

from textual.pilot import Pilot
from textual.widgets import Input

from lab2048.arena.session import Session
from lab2048.records.store import Store
from lab2048.rules import Rules
from lab2048.views.tui.app import LabApp
from lab2048.views.tui.palette import Depth
from lab2048.views.tui.screens.form import FormScreen
from lab2048.views.tui.screens.play import PlayScreen

Scene = Callable[[LabApp, Pilot[None]], Awaitable[None]]
Run = Callable[..., LabApp]


def run_scene(
    path: Path,
    scene: Scene,
    board: str = "",
    *,
    player: str = "random",
    has_motion: bool = False,
    size: tuple[int, int] = (80, 24),
    depth: Depth | None = None,
    is_ascii: bool = False,
    defaults: dict[str, str] | None = None,
    store_file: Path | None = None,
) -> LabApp:
    """Play a scene: on a board, or in the menu."""

    async def main() -> LabApp:
        with Store.open(path) as store:
            first = PlayScreen(Session(Rules.from_text(board), 7, store), player) if board else None
            app = LabApp(
                store,
                has_motion=has_motion,
                first=first,
                depth=depth,
                is_ascii=is_ascii,
                defaults=defaults,
                store_file=store_file,
            )
            async with app.run_test(size=size) as pilot:
                await pilot.pause()
                await scene(app, pilot)
            return app

    return asyncio.run(main())


def screen_of(app: LabApp) -> PlayScreen:
    assert isinstance(app.screen, PlayScreen)
    return app.screen


async def press(pilot: Pilot[None], keys: Sequence[str]) -> None:
    for key in keys:
        await pilot.press(key)
    await pilot.pause()


def fill(app: LabApp, **values: str) -> None:
    assert isinstance(app.screen, FormScreen)
    for name, value in values.items():
        app.screen.query_one(f"#field-{name}", Input).value = value
