"""The Textual app of `lab2048 tui`: state, colours and shutdown."""

import asyncio
import contextlib
import os
import signal
import threading
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, ClassVar

from textual.app import App
from textual.binding import Binding, BindingType
from textual.constants import TEXTUAL_ANIMATIONS
from textual.filter import LineFilter, NoColor

from lab2048.errors import JobConflictError, StoreError
from lab2048.jobs.job import Job
from lab2048.jobs.runner import JobRunner
from lab2048.records.database import data_folder
from lab2048.rules import Rules
from lab2048.views.tui.frame_pace import Pace
from lab2048.views.tui.palette import AsciiFilter, Depth, Palette, detect_depth
from lab2048.views.tui.screens.base import Page
from lab2048.views.tui.screens.menu import MenuScreen

if TYPE_CHECKING:
    from textual.screen import Screen

    from lab2048.arena.session import Session
    from lab2048.records.episode import Episode
    from lab2048.records.store import Store

HANGUP = 129  # exit code when the terminal was closed
GRACE_SECONDS = 2.0


class LabApp(App[None]):
    """The menu, games and jobs; every game is saved in one store."""

    CSS_PATH = "lab.tcss"
    TITLE = "lab2048"
    ENABLE_COMMAND_PALETTE = False
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("ctrl+c", "interrupt", show=False, priority=True),
        Binding("ctrl+q", "leave", show=False, priority=True),
        Binding("ctrl+z", "suspend_process", show=False, priority=True),
    ]

    def __init__(
        self,
        store: "Store",
        *,
        is_ascii: bool = False,
        depth: Depth | None = None,
        has_motion: bool | None = None,
        first: "Screen[None] | None" = None,
        store_file: Path | None = None,
        defaults: Mapping[str, str] | None = None,
    ) -> None:
        """Start with the menu, or with the screen `first` above it.

        `store_file` is passed to jobs as --store; `defaults` are the first values of form fields.
        """
        self.store = store
        self.palette = Palette(depth or detect_depth(), is_ascii)
        self.has_motion = TEXTUAL_ANIMATIONS != "none" if has_motion is None else has_motion
        self.pace = Pace()
        self.jobs = JobRunner(data_folder() / "jobs", niceness=0)
        self.typed: dict[str, dict[str, str]] = {}  # what was typed last into each form, by its name
        self.current_jobs: dict[str, Job] = {}  # by the name of their form; one of each
        self.failure: Exception | None = None
        self.unsaved: list[Episode] = []  # games that could not be saved, and
        self.unsaved_reason = ""
        self.last: Session | None = None  # the game that was left last
        self.store_file = store_file
        self.defaults = defaults or {}
        self._first = first
        self._ascii, self._no_colour = AsciiFilter(), NoColor()
        super().__init__(ansi_color=not self.palette.has_many)
        self.register_theme(self.palette.theme)
        self.theme = self.palette.theme.name

    def get_line_filters(self) -> Sequence[LineFilter]:
        """Return line filters that remove colours or non-ASCII letters if the terminal needs it."""
        filters = list(super().get_line_filters())
        if self.palette.depth is Depth.NONE:
            filters.append(self._no_colour)
        return [*filters, self._ascii] if self.palette.is_ascii else filters

    def get_default_screen(self) -> MenuScreen:
        return MenuScreen()

    def on_mount(self) -> None:
        self.pace.driver = self._driver
        loop = asyncio.get_running_loop()
        for name, code in (("SIGINT", 130), ("SIGTERM", 143), ("SIGHUP", HANGUP)):
            # Windows has no such handlers, and tests do not run in the main thread.
            with contextlib.suppress(NotImplementedError, RuntimeError, ValueError, AttributeError):
                loop.add_signal_handler(getattr(signal, name), self.leave, code)
        if self._first is not None:
            self.push_screen(self._first)

    @property
    def is_free(self) -> bool:
        """Return True if the terminal is ready for another frame."""
        return self.pace.is_free

    def on_cursor_position(self) -> None:
        """Note that the terminal has drawn everything so far."""
        self.pace.answer()

    def best_score(self, rules: Rules) -> int:
        """Return your best score with these rules, in games without a player's help; 0 if there is none."""
        try:
            return self.store.best_scores(rules)[0]
        except StoreError:
            return 0

    def leave(self, code: int = 0) -> None:
        """Leave lab2048 once every job has saved its work, or at once after Ctrl-C; screens save their games."""
        for screen in self.screen_stack:
            if isinstance(screen, Page):
                screen.rest()
        self.stop_jobs()
        if code == HANGUP:
            # Drawing on a closed terminal may block for ever; all games are saved, so exit at once.
            end = threading.Timer(GRACE_SECONDS, os._exit, (code,))
            end.daemon = True
            end.start()
        self.run_worker(self._leave(code), exclusive=True, group="leave")

    def stop_jobs(self) -> None:
        """Cancel every job; called again, kill those that still run."""
        for job in self.current_jobs.values():
            if job.is_active:
                with contextlib.suppress(JobConflictError):  # it has just ended
                    self.jobs.cancel(job.id)

    async def _leave(self, code: int) -> None:
        await asyncio.to_thread(self.jobs.join if code == 0 else self.jobs.close)
        while self.pace.is_waiting:  # otherwise the terminal's answer would appear in the shell
            await asyncio.sleep(0.01)
        self.exit(return_code=code)

    def action_leave(self) -> None:
        self.leave()

    def action_interrupt(self) -> None:
        self.leave(130)

    def _handle_exception(self, error: Exception) -> None:
        """Store an internal error, which the command line reports in one line."""
        self.failure = error
        super()._handle_exception(error)

    def _fatal_error(self) -> None:
        """Exit without Textual's traceback, except in tests."""
        if self.is_headless:
            super()._fatal_error()
        else:
            self._close_messages_no_wait()

    async def on_unmount(self) -> None:
        """End all jobs, whatever ended the app."""
        await asyncio.to_thread(self.jobs.close)


def check_surroundings() -> None:
    """Remove an empty NO_COLOR, which Textual would obey."""
    if os.environ.get("NO_COLOR") == "":
        del os.environ["NO_COLOR"]
