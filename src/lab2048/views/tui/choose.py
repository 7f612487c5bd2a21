"""Choosing a player: from the list of all, or by a spec that is typed."""

from rich.text import Text
from textual.app import ComposeResult
from textual.containers import Vertical
from textual.events import Key
from textual.screen import ModalScreen
from textual.widgets import Input, OptionList, Static
from textual.widgets.option_list import Option

from lab2048.errors import LabError
from lab2048.views.listing import printable
from lab2048.views.tui.adviser import check_spec
from lab2048.views.tui.page import Line

DOC_WIDTH = 58


class ChooseScreen(ModalScreen[str | None]):
    """Asks for a player; answers with its canonical spec, or with None."""

    def __init__(self, spec: str) -> None:
        """Begin at the player that is asked now."""
        super().__init__()
        self.spec = spec

    def compose(self) -> ComposeResult:
        """Those there are, and a line for a spec."""
        with Vertical():
            yield Static(Text("who is to be asked, and to play?", "bold"))
            yield OptionList(*_options())
            yield Static(id="about")
            yield Line(self.spec, placeholder="name:option=value,option=value", id="spec")
            yield Static(Text("Enter takes the line above, Tab leads there, Esc changes nothing", "dim"))

    def on_mount(self) -> None:
        """Stand on the player of now."""
        players = self.query_one(OptionList)
        name = self.spec.partition(":")[0]
        players.highlighted = next((i for i in range(players.option_count) if _id(players, i) == name), 0)
        self.query_one("#spec", Input).value = self.spec
        players.focus()

    def on_option_list_option_highlighted(self, event: OptionList.OptionHighlighted) -> None:
        """Write the name into the line, with the options that it has below the list."""
        name, line = event.option_id or "", self.query_one("#spec", Input)
        if event.option_index != event.option_list.highlighted:
            return  # the list has moved on
        if name != line.value.partition(":")[0]:
            line.value = name
        self.query_one("#about", Static).update(_about(name))

    def on_option_list_option_selected(self) -> None:
        """Take it."""
        self._take()

    def on_input_submitted(self) -> None:
        """Take it."""
        self._take()

    def on_key(self, event: Key) -> None:
        """Leave."""
        if event.key == "escape":
            event.stop()
            self.dismiss(None)

    def _take(self) -> None:
        try:
            self.dismiss(check_spec(self.query_one("#spec", Input).value))
        except LabError as error:
            self.query_one("#about", Static).update(Text(printable(str(error)), "bold"))


def _id(players: OptionList, i: int) -> str | None:
    return players.get_option_at_index(i).id


def _options() -> list[Option]:
    """Every player that chooses by itself, with the first line of its doc."""
    from lab2048.players.registry import names, player_class

    options = []
    for name in names():
        try:
            player = player_class(name)
        except LabError:
            continue  # a package's player that does not load
        if not player.is_interactive:
            doc = (player.__doc__ or "").strip().partition("\n")[0]
            doc = printable(doc) if len(doc) <= DOC_WIDTH else f"{printable(doc[: DOC_WIDTH - 1])}…"
            options.append(Option(Text(f"{name:<12}", "bold").append(doc, "not bold"), id=name))
    return options


def _about(name: str) -> Text:
    """The options of a player with their defaults."""
    from lab2048.players.registry import options

    fields = [f"{key}={field.default}" for key, field in options(name).items()]
    return Text("options: " + (printable(", ".join(fields)) if fields else "none"), "dim")
