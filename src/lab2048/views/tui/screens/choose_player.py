"""The dialog to choose a player: type a name to filter the list, or a spec with options."""

import dataclasses
from typing import Any, ClassVar

from rich.text import Text
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Vertical
from textual.screen import ModalScreen
from textual.widgets import Input, OptionList, Static
from textual.widgets.option_list import Option

from lab2048.errors import LabError
from lab2048.players.registry import autonomous_spec, names, options, player_class, summary
from lab2048.views.game_list import printable
from lab2048.views.tui.screens.base import Choices, Line
from lab2048.views.tui.widgets import facts

WALKS = {"up": "cursor_up", "down": "cursor_down", "pageup": "page_up", "pagedown": "page_down"}
KEYS = [("↑↓", "choose"), ("Tab", "complete"), ("Enter", "select"), ("Esc", "cancel")]


class ChooseScreen(ModalScreen[str | None]):
    """Asks for a player; returns its canonical spec, or None.

    Letters go into the field and filter the list, arrows move in the list, and the line below shows what
    Enter selects.
    """

    BINDINGS: ClassVar[list[BindingType]] = [
        *(Binding(key, f"choose('{walk}')", show=False) for key, walk in WALKS.items()),
        Binding("tab", "complete", show=False),
        Binding("escape", "leave", show=False),
    ]
    VERTICAL_BREAKPOINTS = [(0, "-low"), (20, "-high")]  # noqa: RUF012 (Textual declares it so)

    def __init__(self, spec: str) -> None:
        super().__init__()
        self.spec = spec
        self._docs = _names()
        self.is_loaded = False  # the descriptions of players
        self._error = ""

    def compose(self) -> ComposeResult:
        with Vertical():
            yield Static(Text("Player for hints and autoplay", "bold"), id="question")
            yield Line(placeholder="a name, or a spec such as expectimax:depth=3", id="spec")
            players = Choices()
            players.can_focus = False  # letters always go to the field
            yield players
            yield Static(id="about")
            yield Static(facts.join_keys(KEYS, 70), id="how")

    def on_mount(self) -> None:
        """Show the names at once; descriptions follow, because they import the players."""
        self.query_one("#spec", Input).focus()
        self._pick()
        self.run_worker(self._load, thread=True)

    def _load(self) -> None:
        docs = _docs()
        if self.is_running:
            self.app.call_from_thread(self._loaded, docs)

    def _loaded(self, docs: dict[str, str]) -> None:
        chosen, self._docs, self.is_loaded = self._chosen, docs, True
        self._pick(chosen)

    @property
    def _typed(self) -> str:
        return self.query_one("#spec", Input).value.strip().replace(" :", ":")

    @property
    def _chosen(self) -> str | None:
        """Return the highlighted name, if there is one."""
        option = self.query_one(Choices).highlighted_option
        return option.id if option else None

    @property
    def _taken(self) -> str:
        """Return what Enter selects: the typed spec, or the highlighted name."""
        typed, chosen = self._typed, self._chosen
        if ":" in typed or (typed and chosen is None):
            return typed
        is_same = not typed and chosen in (None, self.spec.partition(":")[0])
        return self.spec if is_same or chosen is None else chosen

    def _pick(self, chosen: str | None = None) -> None:
        """List the players that match the typed text, or all; highlight `chosen`, or the best match."""
        players, typed = self.query_one(Choices), self._typed
        found = matching(typed, list(self._docs))
        players.set_options(Option(_line(name, self._docs[name]), id=name) for name in found or self._docs)
        if found:
            likely = chosen or ("" if typed else self.spec.partition(":")[0])
            players.highlighted = found.index(likely) if likely in found else 0
        self._show()

    def _show(self) -> None:
        """Show what Enter selects, and its options."""
        text = Text(self._error, "bold")
        if not self._error:
            text = Text("Enter selects ", "dim").append(printable(self._taken), "bold not dim")
        name, colon, _ = self._taken.partition(":")
        if name in self._docs and self.is_loaded:
            doc = "" if colon or self._error else f"{self._docs[name]}\n"
            text.append(f"\n{doc}", "not dim not bold").append(options_text(self._taken), "dim not bold")
        self.query_one("#about", Static).update(text)

    def on_input_changed(self) -> None:
        self._error = ""
        self._pick()

    def on_option_list_option_highlighted(self) -> None:
        self._show()

    async def action_choose(self, walk: str) -> None:
        """Move in the list, whatever has the focus."""
        self._error = ""
        await self.query_one(Choices).run_action(walk)
        self._show()

    def action_complete(self) -> None:
        """Write the highlighted name into the field, ready for options."""
        if self._chosen:
            line = self.query_one("#spec", Input)
            line.value = self._taken if ":" in self._taken else f"{self._chosen}:"
            line.cursor_position = len(line.value)

    def action_leave(self) -> None:
        self.dismiss(None)

    def on_option_list_option_selected(self, event: OptionList.OptionSelected) -> None:
        self.dismiss(event.option_id)

    def on_input_submitted(self) -> None:
        self._take()

    def _take(self) -> None:
        try:
            self.dismiss(autonomous_spec(self._taken))
        except LabError as error:
            self._error = printable(str(error))
            self._show()


def matching(typed: str, names: list[str]) -> list[str]:
    """Return the names that match the typed text, best match first; with a colon, only the exact name.

    >>> matching("n", ["first", "net", "random"]), matching("net:depth=2", ["net", "net2"])
    (['net', 'random'], ['net'])
    """
    name, colon, _ = typed.lower().partition(":")
    if colon:
        return [each for each in names if each == name.strip()]
    return sorted((each for each in names if name in each), key=lambda each: (not each.startswith(name), each))


def options_text(spec: str) -> str:
    """Describe the options of a player, or the one that is being typed."""
    name, _, rest = spec.partition(":")
    fields = options(name)
    key = rest.rpartition(",")[2].partition("=")[0].strip()
    if key in fields:
        return printable(f"{_assigned(fields[key])}  {fields[key].metadata.get('doc', '')}")
    shown = [_assigned(field) for option, field in fields.items() if option.startswith(key)]
    return printable(f"options {', '.join(shown or map(_assigned, fields.values()))}") if fields else "no options"


def _assigned(field: "dataclasses.Field[Any]") -> str:
    """Write an option with its default, or with what it takes: depth=3, deepen=no|tiles|empty, ms=NUMBER."""
    choices, value = field.metadata.get("choices"), field.default
    if choices:
        return f"{field.name}={'|'.join(choices)}"
    if value is None or value == "":
        is_text = "str" in str(field.type)
        is_file = is_text and "file" in str(field.metadata.get("doc", ""))
        return f"{field.name}={'FILE' if is_file else 'TEXT' if is_text else 'NUMBER'}"
    return f"{field.name}={str(value).lower() if isinstance(value, bool) else value}"


def _names() -> dict[str, str]:
    """Return the names of players, without descriptions."""
    return {name: "" for name in names() if name != "human"}


def _docs() -> dict[str, str]:
    """Return the players that choose by themselves, with their descriptions."""
    docs = {}
    for name in _names():
        try:
            player = player_class(name)
        except LabError:
            continue  # a player of an installed package that does not load
        if not player.is_interactive:
            docs[name] = printable(summary(name))
    return docs


def _line(name: str, doc: str) -> Text:
    return Text(f" {name:<11} ", "bold", no_wrap=True, overflow="ellipsis").append(doc, "not bold")
