"""The screen of a job: its command line, its state, its results so far, and the end of its log."""

import contextlib

from rich.text import Text
from textual.app import ComposeResult
from textual.containers import VerticalScroll
from textual.events import Key
from textual.widgets import Static

from lab2048.errors import JobConflictError
from lab2048.jobs.job import CANCELLED, DONE, ENDING, Job
from lab2048.views.tui.forms import CommandForm
from lab2048.views.tui.job_report import next_step, report, state_text
from lab2048.views.tui.screens.base import Page
from lab2048.views.tui.widgets import facts
from lab2048.views.tui.widgets.chart import bar

REFRESH_SECONDS = 0.2
LOG_LINES = 4


class JobScreen(Page):
    """Follows a job; leaving the screen does not stop it."""

    def __init__(self, form: CommandForm, job: Job) -> None:
        """Show a job that runs or has ended; `form` is the form that starts another one."""
        super().__init__()
        self.form, self.job = form, job
        self._version = -1

    def compose(self) -> ComposeResult:
        yield Static(id="header")
        yield Static(Text(f" $ {self.job.command}"), id="command")
        with VerticalScroll(id="view"):
            yield Static(id="found")
        yield Static(id="log")
        yield Static(id="bar")
        yield Static(id="keys")

    def on_mount(self) -> None:
        self.set_interval(REFRESH_SECONDS, self._follow)

    def on_resize(self) -> None:
        self.call_after_refresh(self._draw)

    @property
    def help(self) -> list[tuple[str, str]]:
        return [
            ("s", "stop and save finished work; twice: stop at once"),
            ("n", "start another one when this one has ended"),
            ("Esc", "back to the menu; the job continues"),
            ("q, Ctrl-Q", "stop the job and leave lab2048"),
        ]

    def on_key(self, event: Key) -> None:
        if event.key == "s":
            with contextlib.suppress(JobConflictError):  # it has ended
                self.lab.jobs.cancel(self.job.id)
        elif event.key == "n" and not self.job.is_active:
            self._start_another()
        elif event.key == "q":
            self.lab.leave()

    def _start_another(self) -> None:
        from lab2048.views.tui.screens.form import FormScreen

        del self.lab.current_jobs[self.job.kind]
        self.app.switch_screen(FormScreen(self.form))

    def _follow(self) -> None:
        if self._version != self.job.version and self.lab.is_free:
            self._draw()

    def _draw(self) -> None:
        if not self.is_mounted:
            return
        job, columns = self.job, self.size.width
        self._version = job.version
        view = self.query_one("#view")
        with self.lab.jobs.lock:
            results = report(self.lab.jobs.progress_of(job), max(20, columns - 3), view.content_size.height)
        self.put("header", Text(f" {job.kind}", "bold").append(f"  {state_text(job)}", "not bold"))
        self.put("found", results)
        # What the command says when it is stopped is for who typed it in a terminal.
        is_told = job.state in (DONE, ENDING, CANCELLED)
        self.put("log", Text(next_step(job) if is_told else "\n".join(job.log(LOG_LINES))))
        self.put("bar", Text(bar(job.progress, max(10, columns - 3))))
        keys = [("s", "stop")] if job.is_active else [("n", "another")]
        self.put("keys", facts.join_keys([*keys, ("Esc", "menu"), ("?", "keys"), ("q", "quit")], columns))
