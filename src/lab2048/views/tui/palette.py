"""Tile colours for every kind of terminal, and ASCII replacements.

Boards are readable without colours.
"""

import os
from dataclasses import dataclass
from enum import Enum

from rich.color import Color
from rich.console import Console
from rich.segment import Segment
from rich.style import Style
from textual.color import Color as TextualColor
from textual.filter import LineFilter
from textual.theme import Theme


class Depth(Enum):
    """How many colours a terminal shows."""

    NONE = "none"
    SIXTEEN = "sixteen"
    MEDIUM = "256"
    MANY = "many"


# Backgrounds of ranks from 1 on with many colours, the same as on the page.
_TILES = (
    "#eee4da", "#ede0c8", "#af5d1b", "#b84f1c", "#b93b21", "#a62a14", "#f3d98b", "#efcf63", "#e9c23c",
    "#e3b21f", "#d9a404", "#3d7a45", "#1f7a68", "#256f92", "#3d61ad", "#6b4aa8", "#9a3c82",
)  # fmt: skip
_INKS = ("#5c5147",) * 2 + ("#ffffff",) * 4 + ("#4a3500",) * 5 + ("#ffffff",) * 6
_EMPTY, _QUIET = "#3b362f", "#8d8174"
# The same with 256 colours, chosen by hand: each differs from its neighbours.  Numbers of xterm, background and text.
_MEDIUM = (
    (255, 236), (223, 236), (214, 16), (208, 16), (202, 16), (160, 231), (229, 236), (227, 16), (220, 16),
    (178, 16), (136, 16), (71, 16), (30, 231), (38, 16), (27, 231), (99, 231), (169, 16),
)  # fmt: skip
# The same with 16 colours.  Only the eight basic ones are safe backgrounds; large tiles repeat them with another text.
_OLD = (
    (7, 0), (3, 0), (1, 15), (5, 15), (4, 15), (6, 0), (2, 0), (7, 4), (3, 4),
    (1, 11), (5, 11), (4, 11), (6, 4), (2, 4), (7, 1), (4, 14), (1, 14),
)  # fmt: skip

THEME = Theme(
    name="lab2048",
    primary="#d8b48a",
    secondary="#b3a999",
    accent="#d8b48a",
    foreground="#ece6da",
    background="#171613",
    surface="#211f1b",
    panel="#2b2823",
    success="#62c985",
    warning="#efcf63",
    error="#ff8a75",
    variables={"block-cursor-foreground": "#1f1a14", "block-cursor-background": "#d8b48a"},
)
# The same with colours that xterm's 256 have; the nearest ones to the theme above would be pink.
MEDIUM_THEME = Theme(
    name="lab2048-256",
    primary="#d7af87",
    secondary="#b2b2b2",
    accent="#d7af87",
    foreground="#e4e4e4",
    background="#121212",
    surface="#1c1c1c",
    panel="#303030",
    success="#5fd787",
    warning="#ffd75f",
    error="#ff8787",
    variables={"block-cursor-foreground": "#121212", "block-cursor-background": "#d7af87"},
)
# The terminal's default colours; lab.tcss shows the selected line in reverse.
PLAIN_THEME = Theme(
    name="lab2048-plain",
    ansi=True,
    primary="ansi_default",
    secondary="ansi_default",
    accent="ansi_default",
    foreground="ansi_default",
    background="ansi_default",
    surface="ansi_default",
    panel="ansi_default",
    boost="ansi_default",
    success="ansi_green",
    warning="ansi_yellow",
    error="ansi_red",
    variables={
        "ansi-background": "ansi_black",
        "ansi-foreground": "ansi_white",
        "border": "ansi_default",
        "border-blurred": "ansi_default",
    },
)


