"""Pictures of the patterns of an n-tuple network, and of their symmetric copies, as SVG and as text."""

from collections.abc import Iterator, Sequence
from html import escape
from itertools import chain

from lab2048.models.ntuple.pattern import Pattern, write_patterns
from lab2048.rules.shape import Shape

MAX_PATTERNS = 16  # in one picture
N_BESIDE = 8  # patterns beside each other if they have no copies
SIDE, GAP, LABEL, HEAD = 62, 14, 18, 26  # width of a board, space beside it, and room above the boards
COLOURS = ("#d9541e", "#1f77b4", "#2a8a4a", "#8a4fbf", "#b8860b", "#c2357a", "#3b7f8c", "#7a5c3a")
EMPTY, LINE, INK = "#c9c2b6", "#8d8477", "#80776a"  # readable on light and dark pages


def copies(pattern: Pattern, shape: Shape) -> tuple[Pattern, ...]:
    """Return where each symmetry of the shape puts a pattern: the pattern itself first.

    A symmetric pattern has equal copies; they are looked up all the same.

    >>> from lab2048.rules import rectangle
    >>> [write_patterns([each]) for each in copies((0, 1, 2, 3, 4, 5), rectangle(4, 4))][:4]
    ['012345', '2367bf', 'abcdef', '0489cd']
    """
    return tuple(tuple(sorted(symmetry.cells[cell] for cell in pattern)) for symmetry in shape.symmetries)


def patterns_svg(shape: Shape, patterns: Sequence[Pattern], *, is_shared: bool = True) -> str:
    """Draw the patterns, each in its colour; if weights are shared, each in a row with its symmetric copies."""
    shown = patterns[:MAX_PATTERNS]
    boards = [copies(pattern, shape) if is_shared else (pattern,) for pattern in shown]
    left, top, right, bottom = shape.bounds
    scale = SIDE / max(right - left, bottom - top)
    wide, tall = (right - left) * scale + GAP, (bottom - top) * scale + GAP + LABEL
    n_columns = len(shape.symmetries) if is_shared else N_BESIDE
    n_rows = len(shown) if is_shared else -(-len(shown) // N_BESIDE)
    width, height = round(n_columns * wide + GAP), round(HEAD + n_rows * tall)
    rows = f"A row: a pattern and its {len(shape.symmetries)} symmetric copies, itself first. They share one table."
    title = rows if is_shared else "Patterns, each with its own table of weights."
    more = f" {len(patterns) - len(shown)} more are not shown." if len(patterns) > len(shown) else ""
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{width}" height="{height}" viewBox="0 0 {width} {height}" '
        f'font-family="sans-serif" font-size="12" fill="{INK}">',
        f"<title>{escape(write_patterns(shown))}</title>",
        f'<text x="{GAP}" y="16">{escape(title + more)}</text>',
    ]
    for i, row in enumerate(boards):
        colour, label = COLOURS[i % len(COLOURS)], write_patterns([shown[i]])
        for k, pattern in enumerate(row):
            at_row, at_column = (i, k) if is_shared else divmod(i, N_BESIDE)
            x, y = GAP + at_column * wide, HEAD + at_row * tall
            parts.append(_board(shape, pattern, x, y, scale, colour, "" if k else label))
    return "\n".join([*parts, "</svg>"]) + "\n"


def _board(shape: Shape, pattern: Pattern, x: float, y: float, scale: float, colour: str, label: str) -> str:
    """Draw the cells of a shape at (x, y), those of a pattern in a colour."""
    left, top, _, bottom = shape.bounds
    inside: list[str] = []
    outside: list[str] = []
    columns = zip(*(chain.from_iterable(rows) for rows in (shape.rows, shape.centres, shape.outlines)), strict=True)
    for cell, (cx, cy), outline in columns:
        points = "L".join(f"{x + (cx + dx - left) * scale:.4g} {y + (cy + dy - top) * scale:.4g}" for dx, dy in outline)
        if cell >= 0:
            (inside if cell in pattern else outside).append(f"M{points}z")
    parts = [
        f'<path d="{"".join(outside)}" fill="{EMPTY}" fill-opacity="0.35" stroke="{LINE}"/>',
        f'<path d="{"".join(inside)}" fill="{colour}" stroke="{LINE}"/>',
    ]
    if label:
        parts.append(f'<text x="{x:.1f}" y="{y + (bottom - top) * scale + 13:.1f}">{label}</text>')
    return "".join(parts)


def pattern_lines(
    shape: Shape, patterns: Sequence[Pattern], *, is_shared: bool = True, width: int = 80
) -> Iterator[str]:
    """Yield a text picture: each pattern with its copies, as many as fit beside each other.

    >>> from lab2048.rules import rectangle
    >>> print(*pattern_lines(rectangle(2, 2), [(0, 1)]), sep=chr(10))
    01
      ##  .#  ..  #.  ##  .#  ..  #.
      ..  .#  ##  #.  ..  .#  ##  #.
    """
    n_beside = max(1, (width - 2) // (len(shape.drawing[0]) + 2))
    for pattern in patterns[:MAX_PATTERNS]:
        yield write_patterns([pattern])
        drawn = copies(pattern, shape) if is_shared else (pattern,)
        for first in range(0, len(drawn), n_beside):
            if first:
                yield ""
            for row in range(len(shape.drawing)):
                yield "  " + "  ".join(_text_row(shape, row, copy) for copy in drawn[first : first + n_beside])
    if len(patterns) > MAX_PATTERNS:
        yield f"and {len(patterns) - MAX_PATTERNS} more"


def _text_row(shape: Shape, row: int, pattern: Pattern) -> str:
    entries = shape.drawing[row]
    return "".join(" " if cell < 0 else "#" if cell in pattern else "." for cell in entries)
