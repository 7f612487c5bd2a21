"""Draw a board as text and as SVG."""

from itertools import chain

from lab2048.rules.notation import face_of
from lab2048.rules.reference import Ranks
from lab2048.rules.shape import ANCHOR, BRICK, NOTHING, Point, Shape

Colour = tuple[int, int, int]

PAGE, FRAME, EMPTY, STONE = (250, 248, 239), (187, 173, 160), (205, 193, 180), (143, 122, 102)
DARK_INK, LIGHT_INK = (31, 26, 20), (249, 246, 242)
# The colours of the original game, 2 to 2048, and one for all larger tiles.
TILE_COLOURS: tuple[Colour, ...] = (
    (238, 228, 218), (237, 224, 200), (242, 177, 121), (245, 149, 99), (246, 124, 95), (246, 94, 59),
    (237, 207, 114), (237, 204, 97), (237, 200, 80), (237, 197, 63), (237, 194, 46),
)  # fmt: skip
LARGE_TILE: Colour = (60, 58, 50)

_UNIT = 60  # pixels between the centres of neighbours
_SCALE = 0.92  # of a tile, which leaves a gap between neighbours
_FONT_SIZES = {1: 26, 2: 25, 3: 21, 4: 17, 5: 14}  # by number of digits
_SMALLEST_FONT = 10


def tile_colours(rank: int) -> tuple[Colour, Colour]:
    """Return the colours of a tile and of the number on it."""
    if rank <= len(TILE_COLOURS):
        return TILE_COLOURS[rank - 1], DARK_INK
    return LARGE_TILE, LIGHT_INK


def draw_text(shape: Shape, ranks: Ranks) -> str:
    """Draw a board as aligned rows: a dot is an empty cell, x a brick, A an anchor, F a free large tile.

    >>> from lab2048 import Board
    >>> print(Board("2 16 . / . x 4"))
     2 16  .
     .  x  4
    >>> print(Board("hex1:2 .|. 16 .|. 4"))
        .
     2     .
       16
     .     4
        .
    """
    faces = {cell: face_of(shape, rank) or "." for cell, rank in enumerate(ranks)}
    faces |= {BRICK: "x", ANCHOR: "A", NOTHING: ""}
    width = max(map(len, faces.values()))
    lines = (" ".join(faces[cell].rjust(width) for cell in row) for row in shape.drawing)
    return "\n".join(line.rstrip() for line in lines)


def draw_svg(shape: Shape, ranks: Ranks, label: str) -> str:
    """Draw a board as a self-contained SVG image; `label` is its text for screen readers."""
    left, top, right, bottom = (_UNIT * bound for bound in shape.bounds)
    margin = _UNIT * (1 - _SCALE)
    width, height = right - left + 2 * margin, bottom - top + 2 * margin
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" role="img" aria-label="{label}" width="{width:.0f}" '
        f'height="{height:.0f}" viewBox="{left - margin:.1f} {top - margin:.1f} {width:.1f} {height:.1f}" '
        'font-family="sans-serif" font-weight="bold" text-anchor="middle">'
    ]
    if shape.is_boxed:
        parts.append(
            f'<rect x="{left - margin:.1f}" y="{top - margin:.1f}" width="{width:.1f}" height="{height:.1f}" '
            f'rx="6" fill="{_hex(FRAME)}"/>'
        )
    entries = list(
        zip(*(chain.from_iterable(each) for each in (shape.rows, shape.centres, shape.outlines)), strict=True)
    )
    if not shape.is_boxed:  # one frame behind all cells: frames of single cells would end in spikes where they meet
        corners = (_corners((_UNIT * x, _UNIT * y), outline, 1.0) for _, (x, y), outline in entries)
        path = "".join(f"M{_points(each)}z" for each in corners)
        look = f'fill="{_hex(FRAME)}" stroke="{_hex(FRAME)}" stroke-width="{2 * margin:.1f}" stroke-linejoin="round"'
        parts.append(f'<path d="{path}" {look}/>')
    for cell, (x, y), outline in entries:
        rank = 0 if cell < 0 else ranks[cell]
        fill, ink = tile_colours(rank) if rank else (STONE if cell < 0 else EMPTY, DARK_INK)
        centre = _UNIT * x, _UNIT * y
        parts.append(f'<polygon points="{_points(_corners(centre, outline, _SCALE))}" fill="{_hex(fill)}"/>')
        if rank or cell == ANCHOR:
            face = face_of(shape, rank) or "A"
            size = _FONT_SIZES.get(len(face), _SMALLEST_FONT)
            baseline = centre[1] + 0.35 * size
            parts.append(
                f'<text x="{centre[0]:.1f}" y="{baseline:.1f}" font-size="{size}" fill="{_hex(ink)}">{face}</text>'
            )
    return "".join([*parts, "</svg>"])


def _corners(centre: Point, outline: tuple[Point, ...], scale: float) -> list[Point]:
    return [(centre[0] + scale * _UNIT * x, centre[1] + scale * _UNIT * y) for x, y in outline]


def _points(corners: list[Point]) -> str:
    return " ".join(f"{x:.1f},{y:.1f}" for x, y in corners)


def _hex(colour: Colour) -> str:
    return "#{:02x}{:02x}{:02x}".format(*colour)
