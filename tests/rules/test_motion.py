"""Where tiles go in a slide: the same as the reference, tile by tile."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lab2048.rules import Board, Rules
from lab2048.rules.motion import motions

BOARDS = ("4x4", "3x5", "##x|#x#|###", "hex1", "hex2", "1x2")


@given(st.sampled_from(BOARDS), st.data())
def test_motions_lead_to_the_board_of_the_slide(text, data):
    shape = Rules.from_text(text).shape
    ranks = tuple(data.draw(st.lists(st.integers(0, 4), min_size=shape.n_cells, max_size=shape.n_cells)))
    board = Board(shape, ranks)
    for move, slide in board.slides():
        found = motions(ranks, shape.lines[move])
        starts = {motion.start for motion in found}
        after = [0 if cell in starts else rank for cell, rank in enumerate(ranks)]
        for motion in found:
            assert ranks[motion.start] > 0
            after[motion.end] = ranks[motion.start] + motion.is_merged
        assert tuple(after) == slide.board.ranks
        assert len(starts) == len(found)
        merged = [motion.end for motion in found if motion.is_merged]
        assert all(merged.count(cell) == 2 for cell in merged)


@pytest.mark.parametrize("text", BOARDS)
def test_nothing_moves_where_the_move_is_illegal(text):
    shape = Rules.from_text(text).shape
    empty = (0,) * shape.n_cells
    assert all(motions(empty, lines) == [] for lines in shape.lines)
