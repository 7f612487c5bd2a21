"""The parts of the screens: pictures of boards, colours that can be read, curves."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rich.color import ColorSystem
from strategies import PACKED, WIDE, boards
from textual.color import Color as TextualColor

from lab2048.players import Decision
from lab2048.rules import Board
from lab2048.views.tui.forms import COMMAND_FORMS
from lab2048.views.tui.palette import Depth, Palette, to_ascii
from lab2048.views.tui.widgets.chart import chart
from lab2048.views.tui.widgets.digits import large
from lab2048.views.tui.widgets.facts import values_text
from lab2048.views.tui.widgets.picture import DENSITIES, Density, Picture, face, fitting, size_of

PALETTES = [Palette(depth, is_ascii) for depth in Depth for is_ascii in (False, True)]


@given(boards(PACKED + WIDE, 20), st.sampled_from(DENSITIES), st.sampled_from(PALETTES))
def test_every_board_is_a_rectangle_of_text_that_shows_every_tile(
    board: Board, density: Density, palette: Palette
) -> None:
    picture = Picture(board, density, palette)
    columns, height = size_of(board.shape, density)
    lines = ["".join(segment.text for segment in line) for line in picture.lines]
    assert len(lines) == height
    assert {len(line) for line in lines} == {columns}
    room = 4 if density.lines == 1 else density.columns - 2
    is_large = density.columns >= 18 and not palette.is_ascii
    for cell, (x, y) in picture.offsets.items():
        middle = lines[y + density.lines // 2][x : x + density.columns]
        rank = board.ranks[cell]
        if rank and is_large:
            assert large(face(rank, (density.columns - 1) // 4))[1].strip() in middle
        else:
            assert middle.strip(" ▐▌│█") == face(rank, room) if rank else middle.strip(" ▐▌│█") in ("", "·")
    if palette.is_ascii:
        assert to_ascii("\n".join(lines)).isascii()


@given(boards(PACKED + WIDE))
def test_tiles_do_not_overlap(board: Board) -> None:
    for density in DENSITIES:
        seen = set()
        for x, y in Picture(board, density, Palette()).offsets.values():
            spots = {(x + i, y + j) for i in range(density.columns) for j in range(density.lines)}
            assert not spots & seen
            seen |= spots


@pytest.mark.parametrize(
    ("board", "size", "columns"),
    [
        ("4x4", (46, 21), 10),
        ("4x4", (46, 19), 7),
        ("4x4", (30, 11), 5),
        ("4x4", (72, 36), 18),
        ("4x4", (125, 47), 22),
        ("8x8", (80, 24), 7),
        ("hex4", (80, 21), 5),
    ],
)
def test_the_largest_density_that_fits(board: str, size: tuple[int, int], columns: int) -> None:
    density = fitting(Board.from_text(board).shape, *size)
    assert density
    assert density.columns == columns


def test_no_density_fits_a_stamp() -> None:
    assert fitting(Board.from_text("4x4").shape, 19, 4) is None


def luminance(colour: tuple[int, int, int]) -> float:
    """Relative luminance as WCAG 2 defines it."""
    parts = [part / 255 for part in colour]
    linear = [part / 12.92 if part <= 0.03928 else ((part + 0.055) / 1.055) ** 2.4 for part in parts]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


@pytest.mark.parametrize("rank", range(1, 21))
def test_every_tile_can_be_read(rank: int) -> None:
    style = Palette().tile(rank)
    assert style.color
    assert style.bgcolor
    dark, light = sorted(luminance(tuple(c.get_truecolor())) for c in (style.bgcolor, style.color))
    assert light + 0.05 >= 4.5 * (dark + 0.05)


@pytest.mark.parametrize("rank", range(1, 21))
def test_neighbouring_tiles_differ_in_sixteen_colours(rank: int) -> None:
    palette = Palette(Depth.SIXTEEN)
    assert palette.tile(rank).bgcolor != palette.tile(rank + 1).bgcolor
    assert palette.tile(rank).color != palette.tile(rank).bgcolor


@pytest.mark.parametrize("name", ["foreground", "secondary", "surface", "background", "panel"])
def test_greys_of_the_theme_are_greys_in_256_colours(name: str) -> None:
    wanted = TextualColor.parse(getattr(Palette(Depth.MEDIUM).theme, name)).rich_color
    shown = wanted.downgrade(ColorSystem.EIGHT_BIT).get_truecolor()
    assert max(shown) - min(shown) <= 1


def test_without_colour_there_is_none() -> None:
    palette = Palette(Depth.NONE)
    for style in (palette.tile(3), palette.fresh(3), palette.empty, palette.brick):
        assert style.color is None
        assert style.bgcolor is None
    assert palette.fresh(1) != palette.tile(1)


@given(
    st.lists(st.tuples(st.floats(-1e9, 1e9), st.floats(-1e9, 1e9)), max_size=30), st.integers(1, 60), st.integers(1, 12)
)
def test_a_curve_keeps_to_its_place(points: list[tuple[float, float]], columns: int, lines: int) -> None:
    drawn = chart(sorted(points), columns, lines)
    assert len(drawn) in (0, lines)
    assert all(len(line) == columns for line in drawn[:-1] if len(line.split("│")[0]) == 8)


# --- forms and jobs ------------------------------------------------------------------


def test_fields_become_the_command_that_does_the_same() -> None:
    forms = {form.name: form for form in COMMAND_FORMS}
    defaults = {name: {field.name: field.default for field in form.fields} for name, form in forms.items()}
    assert forms["play"].words(defaults["play"]) == ["play", "--rules", "4x4", "--goal", "2048"]
    assert forms["solve"].words(defaults["solve"]) == ["solve", "2x3", "--goal", "64", "--memory", "1G"]
    assert forms["match"].words({"players": "first 'greedy:eval=(a b)'", "resume": "yes"}) == [
        "match", "first", "greedy:eval=(a b)", "--resume",
    ]  # fmt: skip
    assert len({form.key for form in COMMAND_FORMS}) == len(COMMAND_FORMS)


def test_bars_are_true_to_the_values() -> None:
    board = Board.from_text("2 2 . . / . . . . / . . . . / . . . 4")
    decision = Decision(0, {0: 600.0, 1: 599.0, 2: 300.0, 3: 0.0})
    lines = values_text(board, decision, "greedy", "score").plain.splitlines()
    assert [line.count("█") for line in lines if "█" in line] == [6, 6, 3]
