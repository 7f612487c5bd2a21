"""Random boards, rules and moves for property tests."""

from hypothesis import strategies as st

from lab2048.rules import Board, Rules
from lab2048.rules.shape import FREE

# Shapes that fit one word: the classic, squares, oblongs, long lines, bricks, hexagons, triangles, islands.
PACKED = (
    "4x4",
    "3x3",
    "2x4",
    "2x2",
    "1x2",
    "1x8",
    "3x5",
    "2x8",
    "####|#xx#|#xx#|####",
    "xx#xx|x###x|#####|x###x|xx#xx",
    "#x#|###|#x#",
    "##x##|##x##",
    "hex1",
    "hex1:##|#x#|##",
    "tri2",
    "tri4",
    "tri3:#|#x#|#####",
    # With anchors: at the edge, in the middle, in one line with others, beside bricks.
    "AAAA|AAAA|####|####",
    "AAA#|AAA#|AA##|####",
    "#A##|####|##A#|####",
    "#A#A####",
    "##A##|#x#A#|#####",
    "hex1:A#|#A#|##",
    "hex2:A##|#A##|##x##|####|#A#",
    "tri3:#|#A#|#####",
)
WIDE = (
    "5x5",
    "8x8",
    "hex2",
    "hex4",
    "#####|##x##|#x#x#|##x##|#####",
    "hex2:###|####|##x##|####|###",
    "tri5",
    "#####|##A##|#####|#A#A#|#####",
    "hex2:A##|####|#####|####|##A",
    "tri5:#|#A#|#####|###A###|#########",
)
# With free large tiles; there must be enough of them that no 32768 can be made.
FREE_PACKED = (
    "FFFF|FFFF|####|####",
    "FF#|#F#|###",
    "F##|###",
    "AA#F|AA#F|####|####",
    "F#F#F###",
    "FFFF|#xx#|#xx#|####",
    "hex1:F#|#F#|##",
    "tri3:F|#A#|F####",
)
FREE_WIDE = ("FFFFF|FFFFF|FFFFF|F####|#####", "hex2:FFF|FFFF|F#A##|####|##A")
SPAWNS = ("2:0.9,4:0.1", "2:1", "2:0.5,4:0.25,8:0.25", "4:0.3,2:0.7")
SPAWNERS = ("fair", "first", "worst")


@st.composite
def boards(draw: st.DrawFn, shapes: tuple[str, ...], max_rank: int = 14) -> Board:
    """A board of one of the shapes; few different ranks, so that tiles meet."""
    shape = Board.from_text(draw(st.sampled_from(shapes))).shape
    top = draw(st.integers(1, min(max_rank, FREE - 1) if shape.n_free else max_rank))
    ranks = st.one_of(st.just(0), st.integers(max(1, top - 2), top))
    n_others = shape.n_cells - shape.n_free
    others = draw(st.lists(ranks, min_size=n_others, max_size=n_others))
    if shape.n_free == 0:
        return Board(shape, tuple(others))
    return Board(shape, tuple(draw(st.permutations([*others, *shape.n_free * [FREE]]))))


@st.composite
def rules(draw: st.DrawFn, shapes: tuple[str, ...]) -> Rules:
    """Rules on one of the shapes, with any spawn table and spawner."""
    return Rules.from_text(
        draw(st.sampled_from(shapes)),
        goal=draw(st.sampled_from((8, 16, 64))),
        spawn=draw(st.sampled_from(SPAWNS)),
        spawner=draw(st.sampled_from(SPAWNERS)),
    )


seeds = st.integers(0, 2**53 - 1)
words = st.integers(0, 2**64 - 1)
