"""Patterns: those of the literature, those derived for other shapes, and words that are none."""

import pytest

from lab2048.errors import BoardError, UsageError
from lab2048.models.ntuple.network import Design, radix_of
from lab2048.models.ntuple.pattern import (
    BEST_WEIGHTS,
    MAX_CELLS,
    MAX_PATTERNS,
    MAX_PLACEMENTS,
    PRESETS,
    SMALL_BOARD,
    Pattern,
    corners,
    neighbours,
    parse_patterns,
    write_patterns,
)
from lab2048.rules import Board, Rules
from lab2048.rules.shape import Shape

SHAPES = ("3x3", "2x4", "2x8", "3x5", "hex1", "####|#xx#|#xx#|####", "#x#|###|#x#", "xx#xx|x###x|#####|x###x|xx#xx")
CLASSIC = [name for name in PRESETS if name[0].isdigit()]
SIZED = [*CLASSIC, "1x2", "8x7", "1x8", "64x3"]


def shape_of(text: str) -> Shape:
    return Board.from_text(text).shape


def images(pattern: Pattern, shape: Shape) -> set[Pattern]:
    """All that a pattern turns or mirrors into."""
    return {tuple(sorted(symmetry.cells[cell] for cell in pattern)) for symmetry in shape.symmetries}


def is_connected(pattern: Pattern, shape: Shape) -> bool:
    reached = {pattern[0]}
    for _ in pattern:
        reached |= {cell for cell in pattern for other in reached if frozenset((cell, other)) in neighbours(shape)}
    return reached == set(pattern)


def draw(pattern: Pattern) -> str:
    """The upper three rows of the classic board, with the cells of a pattern marked."""
    marks = "".join("#" if cell in pattern else "." for cell in range(12))
    return f"{marks[:4]} {marks[4:8]} {marks[8:]}"


@pytest.mark.parametrize(
    ("name", "drawings"),
    [
        ("4x5", ["#### #... ....", ".... #### #...", "###. ##.. ....", ".... ###. ##.."]),
        ("4x6", ["#### ##.. ....", ".... #### ##..", "###. ###. ....", ".... ###. ###."]),
        (
            "8x6",
            [
                "###. ###. ....", ".... #### ##..", "#### ##.. ....", "..## ###. .#..",
                "###. .#.. .##.", "...# #### #...", ".#.# #### ....", "##.. #... ###.",
            ],
        ),
    ],
)  # fmt: skip
def test_presets_are_those_of_the_literature(name: str, drawings: list[str]) -> None:
    assert [draw(pattern) for pattern in parse_patterns(name, shape_of("4x4"))] == drawings


@pytest.mark.parametrize("name", [*CLASSIC, "8x7", "64x8", "1x8"])
def test_classic_presets_hang_together_and_differ(name: str) -> None:
    shape = shape_of("4x4")
    found = parse_patterns(name, shape)
    n_patterns, size = map(int, name.split("x"))
    assert [len(pattern) for pattern in found] == [size] * n_patterns
    assert len({min(images(pattern, shape)) for pattern in found}) == n_patterns


@pytest.mark.parametrize("text", SHAPES)
@pytest.mark.parametrize("name", SIZED)
def test_other_shapes_get_patterns_of_their_own(text: str, name: str) -> None:
    shape = shape_of(text)
    n_patterns, size = map(int, name.split("x"))
    found = parse_patterns(name, shape)
    assert 1 <= len(found) <= n_patterns
    assert {len(pattern) for pattern in found} == {min(size, shape.n_cells)}
    assert all(is_connected(pattern, shape) for pattern in found)
    assert len({min(images(pattern, shape)) for pattern in found}) == len(found)
    # Every pair of neighbours is seen by some copy of some pattern, if there are patterns enough.
    if n_patterns > 1:
        copies = [set(copy) for pattern in found for copy in images(pattern, shape)]
        assert all(any(pair <= copy for copy in copies) for pair in neighbours(shape))


@pytest.mark.parametrize(
    ("text", "name", "n_patterns"),
    [
        ("2x2", "8x6", 1),  # the whole board
        ("2x3", "4x6", 1),
        ("2x3", "4x5", 2),  # all but a corner, or all but the middle of an edge
        ("1x8", "8x6", 2),  # six in a row begin at 0 or at 1; those at 2 are mirrored
        ("hex1", "8x6", 2),  # all but the centre, all but one of the ring
        ("##x##|##x##", "4x5", 1),  # an island, which turns into the other
        ("##x###|##x###", "4x5", 4),  # an island of four cells, and five of six in three ways
        ("##x#|#xxx", "4x5", 1),  # a cell alone tells nothing
    ],
)
def test_small_boards_have_fewer(text: str, name: str, n_patterns: int) -> None:
    assert len(parse_patterns(name, shape_of(text))) == n_patterns


