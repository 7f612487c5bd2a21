"""A board with a panel beside it, centred on the screen."""

from textual.app import ComposeResult
from textual.containers import Horizontal, Vertical
from textual.events import Resize
from textual.widgets import Static

from lab2048.rules import Board
from lab2048.views.tui.palette import Palette
from lab2048.views.tui.widgets.board import BoardView
from lab2048.views.tui.widgets.picture import fitting, size_of

PANEL = 35  # columns of the panel, with its margin
PANEL_LINES = 20  # maximum
NARROW = 64  # columns below which the panel is hidden


class BoardAndPanel(Horizontal):
    """A board with a panel at its right; the panel is hidden if both do not fit."""

    def __init__(self, board: Board, palette: Palette, *names: str) -> None:
        """Show a board; the panel has one text per name."""
        super().__init__(id="body")
        self.view = BoardView(board, palette)
        self.panel = Vertical(*(Static(id=name) for name in names), id="panel")

    def compose(self) -> ComposeResult:
        yield self.view
        yield self.panel

    @property
    def has_panel(self) -> bool:
        return bool(self.panel.display)

    def on_resize(self, event: Resize) -> None:
        columns, lines = event.size
        shape = self.view.board.shape
        density = fitting(shape, columns - PANEL, lines) if columns >= NARROW else None
        self.panel.display = density is not None
        density = density or fitting(shape, columns, lines)
        width, height = size_of(shape, density) if density else event.size
        self.view.styles.width = width
        # The panel starts at the top of the board, unless its end would be cut off.
        self.panel.styles.padding = (max(0, min((lines - height) // 2, lines - PANEL_LINES)), 0, 0, 3)
