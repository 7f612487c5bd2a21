"""A board and what stands beside it, together in the middle of a screen."""

from textual.app import ComposeResult
from textual.containers import Horizontal, Vertical
from textual.events import Resize
from textual.widgets import Static

from lab2048.rules import Board
from lab2048.views.tui.palette import Palette
from lab2048.views.tui.widgets.board import BoardView
from lab2048.views.tui.widgets.picture import fitting, size_of

PANEL = 35  # columns of the panel, with the air beside the board
PANEL_LINES = 20  # that it may fill
NARROW = 64  # columns below which there is no panel


class BoardAndPanel(Horizontal):
    """A board with a panel of texts at its right; where they do not both fit, the board is alone."""

    def __init__(self, board: Board, palette: Palette, *names: str) -> None:
        """Show a board; the panel has a text for each name."""
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
        # The panel begins where the board does, unless its end would not be seen.
        self.panel.styles.padding = (max(0, min((lines - height) // 2, lines - PANEL_LINES)), 0, 0, 3)