@pytest.mark.parametrize(
    ("text", "cells"),
    [
        ("4x4", {0, 3, 12, 15}),
        ("3x3", {0, 2, 6, 8}),
        ("2x4", {0, 3, 4, 7}),
        ("1x8", {0, 7}),
        ("##x#|##xx", {0, 1, 3, 4}),
    ],
)
def test_corners_are_where_lines_end(text: str, cells: set[int]) -> None:
    assert set(corners(shape_of(text))) == cells


@pytest.mark.parametrize("text", SHAPES)
def test_every_shape_has_corners_and_symmetry_keeps_them(text: str) -> None:
    shape = shape_of(text)
    found = set(corners(shape))
    assert found
    assert all({symmetry.cells[cell] for cell in found} == found for symmetry in shape.symmetries)


@pytest.mark.parametrize(("size", "n_copies"), [(2, 24), (3, 52), (4, 17)])
def test_features_of_document_001_are_all_there(size: int, n_copies: int) -> None:
    shape = shape_of("4x4")
    found = [pattern for pattern in parse_patterns("pairs-triplets-quartets", shape) if len(pattern) == size]
    copies = {copy for pattern in found for copy in images(pattern, shape)}
    assert len(copies) == n_copies
    if size == 4:  # rows, columns, squares
        assert {(0, 1, 2, 3), (0, 4, 8, 12), (0, 1, 4, 5), (5, 6, 9, 10)} <= copies
        assert (0, 1, 2, 4) not in copies


@pytest.mark.parametrize("text", ["4x4", *SHAPES])
@pytest.mark.parametrize("name", [*PRESETS, *SIZED])
def test_without_sharing_a_preset_stands_at_every_place(text: str, name: str) -> None:
    shape = shape_of(text)
    if name == "best" and shape.n_cells <= SMALL_BOARD:
        return  # places are dear: it has fewer patterns
    found = parse_patterns(name, shape, is_shared=False)
    places = {place for pattern in parse_patterns(name, shape) for place in images(pattern, shape)}
    assert len(found) == len(places) <= MAX_PLACEMENTS
    assert set(found) == places
    assert parse_patterns(write_patterns(found), shape, is_shared=False) == found


@pytest.mark.parametrize("text", ["4x4", *SHAPES])
@pytest.mark.parametrize("name", PRESETS)
def test_without_sharing_a_preset_sees_every_cell(text: str, name: str) -> None:
    rules = Rules.from_text(text)
    found = parse_patterns(name, rules.shape, radix_of(rules), is_shared=False)
    assert {cell for pattern in found for cell in pattern} == set(range(rules.shape.n_cells))


def test_without_sharing_document_001_has_93_features() -> None:
    found = parse_patterns("pairs-triplets-quartets", shape_of("4x4"), is_shared=False)
    assert len(found) == 24 + 52 + 17 > MAX_PATTERNS


def test_cells_in_hex_are_places_shared_or_not() -> None:
    assert parse_patterns("0123,45", shape_of("4x4"), is_shared=False) == ((0, 1, 2, 3), (4, 5))


@pytest.mark.parametrize("text", ["3x3", "2x4", "2x2"])
def test_the_best_have_room_at_every_place(text: str) -> None:
    design = Design.from_text(Rules.from_text(text), "best", is_shared=False)
    assert design.n_lookups == len(design.patterns)
    assert design.n_weights <= BEST_WEIGHTS


@pytest.mark.parametrize(
    ("text", "written"),
    [("4x4", "0123 4567"), ("3x3", "012 345"), ("2x4", "0123 04 15"), ("1x8", "0123456"), ("hex1", "01 036 02")],
)
def test_rows_are_the_lines_up_to_symmetry(text: str, written: str) -> None:
    shape = shape_of(text)
    found = parse_patterns("rows", shape)
    assert {min(images(pattern, shape)) for pattern in found} == {
        min(images(pattern, shape)) for pattern in parse_patterns(written, shape)
    }


