"""Networks in plain Python: weights in dictionaries, values summed over turned copies, learning as in the books."""

from collections.abc import Iterator
from dataclasses import dataclass, field

import numpy as np

from lab2048.models.ntuple.network import Design, Network
from lab2048.rules import Board, Rules

Key = tuple[int, int, tuple[int, ...]]  # stage, pattern, ranks on its cells


def design_of(
    text: str, patterns: tuple[tuple[int, ...], ...], stages: tuple[int, ...] = (), share: bool = True
) -> Design:
    return Design(Rules.from_text(text), patterns, stages, share, is_promoting=True)


def random_network(design: Design, seed: int, *, is_coherent: bool = False) -> Network:
    """A network whose weights of the first stage are quarters from -50 to 50."""
    network = Network.empty(design, is_coherent=is_coherent)
    network.weights[: design.stage_size] = np.random.default_rng(seed).integers(-200, 200, design.stage_size) / 4
    return network


def place_of(design: Design, key: Key) -> int:
    """Where the array of weights holds what the dictionary has under a key."""
    stage, p, ranks = key
    radix = min(16, design.rules.max_rank + 1)
    if radix < 16:
        number = sum(rank * radix**digit for digit, rank in enumerate(ranks))
    else:  # the highest bits of all ranks first
        bits = [rank >> bit & 1 for bit in range(4) for rank in ranks]
        number = sum(bit << i for i, bit in enumerate(bits))
    return design.tables[stage * len(design.patterns) + p].begin + number


def lowered(board: Board, top: int) -> Board:
    """The board with tiles of at most rank `top`: again and again, all tiles above the highest missing rank go down."""
    while max(board.ranks) > top:
        missing = max(set(range(max(board.ranks))) - set(board.ranks) - {0}, default=0)
        if not missing:
            break
        board = Board(board.shape, tuple(rank - (rank > missing) for rank in board.ranks))
    return board


@dataclass
class PlainNetwork:
    """The same network; what the dictionary lacks is `network`'s, as it was at first."""

    network: Network
    alpha: float = 1.0
    is_coherent: bool = False
    weights: dict[Key, float] = field(default_factory=dict)
    sums: dict[Key, tuple[float, float]] = field(default_factory=dict)  # of errors, and of their sizes

    def __post_init__(self) -> None:
        self.design, self.first = self.network.design, self.network.weights.copy()

    def keys(self, board: Board) -> Iterator[Key]:
        """What a board looks up: every pattern in every turned or mirrored copy."""
        stage = sum(max(board.ranks) >= rank for rank in self.design.stages)
        symmetries = board.shape.symmetries if self.design.is_shared else board.shape.symmetries[:1]
        for p, pattern in enumerate(self.design.patterns):
            for symmetry in symmetries:
                ranks = board.carry(symmetry).ranks
                # A tile higher than the rules allow counts as the highest that they do.
                yield stage, p, tuple(min(ranks[cell], self.design.rules.max_rank, 15) for cell in pattern)

    def weight(self, key: Key) -> float:
        """A weight; one that a later stage does not know begins as a copy of the last stage that does."""
        if key not in self.weights:
            stages = [(stage, *key[1:]) for stage in range(key[0], -1, -1)]
            known = (self.weights.get(there, float(self.first[place_of(self.design, there)])) for there in stages)
            self.weights[key] = next(weight for weight in known if not np.isnan(weight))
        return self.weights[key]

    def value(self, board: Board) -> float:
        return sum(self.weight(key) for key in self.keys(board))

    def learn(self, board: Board, error: float) -> float:
        """Share the error out.  Each lookup tells the weight that it leaves behind; their sum is returned."""
        told, share = 0.0, self.alpha / self.design.n_lookups
        for key in self.keys(board):
            rate, (signed, size) = 1.0, self.sums.get(key, (0.0, 0.0))
            if self.is_coherent and size:
                rate = abs(signed) / size
            self.weights[key] = self.weight(key) + share * error * rate
            self.sums[key] = signed + error, size + abs(error)
            told += self.weights[key]
        return told

    def assert_like(self, network: Network) -> None:
        """Every weight that was looked up is the array's, and the array has changed nowhere else."""
        places = {place_of(self.design, key): key for key in self.weights}
        found = {place: float(network.weights[place]) for place in places}
        for place, key in places.items():
            assert abs(found[place] - self.weights[key]) < 1e-3 + 1e-4 * abs(self.weights[key]), key
            if network.rates is not None and key in self.sums:
                assert np.allclose(network.rates[2 * place :][:2], self.sums[key], rtol=1e-4, atol=1e-2), key
        same = (network.weights == self.first) | (np.isnan(network.weights) & np.isnan(self.first))
        assert set(np.flatnonzero(~same)) <= set(places)
