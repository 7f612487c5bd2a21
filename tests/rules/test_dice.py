"""Dice: the named generator, evenly spread, the same in Python and compiled."""

import math
from collections import Counter
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from strategies import seeds, words

from lab2048.errors import UsageError
from lab2048.kernels.board import dice as compiled
from lab2048.rules import Board, Rules, dice

U64 = np.uint64


def test_the_generator_is_splitmix64() -> None:
    # The first outputs of the published generator for the state 0.
    expected = [0xE220A8397B1DCDAF, 0x6E789E6AA1B965F4, 0x06C45D188009454F, 0xF88BB8A8724C81EC]
    assert [dice.draw(0, count) for count in range(4)] == expected


@given(words, st.integers(0, 2**40))
def test_kernels_draw_the_same(key: int, count: int) -> None:
    assert int(compiled.draw(U64(key), U64(count))) == dice.draw(key, count)


@given(seeds, st.integers(0, 2), st.integers(0, 2**30), st.integers(1, 64))
def test_kernels_have_the_same_streams(seed: int, stream: int, number: int, n: int) -> None:
    assert int(compiled.stream_key(U64(seed), U64(stream))) == dice.stream_key(seed, stream)
    assert int(compiled.episode_seed(U64(seed), U64(number))) == dice.episode_seed(seed, number)
    word = dice.draw(seed, number)
    assert int(compiled.pick(U64(word), np.int64(n))) == dice.pick(word, n)


def chi_square(counts: list[int], expected: list[float]) -> float:
    return sum((count - mean) ** 2 / mean for count, mean in zip(counts, expected, strict=True))


@pytest.mark.parametrize("seed", [0, 1, 2, 3, 2**53 - 1])
def test_spawns_are_evenly_spread(seed: int) -> None:
    """Cells and tiles of 20,000 spawns on an empty board against 32 classes; 5 sigma is a failure."""
    rules, key, n = Rules.from_text("4x4"), dice.stream_key(seed, dice.SPAWN), 20_000
    found = Counter(rules.spawn(rules.board, dice.draw(key, count)) for count in range(n))
    classes = [(cell, rank, p) for cell, rank, p in rules.spawns(rules.board)]
    statistic = chi_square([found[cell, rank] for cell, rank, _ in classes], [n * p for _, _, p in classes])
    assert statistic < 31 + 5 * math.sqrt(2 * 31)


def test_first_draws_of_neighbouring_seeds_are_evenly_spread() -> None:
    """A generator that mixes its seeds badly gives seeds 0, 1, 2, ... similar games."""
    board, rules, n = Board.from_text("4x4"), Rules.from_text("4x4"), 20_000
    found = Counter(rules.spawn(board, dice.draw(dice.stream_key(seed, dice.SPAWN), 0))[0] for seed in range(n))
    assert chi_square([found[cell] for cell in range(16)], [n / 16] * 16) < 15 + 5 * math.sqrt(2 * 15)


def test_consecutive_draws_are_independent() -> None:
    """Pairs of consecutive cells fill all 256 classes evenly."""
    key, n = dice.stream_key(7, dice.SPAWN), 50_000
    cells = [dice.pick(dice.draw(key, count), 16) for count in range(n + 1)]
    found = Counter(pairwise(cells))
    counts = [found[a, b] for a in range(16) for b in range(16)]
    assert chi_square(counts, [n / 256] * 256) < 255 + 5 * math.sqrt(2 * 255)


def test_games_of_neighbouring_matches_share_no_seed() -> None:
    games = [{dice.episode_seed(seed, number) for number in range(1000)} for seed in (1, 2, 3)]
    assert len(set.union(*games)) == 3000
    assert max(set.union(*games)) <= dice.MAX_SEED


@pytest.mark.parametrize("seed", [-1, 2**53])
def test_a_seed_out_of_range_is_refused(seed: int) -> None:
    with pytest.raises(UsageError, match="out of range"):
        dice.check_seed(seed)
