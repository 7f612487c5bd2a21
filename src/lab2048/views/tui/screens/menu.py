"""The first screen: the menu and the running jobs."""

from rich.text import Text
from textual.app import ComposeResult
from textual.events import Key
from textual.widgets import OptionList, Static
from textual.widgets.option_list import Option

import lab2048
from lab2048.views.tui.forms import COMMAND_FORMS, CommandForm
from lab2048.views.tui.job_report import state_text
from lab2048.views.tui.screens.base import Choices, Page
from lab2048.views.tui.widgets import facts

REFRESH_SECONDS = 0.5


class MenuScreen(Page):
    """The menu: play, watch, games, practice, match, train, solve."""

    def compose(self) -> ComposeResult:
        """Lay out the title, the menu, the jobs and the keys."""
        title = Text("lab2048", "bold").append(f" {lab2048.__version__}  ", "dim not bold")
        yield Static(title.append("a laboratory for the game 2048", "not bold"), id="title")
        yield Choices(*(Option(_line(form), id=form.name) for form in COMMAND_FORMS))
        yield Static(id="jobs")
        yield Static(id="keys")

    def on_mount(self) -> None:
        self.set_interval(REFRESH_SECONDS, self._draw)
        self._draw()

    def on_screen_resume(self) -> None:
        self._draw()

    def _draw(self) -> None:
        if not self.is_mounted or not self.lab.is_free:
            return
        text = Text()
        for name, job in self.lab.current_jobs.items():
            text.append(f"{name}: ", "bold").append(f"{state_text(job)}\n")
        self.put("jobs", text)
        keys = [
            ("↑↓", "choose"),
            ("Enter", "open"),
            (" ".join(form.key for form in COMMAND_FORMS), "shortcuts"),
            ("?", "keys"),
            ("q", "quit"),
        ]
        self.put("keys", facts.join_keys(keys, self.size.width))

    @property
    def help(self) -> list[tuple[str, str]]:
        opens = [(form.key, f"{form.name}: {form.doc}") for form in COMMAND_FORMS]
        return [("arrows, Enter", "choose and open"), *opens, ("q, Ctrl-Q", "leave lab2048")]

    def on_key(self, event: Key) -> None:
        form = next((form for form in COMMAND_FORMS if form.key == event.key), None)
        if form:
            self.open(form)
        elif event.key == "q":
            self.lab.leave()
        elif event.key == "escape":
            event.stop()  # the first screen

    def key_escape(self) -> None:
        """Do nothing: the menu is the first screen."""

    def on_option_list_option_selected(self, event: OptionList.OptionSelected) -> None:
        self.open(next(form for form in COMMAND_FORMS if form.name == event.option_id))

    def open(self, form: CommandForm) -> None:
        """Return the screen of an entry: its running job, its form, or the list of games."""
        from lab2048.views.tui.screens.form import FormScreen
        from lab2048.views.tui.screens.games import GamesScreen
        from lab2048.views.tui.screens.job import JobScreen
        from lab2048.views.tui.screens.practice import PracticeScreen

        if form.name == "games":
            self.app.push_screen(GamesScreen())
        elif form.name == "practice":
            self.app.push_screen(PracticeScreen())
        elif form.name in self.lab.current_jobs:
            self.app.push_screen(JobScreen(form, self.lab.current_jobs[form.name]))
        else:
            self.app.push_screen(FormScreen(form))


def _line(form: CommandForm) -> Text:
    return Text(f" {form.name:<9}", "bold").append(form.doc, "not bold")
