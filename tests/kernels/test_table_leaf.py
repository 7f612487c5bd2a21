"""Leaves that an endgame table knows have the value of the plain formula, in every search with a network."""

import math
from pathlib import Path
from random import Random

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from plain_network import PlainNetwork, random_network

from lab2048.kernels.search.table_leaf import merged
from lab2048.kernels.solve.compact import EVEN, STEPS
from lab2048.models.ntuple.network import Design, Network
from lab2048.models.ntuple.pattern import parse_patterns
from lab2048.players.searcher import Searcher
from lab2048.rules import Board, Rules
from lab2048.solver.endgame.book import Book
from lab2048.solver.endgame.compact_table import CompactTable, compact
from lab2048.solver.endgame.formation import Formation
from lab2048.solver.memory import Memory
from lab2048.solver.problem import Problem
from lab2048.solver.solve import Solve
from lab2048.solver.workers import Workers

RULES = Rules.from_text("3x3")
MAPS = {"corner": ("AA#|AG#|###", 16), "row": ("AAA|##G|###", 16), "low": ("AAA|##G|###", 8)}


@pytest.fixture(scope="module")
def book(tmp_path_factory: pytest.TempPathFactory) -> Book:
    folder = tmp_path_factory.mktemp("endgames")
    with Workers(1) as workers:
        for name, (text, goal) in MAPS.items():
            problem = Problem.of(Formation.from_text(text, goal).rules, "win")
            compact(Solve(problem, folder / name, workers, Memory(2**28), is_kept=False).run())
    return Book.open(str(folder), RULES)


def network(seed: int) -> Network:
    return random_network(Design(RULES, parse_patterns("rows", RULES.shape)), seed)


def potential(ranks: tuple[int, ...]) -> int:
    return sum((rank - 1) << rank for rank in ranks if rank)


def plain_merged(ranks: tuple[int, ...], goal: int) -> tuple[int, ...]:
    """The large tiles alone, after a new goal tile has merged up the chain."""
    result = [rank if rank >= goal else 0 for rank in ranks]
    here, rank = result.index(goal), goal
    result[here] = rank + 1
    while rank + 1 < 15 and (larger := [cell for cell, each in enumerate(result) if each == rank + 1 and cell != here]):
        result[here], here, rank = 0, larger[0], rank + 1
        result[here] = rank + 1
    return tuple(result)


def promise(table: CompactTable, plain: PlainNetwork, after: Board) -> float:
    """What a table promises for the score still to come; minus infinity if it does not know the board."""
    formation, goal = Formation(table.problem.rules), table.size.radix
    large = [cell for cell, rank in enumerate(after.ranks) if rank >= goal]
    ranks = {after.ranks[cell] for cell in large}
    smallest = min(large, key=lambda cell: after.ranks[cell], default=None)
    copies = [copy for copy in formation.copies if set(copy.anchors) == set(large)]
    is_beside = any(smallest in copy.beside_goal for copy in copies)
    if len(ranks) < len(large) or goal not in ranks or not is_beside:
        return -math.inf
    code = table.code(formation.fit(after).board)
    if code < 0:
        return -math.inf
    p = 1 / (1 + math.exp(-(code - EVEN) / STEPS))
    made = plain_merged(after.ranks, goal)
    good = potential(made) + plain.value(Board(after.shape, made))
    return p * good + (1 - p) * potential(after.ranks) - potential(after.ranks)


def plain_chance(book: Book, plain: PlainNetwork, after: Board, depth: int) -> float:
    """The score still to come after a move, `depth` own moves further ahead, with tables at the leaves."""
    if depth == 0:
        return max(plain.value(after), *(promise(table, plain, after) for table in book.tables))
    total = 0.0
    for cell, rank, p in RULES.spawns(after):
        slides = after.put(cell, rank).slides()
        found = (reward + plain_chance(book, plain, slid, depth - 1) for _, (slid, reward) in slides)
        total += p * max(found, default=0.0)
    return total


@st.composite
def formations(draw: st.DrawFn) -> Board:
    """Boards on which three large tiles stand in a row or a corner, in any order."""
    cells = draw(st.sampled_from([(0, 1, 2), (6, 7, 8), (0, 3, 6), (2, 5, 8), (0, 1, 3), (1, 2, 5), (5, 7, 8)]))
    large = draw(st.permutations(draw(st.sampled_from([(4, 5, 6), (3, 4, 5), (4, 5, 8), (3, 6, 7)]))))
    ranks = [draw(st.integers(0, 3)) for _ in range(9)]
    for cell, rank in zip(cells, large, strict=True):
        ranks[cell] = rank
    return Board(RULES.shape, tuple(ranks))


@settings(max_examples=60)
@given(formations(), st.integers(0, 3))
def test_search_with_tables_is_the_plain_recursion(book: Book, board: Board, seed: int) -> None:
    net = network(seed)
    plain, searcher = PlainNetwork(net), Searcher(RULES, net, cut=0)
    searcher.use_tables(book)
    for depth in (1, 2) if board.n_empty <= 4 else (1,):
        values = searcher.root_values(board, depth)
        for move, (after, reward) in board.slides():
            expected = reward + plain_chance(book, plain, after, depth - 1)
            assert values[move] == pytest.approx(expected, rel=1e-4, abs=0.05)


def test_tables_raise_values_and_can_be_taken_away(book: Book) -> None:
    board, net = Board("64 32 8 / 16 2 4 / 2 4 #"), network(1)
    searcher = Searcher(RULES, net)
    before = searcher.root_values(board, 2)
    searcher.use_tables(book)
    with_tables = searcher.root_values(board, 2)
    assert all(with_tables[move] >= before[move] for move in before)
    assert max(with_tables.values()) > max(before.values())
    searcher.use_tables(None)
    assert searcher.root_values(board, 2) == before


@given(st.integers(3, 14), st.integers(1, 8), st.sets(st.integers(3, 15)), st.randoms())
def test_the_chain_merges(goal: int, n_chain: int, others: set[int], random: Random) -> None:
    """Also at the highest rank of a packed board, where tiles do not merge."""
    large = [rank for rank in {*range(goal, goal + n_chain), *others} if goal <= rank < 16]
    random.shuffle(large)
    n_large = len(large)
    board = (*large, *[2] * (16 - n_large))
    word = np.uint64(sum(rank << 4 * cell for cell, rank in enumerate(board)))
    anchors = np.uint64(sum(15 << 4 * cell for cell in range(n_large)))
    found = int(merged(word, anchors, np.uint64(goal)))
    assert [found >> 4 * cell & 15 for cell in range(16)] == list(plain_merged(board, goal))


def test_a_folder_without_tables_changes_nothing(tmp_path: Path) -> None:
    searcher = Searcher(RULES, network(1))
    searcher.use_tables(Book.open(str(tmp_path), RULES))
    assert searcher.book is None
