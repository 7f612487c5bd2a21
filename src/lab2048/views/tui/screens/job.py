"""The screen of a job: the command that does the same, how far it is, what it has found."""

from rich.text import Text
from textual.app import ComposeResult
from textual.containers import VerticalScroll
from textual.events import Key
from textual.widgets import Static

from lab2048.views.tui.forms import Plan, command_line
from lab2048.views.tui.job_report import report
from lab2048.views.tui.jobs import Job
from lab2048.views.tui.screens.base import Page
from lab2048.views.tui.widgets import facts
from lab2048.views.tui.widgets.chart import bar

REFRESH_SECONDS = 0.2


class WorkScreen(Page):
    """Follows a job; leaving the screen does not stop it."""

    def __init__(self, plan: Plan, job: Job) -> None:
        """Show a job that runs, or has ended."""
        super().__init__()
        self.plan, self.job = plan, job
        self._version = -1

    def compose(self) -> ComposeResult:
        """What runs, how far it is, what it has found, what it says."""
        yield Static(id="header")
        yield Static(Text(f" $ {command_line(self.job.words)}", overflow="ellipsis", no_wrap=True), id="command")
        with VerticalScroll(id="view"):
            yield Static(id="found")
        yield Static(id="log")
        yield Static(id="bar")
        yield Static(id="keys")

    def on_mount(self) -> None:
        """Follow."""
        self.set_interval(REFRESH_SECONDS, self._follow)

    def on_resize(self) -> None:
        """Tables and curves have another size."""
        self.call_after_refresh(self._draw)

    @property
    def help(self) -> list[tuple[str, str]]:
        """Every key and what it does."""
        return [
            ("s", "stop: what is done is kept; once more: at once"),
            ("n", "begin another, when this one has ended"),
            ("Esc", "back to the menu; the job goes on"),
            ("q, Ctrl-Q", "stop it and leave lab2048"),
        ]

    def on_key(self, event: Key) -> None:
        """Stop, begin anew, or leave."""
        if event.key == "s":
            self.job.stop()
        elif event.key == "n" and not self.job.is_running:
            self._begin_another()
        elif event.key == "q":
            self.lab.leave()

    def _begin_another(self) -> None:
        from lab2048.views.tui.screens.form import FormScreen

        del self.lab.jobs[self.job.name]
        self.app.switch_screen(FormScreen(self.plan))

    def _follow(self) -> None:
        if self._version != self.job.version and self.lab.is_free:
            self._draw()

    def _draw(self) -> None:
        if not self.is_mounted:
            return
        job, columns = self.job, self.size.width
        self._version = job.version
        self.put("header", Text(f" {job.name}", "bold").append(f"  {job.state}", "not bold"))
        view = self.query_one("#view")
        self.put("found", report(job, max(20, columns - 3), view.content_size.height))
        self.put("log", Text("" if job.code == 0 else "\n".join(job.log)))
        self.put("bar", Text(bar(job.part, max(10, columns - 3))))
        keys = [("s", "stop")] if job.is_running else [("n", "another")]
        self.put("keys", facts.join_keys([*keys, ("Esc", "menu"), ("?", "keys"), ("q", "quit")], columns))
