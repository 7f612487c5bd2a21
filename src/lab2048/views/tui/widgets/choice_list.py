"""A list to choose from: the chosen line has a mark, and where colours are few it is in reverse, too."""

from rich.segment import Segment
from rich.style import Style
from textual.strip import Strip
from textual.widgets import OptionList

MARK = "▸"


class Choices(OptionList):
    """Lines of which one is chosen; every option takes one line, and begins with a space for the mark."""

    def render_line(self, y: int) -> Strip:
        strip = super().render_line(y)
        if self.highlighted is None or self.scroll_offset.y + y != self.highlighted:
            return strip
        style = next((segment.style for segment in strip if segment.style), Style())
        strip = Strip.join([Strip([Segment(MARK, style)]), strip.crop(1)])
        # A style sheet cannot do it: Textual forgets `reverse` between the sheet and the line.
        return strip.apply_style(Style(reverse=True)) if self.app.native_ansi_color else strip
