"""Pictures of patterns: every copy is drawn, and the picture in the docs is the one that the program draws."""

import xml.etree.ElementTree as ET
from pathlib import Path

import pytest

from lab2048.models.ntuple.pattern import parse_patterns
from lab2048.rules import Board
from lab2048.views.pattern_picture import MAX_PATTERNS, copies, pattern_lines, patterns_svg

DOCS = Path(__file__).parents[2] / "docs"
SVG = "{http://www.w3.org/2000/svg}"


@pytest.mark.parametrize(("board", "network"), [("4x4", "4x6"), ("3x3", "best"), ("hex2", "2x4"), ("##x|###", "rows")])
def test_a_row_has_a_pattern_and_its_copies(board: str, network: str) -> None:
    shape = Board.from_text(board).shape
    patterns = parse_patterns(network, shape)
    picture = ET.fromstring(patterns_svg(shape, patterns))
    cells = [path for path in picture.iter(f"{SVG}path") if path.get("fill-opacity") is None]
    n_copies = len(shape.symmetries)
    assert len(cells) == len(patterns) * n_copies
    n_drawn = [path.get("d", "").count("M") for path in cells]
    assert n_drawn == [len(pattern) for pattern in patterns for _ in range(n_copies)]
    for pattern in patterns:
        assert copies(pattern, shape)[0] == pattern
        text = "".join(pattern_lines(shape, [pattern]))
        assert text.count("#") == n_copies * len(pattern)


def test_patterns_without_shared_weights_have_no_copies() -> None:
    shape = Board.from_text("4x4").shape
    patterns = parse_patterns("pairs-triplets-quartets", shape, is_shared=False)
    picture = patterns_svg(shape, patterns, is_shared=False)
    assert picture.count("<path") == 2 * MAX_PATTERNS
    assert f"{len(patterns) - MAX_PATTERNS} more" in picture
    assert list(pattern_lines(shape, patterns, is_shared=False))[-1] == f"and {len(patterns) - MAX_PATTERNS} more"


def test_the_docs_show_the_network_of_the_blog() -> None:
    shape = Board.from_text("4x4").shape
    picture = patterns_svg(shape, parse_patterns("4x6", shape))
    assert (DOCS / "pictures" / "patterns-4x6.svg").read_text() == picture
