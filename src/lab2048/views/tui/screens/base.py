"""What the screens have in common: lines that are drawn when they change, a message, and the keys' help."""

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
    """A screen of the laboratory; on small terminals it has a class, by which the style sheet leaves things out."""

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
        """Every key and what it does."""
        return []

    def put(self, name: str, text: Text) -> None:
        """Fill a line or a block, if it has changed: every byte counts on a slow line."""
        if self._shown.get(name) != text:
            self._shown[name] = text
            self.query_one(f"#{name}", Static).update(text)

    def say(self, message: str, *, is_shown: bool = True) -> None:
        """Have a message shown, until there is another."""
        self.message = message
        if is_shown:
            self._draw()

    def _draw(self) -> None:
        """Show how things stand."""

    def rest(self) -> None:
        """Do nothing more by itself: the program is about to end."""

    def key_escape(self) -> None:
        self.app.pop_screen()

    def key_question_mark(self) -> None:
        self.app.push_screen(HelpScreen(self.help))


class Line(Input):
    """A line to type into; its cursor does not blink, because a slow line has better things to carry."""

    def on_mount(self) -> None:
        self.cursor_blink = False


class Choices(OptionList):
    """A list to choose from: the chosen line has a mark, and where colours are few it is in reverse, too.

    Every option takes one line and begins with a space for the mark.
    """

    def render_line(self, y: int) -> Strip:
        strip = super().render_line(y)
        if self.highlighted is None or self.scroll_offset.y + y != self.highlighted:
            return strip
        style = next((segment.style for segment in strip if segment.style), Style())
        strip = Strip.join([Strip([Segment(MARK, style)]), strip.crop(1)])
        # A style sheet cannot do it: Textual forgets `reverse` between the sheet and the line.
        return strip.apply_style(Style(reverse=True)) if self.app.native_ansi_color else strip


class HelpScreen(ModalScreen[None]):
    """Keys and what they do; any key leads back, except those that scroll where they do not all fit."""

    def __init__(self, pairs: list[tuple[str, str]]) -> None:
        super().__init__()
        self._pairs = pairs

    def compose(self) -> "ComposeResult":
        keys = Table.grid(padding=(0, 2, 0, 0))
        for key, doc in self._pairs:
            keys.add_row(Text(key, "bold"), doc)
        # As wide as the widest line, with a border, air, and a bar to scroll by; the style sheet says how wide at most.
        width = sum(max(map(len, words), default=0) for words in zip(*self._pairs, strict=True)) + 7
        with VerticalScroll(classes="box") as box:
            box.styles.width = width
            yield Static(keys)
            yield Static(Text("\nany key goes back", "dim"))

    def on_key(self, event: "Key") -> None:
        """Scroll, if there is more than fits, or go back."""
        box = self.query_one(VerticalScroll)
        if box.max_scroll_y and event.key in ("up", "down", "pageup", "pagedown", "home", "end"):
            return
        event.stop()
        self.dismiss()