@pytest.mark.parametrize("text", ["4x4", *SHAPES])
@pytest.mark.parametrize("name", [*PRESETS, *SIZED])
def test_what_is_written_reads_the_same(text: str, name: str) -> None:
    patterns = parse_patterns(name, shape_of(text))
    assert parse_patterns(write_patterns(patterns), shape_of(text)) == patterns
    assert max(map(len, patterns)) <= MAX_CELLS


def test_cells_may_come_in_any_order_and_case() -> None:
    assert parse_patterns(" 3210,,BA ", shape_of("4x4")) == ((0, 1, 2, 3), (10, 11))


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("8x9", "network 8x9 is out of range: expected 1 to 64 patterns of 2 to 8 cells"),
        ("65x2", "network 65x2 is out of range: expected 1 to 64 patterns of 2 to 8 cells"),
        ("0x6", "network 0x6 is out of range"),
        ("x6", "unknown network 'x6': did you mean"),
        ("beste", "unknown network 'beste': did you mean best?"),
        ("row", "unknown network 'row': did you mean rows? (or cells in hex, such as 012345,456789)"),
        ("", "unknown network '': expected one of 4x5, 4x6, 5x6, 8x6, best, "),
        (", ,", "unknown network ', ,'"),
        ("0128", "pattern 0128 has cell 8: expected cells 0 to 5 of 2x3"),
        ("0110", "pattern 0110 repeats a cell: expected each cell once"),
        (" ".join(["01"] * 769), "network has 769 patterns: expected at most 768"),
    ],
)
def test_a_bad_word_is_one_line(text: str, says: str) -> None:
    with pytest.raises(UsageError) as caught:
        parse_patterns(text, shape_of("2x3"))
    assert says in str(caught.value)
    assert "\n" not in str(caught.value)


def test_too_many_cells_are_refused() -> None:
    with pytest.raises(UsageError, match="pattern 012345678 has 9 cells: expected at most 8"):
        parse_patterns("012345678", shape_of("4x4"))


@pytest.mark.parametrize(
    ("text", "network", "says"),
    [
        ("4x4", "8x7", "network has 2,147,483,648 weights, 16^cells for each pattern: expected at most 536,870,912"),
        ("4x4", "01234567", "network has 4,294,967,296 weights"),
        ("4x4", "0123456 1234567 2345678", "network has 805,306,368 weights"),
        ("3x3", "8x8", "network has 643,076,643 weights, 11^cells for each pattern: expected at most 536,870,912"),
    ],
)
def test_too_many_weights_are_refused(text: str, network: str, says: str) -> None:
    with pytest.raises(UsageError) as caught:
        Design.from_text(Rules.from_text(text), network)
    assert str(caught.value).startswith(says)


def test_too_many_weights_for_every_place_are_refused() -> None:
    says = "network has 1,073,741,824 weights, 16\\^cells for each placement of a pattern: expected at most 536,870,912"
    with pytest.raises(UsageError, match=says):
        Design.from_text(Rules.from_text("4x4"), "8x6", is_shared=False)


@pytest.mark.parametrize("text", ["5x5", "8x8", "hex4"])
@pytest.mark.parametrize("network", ["best", "8x8", "01"])
def test_a_board_without_room_in_a_word_is_refused_before_its_patterns_are_sought(text: str, network: str) -> None:
    with pytest.raises(BoardError, match="expected a board of at most 16 cells"):
        Design.from_text(Rules.from_text(text), network)


@pytest.mark.parametrize(
    ("text", "radix", "parts", "n_weights"),
    [
        ("4x4", 16, ["8x6"], 8 * 16**6),
        ("3x5", 16, ["8x6"], 8 * 16**6),
        ("3x4", 14, ["8x6"], 8 * 14**6),
        ("3x3", 11, ["2x4", "2x6", "2x7", "1x8"], 2 * (11**4 + 11**6 + 11**7) + 11**8),
        ("2x4", 10, ["2x4", "2x6", "2x7", "1x8"], 2 * (10**4 + 10**6 + 10**7) + 10**8),  # the board itself at last
        ("2x2", 6, ["1x4"], 6**4),
        ("1x2", 4, ["1x2"], 4**2),
    ],
)
def test_the_best_are_several_sizes_on_small_boards(text: str, radix: int, parts: list[str], n_weights: int) -> None:
    rules = Rules.from_text(text)
    design = Design.from_text(rules, "best")
    assert (design.radix, design.n_weights) == (radix, n_weights)
    assert design.patterns == tuple(pattern for part in parts for pattern in parse_patterns(part, rules.shape))
    assert n_weights <= BEST_WEIGHTS
