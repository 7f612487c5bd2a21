"""The base class of the screens: lines redrawn on change, a message, and a help screen."""

from typing import TYPE_CHECKING, cast

from rich.segment import Segment
from rich.style import Style
from rich.table import Table
from rich.text import Text
from textual.containers import VerticalScroll
from textual.screen import ModalScreen, Screen
from textual.strip import Strip
from textual.widgets import Input, OptionList, Static

from lab2048.views.tui.palette import Palette

if TYPE_CHECKING:
    from textual.app import ComposeResult
    from textual.events import Key

    from lab2048.views.tui.app import LabApp


MARK = "▸"  # before the chosen line or field


class Page(Screen[None]):
    """Base class of all screens; small terminals get a CSS class that hides less important parts."""

    VERTICAL_BREAKPOINTS = [(0, "-low"), (18, "-high")]  # noqa: RUF012 (Textual declares it so)
    HORIZONTAL_BREAKPOINTS = [(0, "-narrow"), (64, "-wide")]  # noqa: RUF012

    def __init__(self) -> None:
        super().__init__()
        self.message = ""
        self._shown: dict[str, Text] = {}

    @property
    def lab(self) -> "LabApp":
        return cast("LabApp", self.app)

    @property
    def palette(self) -> Palette:
        return self.lab.palette

    @property
    def help(self) -> list[tuple[str, str]]:
        """Return every key and its meaning."""
        return []

    def put(self, name: str, text: Text) -> None:
        """Update a line or block if it has changed, to save output on slow connections."""
        if self._shown.get(name) != text:
            self._shown[name] = text
            self.query_one(f"#{name}", Static).update(text)

    def say(self, message: str, *, is_shown: bool = True) -> None:
        """Show a message until the next one."""
        self.message = message
        if is_shown:
            self._draw()

    def _draw(self) -> None:
        """Draw the current state."""

    def rest(self) -> None:
        """Stop background activity before the program ends."""

    def key_escape(self) -> None:
        self.app.pop_screen()

    def key_question_mark(self) -> None:
        self.app.push_screen(HelpScreen(self.help))


class Line(Input):
    """An input field whose cursor does not blink, to save output on slow connections."""

    def on_mount(self) -> None:
        self.cursor_blink = False


class Choices(OptionList):
    """A list to choose from: the selected line has a mark, and is reversed if colours are few.

    Every option takes one line and begins with a space for the mark.
    """

    def render_line(self, y: int) -> Strip:
        strip = super().render_line(y)
        if self.highlighted is None or self.scroll_offset.y + y != self.highlighted:
            return strip
        style = next((segment.style for segment in strip if segment.style), Style())
        strip = Strip.join([Strip([Segment(MARK, style)]), strip.crop(1)])
        # Not in the style sheet: Textual drops `reverse` from it.
        return strip.apply_style(Style(reverse=True)) if self.app.native_ansi_color else strip


class HelpScreen(ModalScreen[None]):
    """The help screen: any key closes it, except keys that scroll a long list."""

    def __init__(self, pairs: list[tuple[str, str]]) -> None:
        super().__init__()
        self._pairs = pairs

    def compose(self) -> "ComposeResult":
        keys = Table.grid(padding=(0, 2, 0, 0))
        for key, doc in self._pairs:
            keys.add_row(Text(key, "bold"), doc)
        # The widest line plus border, padding and scroll bar; the style sheet has the maximum.
        width = sum(max(map(len, words), default=0) for words in zip(*self._pairs, strict=True)) + 7
        with VerticalScroll(classes="box") as box:
            box.styles.width = width
            yield Static(keys)
            yield Static(Text("\npress any key to go back", "dim"))

    def on_key(self, event: "Key") -> None:
        """Scroll if the list is too long, otherwise go back."""
        box = self.query_one(VerticalScroll)
        if box.max_scroll_y and event.key in ("up", "down", "pageup", "pagedown", "home", "end"):
            return
        event.stop()
        self.dismiss()