def detect_depth() -> Depth:
    """Detect the colours of the terminal from the environment; NO_COLOR takes precedence."""
    if os.environ.get("NO_COLOR"):
        return Depth.NONE
    system = Console(force_terminal=True).color_system
    few = {None: Depth.NONE, "standard": Depth.SIXTEEN, "windows": Depth.SIXTEEN, "256": Depth.MEDIUM}
    return few.get(system, Depth.MANY)


@dataclass(frozen=True)
class Palette:
    """The styles of tiles on one kind of terminal."""

    depth: Depth = Depth.MANY
    is_ascii: bool = False

    @property
    def has_many(self) -> bool:
        """Return True if there are more than sixteen colours."""
        return self.depth in (Depth.MEDIUM, Depth.MANY)

    @property
    def theme(self) -> Theme:
        """Return the colours of everything but tiles."""
        return {Depth.MANY: THEME, Depth.MEDIUM: MEDIUM_THEME}.get(self.depth, PLAIN_THEME)

    @property
    def has_slabs(self) -> bool:
        """Return True if tiles are filled with colour; otherwise they have borders."""
        return self.depth is not Depth.NONE and not self.is_ascii

    def tile(self, rank: int) -> Style:
        if self.depth is Depth.NONE:
            return Style(bold=True)
        if self.depth is Depth.SIXTEEN:
            back, ink = _OLD[(rank - 1) % len(_OLD)]
            return Style(color=Color.from_ansi(ink), bgcolor=Color.from_ansi(back), bold=ink > 7)
        i = min(rank, len(_TILES)) - 1
        if self.depth is Depth.MEDIUM:
            back, ink = _MEDIUM[i]
            return Style(color=Color.from_ansi(ink), bgcolor=Color.from_ansi(back), bold=True)
        return Style(color=_INKS[i], bgcolor=_TILES[i], bold=True)

    def fresh(self, rank: int) -> Style:
        """Return the style of a new tile, visible even without colours."""
        return self.tile(rank) + (Style(reverse=True) if self.depth is Depth.NONE else Style(underline=True))

    @property
    def empty(self) -> Style:
        """Return the style of an empty cell; it has a background only with many colours."""
        if self.has_many:
            return Style(color=_QUIET, bgcolor=_EMPTY)
        return Style(dim=self.depth is Depth.SIXTEEN)

    @property
    def brick(self) -> Style:
        return Style(color=_QUIET) if self.has_many else Style()


# ASCII replacements, one letter each, so that nothing moves.
_ASCII = {
    **dict.fromkeys("─━▔▁", "-"), **dict.fromkeys("│┃▏▕", "|"), **dict.fromkeys("┌┐└┘├┤┬┴┼╭╮╰╯", "+"),
    **dict.fromkeys("█▇▆▅▉▊▋", "#"), **dict.fromkeys("▄▃▂▌▍▎▐▀", "="), **dict.fromkeys("░▒▓", "%"),
    "·": ".", "↑": "^", "↓": "v", "←": "<", "→": ">", "↖": "\\", "↘": "\\", "↗": "/", "↙": "/", "▸": ">", "◂": "<",
    "±": "~", "≥": ">", "…": ".", "⠀": " ", "µ": "u", "\u00a0": " ",
}  # fmt: skip


def to_ascii(text: str) -> str:
    """Convert a text to ASCII of the same width.

    >>> to_ascii("┌─┐ 1,097 ± 12 ⣿")
    '+-+ 1,097 ~ 12 *'
    """
    return "".join(letter if letter.isascii() else _ASCII.get(letter) or _dotted(letter) for letter in text)


def _dotted(letter: str) -> str:
    """Return the character of a chart cell: many dots, or few."""
    if "\u2800" <= letter <= "\u28ff":
        return "*" if (ord(letter) & 255).bit_count() > 2 else "."
    return "?"


class AsciiFilter(LineFilter):
    """A line filter that replaces everything that is not ASCII."""

    def apply(self, segments: list[Segment], background: TextualColor) -> list[Segment]:  # noqa: ARG002
        return [Segment(to_ascii(segment.text), segment.style, segment.control) for segment in segments]
