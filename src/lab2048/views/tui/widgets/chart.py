"""Curves in braille characters, 2x4 dots each."""

from collections.abc import Sequence
from itertools import pairwise

from lab2048.views.number import number

# The bits of a braille character: column by column, from the top.
_DOTS = ((0x01, 0x02, 0x04, 0x40), (0x08, 0x10, 0x20, 0x80))
_AXIS = 9  # columns for the labels at the left


def chart(points: Sequence[tuple[float, float]], columns: int, lines: int, *, unit: str = "") -> list[str]:
    r"""Draw a curve through points, with labels at its ends; return no lines if there is nothing to draw.

    `unit` labels the horizontal axis.

    >>> print("\n".join(chart([(0, 0), (1, 10)], 18, 4, unit="games")))
         10 │⠀⠀⠀⠀⠀⠀⣀⠔⠊
            │⠀⠀⠀⡠⠔⠊⠀⠀⠀
          0 │⡠⠔⠉⠀⠀⠀⠀⠀⠀
             0 games 1
    """
    width, height = columns - _AXIS, lines - 1
    if len(points) < 2 or width < 4 or height < 2:
        return []
    (left, right), (low, high) = _range([x for x, _ in points]), _range([y for _, y in points])
    across, down = 2 * width - 1, 4 * height - 1
    dots = [[0] * width for _ in range(height)]
    scaled = [(round((x - left) / (right - left) * across), round((high - y) / (high - low) * down)) for x, y in points]
    for (x0, y0), (x1, y1) in pairwise(scaled):
        steps = max(abs(x1 - x0), abs(y1 - y0), 1)
        for step in range(steps + 1):
            x, y = x0 + round((x1 - x0) * step / steps), y0 + round((y1 - y0) * step / steps)
            dots[y // 4][x // 2] |= _DOTS[x % 2][y % 4]
    figures = {0: number(high), height - 1: number(low)}
    rows = [
        f"{figures.get(i, ''):>{_AXIS - 2}} │" + "".join(chr(0x2800 + dot) for dot in row) for i, row in enumerate(dots)
    ]
    start, end = number(left), number(right)
    middle = unit.center(width - len(start) - len(end)) if width > len(start) + len(end) + len(unit) else " "
    rows.append(" " * _AXIS + start + middle + end)
    return rows


def _range(values: Sequence[float]) -> tuple[float, float]:
    low, high = min(values), max(values)
    return (low, high) if high > low else (low, low + 1)


def bar(part: float | None, columns: int) -> str:
    """Draw a progress bar.

    >>> bar(0.5, 15)
    '█████·····  50%'
    """
    if part is None:
        return "·" * columns
    room = max(1, columns - 5)
    n_full = round(part * room)
    return f"{'█' * n_full}{'·' * (room - n_full)} {part:>4.0%}"
