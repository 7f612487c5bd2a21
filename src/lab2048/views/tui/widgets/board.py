"""The board widget: as large as possible; only changes are redrawn."""

from rich.segment import Segment
from textual.geometry import Region, Size
from textual.strip import Strip
from textual.timer import Timer
from textual.widget import Widget

from lab2048.rules import Board
from lab2048.views.text import fit
from lab2048.views.tui.palette import Palette
from lab2048.views.tui.widgets.picture import DENSITIES, Picture, fitting, size_of

SPAWN_SECONDS = 0.08  # seconds between slide and spawn


class BoardView(Widget):
    """Shows one board, centred in the widget.

    A move may be shown in two steps, first the slide and then the spawn; the next board
    does not wait for the second step.
    """

    DEFAULT_CSS = "BoardView { width: 1fr; height: 100%; }"

    def __init__(self, board: Board, palette: Palette) -> None:
        """Show a board in the colours of the palette."""
        super().__init__()
        self.board, self.palette = board, palette
        self.fresh: int | None = None
        self.picture: Picture | None = None
        self._spawn: Timer | None = None

    def show(self, board: Board, fresh: int | None = None, after: Board | None = None) -> None:
        """Show a board; if the afterstate is given, show that first and the spawn a moment later."""
        if self._spawn is not None:
            self._spawn.stop()
            self._spawn = None
        if after is not None:
            self._draw(after, None)
            self._spawn = self.set_timer(SPAWN_SECONDS, lambda: self._draw(board, fresh))
        else:
            self._draw(board, fresh)

    def _draw(self, board: Board, fresh: int | None) -> None:
        before, self.board, self.fresh = self.picture, board, fresh
        self._make_picture()
        now = self.picture
        if before is None or now is None or before.board.shape != board.shape or before.density != now.density:
            self.refresh()
            return
        left, top = self._corner
        changed = {cell for cell, rank in enumerate(board.ranks) if before.board.ranks[cell] != rank}
        changed |= {cell for cell in (before.fresh, fresh) if cell is not None}
        regions = [Region(left + x, top + y, *now.density) for x, y in (now.offsets[cell] for cell in changed)]
        if regions:
            self.refresh(*regions)

    def _make_picture(self) -> None:
        density = fitting(self.board.shape, *self.size)
        self.picture = density and Picture(self.board, density, self.palette, self.fresh)

    @property
    def _corner(self) -> tuple[int, int]:
        assert self.picture is not None  # only called if there is a picture
        columns, lines = size_of(self.board.shape, self.picture.density)
        return (self.size.width - columns) // 2, (self.size.height - lines) // 2

    def on_resize(self) -> None:
        self._make_picture()
        self.refresh()

    def render_line(self, y: int) -> Strip:
        """Return one line of the picture, or the message that it does not fit."""
        width = self.size.width
        if self.picture is None:
            self._make_picture()  # may be called before the size is known
        if self.picture is None:
            return self._complaint(y, self.size)
        left, top = self._corner
        lines = self.picture.lines
        if not top <= y < top + len(lines):
            return Strip.blank(width, self.rich_style)
        line = Strip([Segment(" " * left), *lines[y - top]]).adjust_cell_length(width)
        return line.apply_style(self.rich_style)

    def _complaint(self, y: int, size: Size) -> Strip:
        if y != size.height // 2:
            return Strip.blank(size.width, self.rich_style)
        columns, lines = size_of(self.board.shape, DENSITIES[-1])
        text = fit(size.width, f"this board needs {columns}x{lines} here", f"needs {columns}x{lines}", "too small")
        return Strip([Segment(text.center(size.width))]).apply_style(self.rich_style)
