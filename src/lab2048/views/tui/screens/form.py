"""The form of a command: one line per field, and the equivalent command line below."""

import random
import shlex
from typing import TYPE_CHECKING, Any, ClassVar

from rich.text import Text
from textual.app import ComposeResult
from textual.binding import Binding
from textual.containers import Horizontal, VerticalScroll
from textual.widgets import Input, Static

from lab2048.errors import LabError, OutOfRangeError
from lab2048.jobs.command_line import command_line, file_options
from lab2048.players.registry import autonomous_spec, default_spec
from lab2048.rules import Rules
from lab2048.rules.dice import MAX_SEED, check_seed
from lab2048.views.game_list import printable
from lab2048.views.tui.forms import CommandForm, Field, read_number, rules_of
from lab2048.views.tui.screens.base import MARK, Line, Page
from lab2048.views.tui.widgets import facts

if TYPE_CHECKING:
    from textual.screen import Screen

    from lab2048.records.episode import Episode
    from lab2048.records.store import Store
    from lab2048.views.tui.screens.play import PlayScreen

MAX_SPEED = 1000.0


class FormScreen(Page):
    """Asks for the options of a game or a job; Enter starts it."""

    # With priority, the focus has moved before the next key of a burst is handled.
    BINDINGS: ClassVar = [
        Binding("down", "next_field", show=False, priority=True),
        Binding("up", "previous_field", show=False, priority=True),
    ]

    def __init__(self, form: CommandForm) -> None:
        super().__init__()
        self.form = form

    def compose(self) -> ComposeResult:
        yield Static(Text(f" {self.form.name}", "bold").append(f"  {self.form.doc}", "not bold"), id="header")
        with VerticalScroll(id="fields", can_focus=False):
            for field in self.form.fields:
                with Horizontal(classes="row"):
                    yield Static(f" {field.name}", classes="label", id=f"label-{field.name}")
                    yield Line(self._default(field), id=f"field-{field.name}")
                    yield Static(Text(field.doc, no_wrap=True, overflow="ellipsis"), classes="doc")
        yield Static(id="command")
        yield Static(id="message")
        yield Static(id="keys")

    def on_mount(self) -> None:
        self._draw()

    def _default(self, field: Field) -> str:
        """Return the first value of a field: as typed last time, from the options of `lab2048 tui`, or its default."""
        said = {} if self.form.name == "solve" else self.lab.defaults  # `solve` has its own default board
        said = {**said, **self.lab.typed.get(self.form.name, {})}
        return said.get(field.name, field.default)

    @property
    def values(self) -> dict[str, str]:
        """Return the values of the fields."""
        return {field.name: self.query_one(f"#field-{field.name}", Input).value for field in self.form.fields}

    @property
    def words(self) -> list[str]:
        """Return the equivalent command line as a list."""
        name, lab, values = self.form.name, self.lab, self.values
        files = file_options(shlex.split(values.get("players", values.get("player", ""))))
        store = ["--store", str(lab.store_file)] if lab.store_file else []
        return self.form.words(values) + files + store * (name in ("play", "watch", "match"))

    @property
    def help(self) -> list[tuple[str, str]]:
        return [("Tab, arrows", "next or previous field"), ("Enter", "begin"), ("Esc", "back to the menu")]

    def action_next_field(self) -> None:
        self.focus_next()

    def action_previous_field(self) -> None:
        self.focus_previous()

    def on_descendant_focus(self) -> None:
        """Mark the focused field and select its text, so that typing replaces it."""
        for field in self.form.fields:
            has_focus = self.query_one(f"#field-{field.name}").has_focus
            mark = Text(f"{MARK if has_focus else ' '}{field.name}", "bold" if has_focus else "")
            self.put(f"label-{field.name}", mark)

    def key_question_mark(self) -> None:
        """Do nothing: in a form, ? is an ordinary letter."""

    def on_input_changed(self) -> None:
        self.message = ""
        self._draw()

    def on_input_submitted(self) -> None:
        try:
            self.app.switch_screen(self._begin())
        except (LabError, ValueError) as error:  # unclosed quotes
            self.say(printable(str(error)))

    def _draw(self) -> None:
        try:
            line = command_line(self.words)
        except (LabError, ValueError):
            line = "lab2048 ..."
        self.put("command", Text(f" $ {printable(line)}"))
        self.put("message", Text(self.message))
        self.put("keys", facts.join_keys([("Enter", "begin"), ("↑↓", "fields"), ("Esc", "menu")], self.size.width))

    def _begin(self) -> "Screen[None]":
        """Return the screen that the form starts; raise LabError for invalid options."""
        if self.form.name in ("play", "watch"):
            return self._game()
        from lab2048.views.tui.screens.job import JobScreen

        words, request = self.words, self._request()
        self.lab.typed[self.form.name] = self.values
        resume_words = self.form.resume_words(words)
        job = self.lab.jobs.start(self.form.name, shlex.join(words), words, request=request, resume_words=resume_words)
        self.lab.current_jobs[self.form.name] = job
        return JobScreen(self.form, job)

    def _request(self) -> dict[str, Any]:
        """Return the request of a job; raise LabError for invalid players or rules."""
        values = self.values
        specs = [autonomous_spec(spec) for spec in shlex.split(values.get("players", ""))]
        request: dict[str, Any] = {"rules": rules_of(values).to_json()}
        if self.form.name == "match":
            request |= {name: read_number(values, name, 0) for name in ("games", "seed")} | {"specs": specs}
        minutes = values.get("minutes", "").strip()
        return request | ({"total_minutes": float(minutes)} if minutes and _is_number(minutes) else {})

    def _game(self) -> "Screen[None]":
        from lab2048.arena.session import Session
        from lab2048.views.tui.screens.play import PlayScreen

        values = self.values
        rules = rules_of(values)
        seed = check_seed(read_number(values, "seed", random.SystemRandom().randint(0, MAX_SEED)))
        spec = default_player(rules, values.get("player", ""))
        speed = float(values.get("speed", "").strip() or 10) if _is_number(values.get("speed", "")) else -1.0
        if not 0 <= speed <= MAX_SPEED:
            raise OutOfRangeError("speed", f"{values['speed']!r}", f"0 to {MAX_SPEED:g}")
        return PlayScreen(Session(rules, seed, self.lab.store), spec, speed=speed, is_auto=self.form.name == "watch")


def default_player(rules: Rules, spec: str = "") -> str:
    """Return the named player, or the default player of the board."""
    return autonomous_spec(spec) if spec.strip() else default_spec(rules)


def continue_game(episode: "Episode", store: "Store", n_moves: int | None = None, spec: str = "") -> "PlayScreen":
    """Return a screen that continues a recorded game from a move, or from its end."""
    from lab2048.arena.session import Session
    from lab2048.views.tui.screens.play import PlayScreen

    session = Session.branch(episode, len(episode.moves) if n_moves is None else n_moves, store)
    return PlayScreen(session, default_player(episode.rules, spec))


def _is_number(text: str) -> bool:
    try:
        float(text.strip() or 10)
    except ValueError:
        return False
    return True
