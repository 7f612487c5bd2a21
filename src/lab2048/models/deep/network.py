"""Deep networks: boards in, a value, a value for each move, or a distribution for each move out.

A network is its design and a dictionary of tensors: nothing in it is a class of torch's own, so that a copy of
the tensors is a copy of the network, and a file of them is a file of it.
"""

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from lab2048.models.deep.design import DeepDesign
from lab2048.models.deep.torch_import import torch

Tensor = torch.Tensor
Weights = dict[str, torch.Tensor]
Ranks = NDArray[np.uint8]


def new_weights(design: DeepDesign, seed: int) -> Weights:
    """Weights to begin with: a layer hands on signals as large as it gets them, the last gives next to nothing."""
    generator = torch.Generator().manual_seed(seed)
    weights: Weights = {}
    shapes = design.shapes()
    last = list(shapes)[-2]
    for name, shape in shapes.items():
        weights[name] = torch.zeros(shape)
        if name.endswith(".weight"):
            # Of the inputs of a one-hot layer, one a cell is not zero.
            is_first = name.startswith("look") or (design.kind == "mlp" and name == "layer0.weight")
            n_active = shape[1] // design.n_ranks if is_first and design.reading == "onehot" else shape[1]
            gain = 0.1 if name == last else math.sqrt(2)
            weights[name].normal_(0.0, gain / math.sqrt(n_active), generator=generator)
    return weights


def make_network(design: DeepDesign) -> Callable[[Weights, Tensor], Tensor]:
    """The function from weights and boards (ranks as whole numbers, a row a board) to what the network gives."""
    linear, relu = torch.nn.functional.linear, torch.relu
    n_layers = sum(name.startswith("layer") for name in design.shapes()) // 2
    looks = [torch.from_numpy(table) for table in design.looks]
    n_ranks = design.n_ranks

    def read(ranks: Tensor) -> Tensor:
        if design.reading == "onehot":
            # From float zeros: one_hot makes whole numbers first, which costs as much as a layer.
            planes = torch.zeros(*ranks.shape, n_ranks)
            planes.scatter_(2, ranks.unsqueeze(2), 1.0)
            return planes
        return ranks.float() if design.reading == "log2" else torch.where(ranks > 0, 2.0 ** ranks.float(), 0.0)

    def forward(weights: Weights, ranks: Tensor) -> Tensor:
        signal = read(ranks)
        if design.kind == "lines":
            found = []
            for i, table in enumerate(looks):
                seen = signal[:, table].flatten(2)
                seen = relu(linear(seen, weights[f"look{i}.weight"], weights[f"look{i}.bias"]))
                found.append(relu(linear(seen, weights[f"find{i}.weight"], weights[f"find{i}.bias"])).flatten(1))
            signal = torch.cat(found, 1)
        signal = signal.flatten(1)
        for i in range(n_layers):
            signal = linear(signal, weights[f"layer{i}.weight"], weights[f"layer{i}.bias"])
            if i < n_layers - 1:
                signal = relu(signal)
        return signal

    return forward


@dataclass
class DeepNetwork:
    """A design with weights: it judges batches of boards."""

    design: DeepDesign
    weights: Weights
    facts: dict[str, Any]  # how it was trained

    def __post_init__(self) -> None:
        """Make ready to judge."""
        self._forward = make_network(self.design)
        self._atoms = torch.from_numpy(self.design.atoms())

    def values(self, ranks: Ranks) -> NDArray[np.float32]:
        """What boards are worth, in score: a number a board from a value head, else a number for each move."""
        with torch.inference_mode():
            numbers: NDArray[np.float32] = self.to_score(self.output(ranks)).numpy()
        return numbers

    def output(self, ranks: Ranks) -> Tensor:
        """What the network gives, as it is; a tile above all that its rules can make is read as the highest of them."""
        return self._forward(
            self.weights, torch.from_numpy(np.minimum(ranks, self.design.n_ranks - 1).astype(np.int64))
        )

    def to_score(self, out: Tensor) -> Tensor:
        """What the network gives, as scores."""
        design = self.design
        if design.head == "value":
            return out[:, 0] * design.high
        if design.head == "actions":
            return out * design.high if design.scale == "linear" else torch.sign(out) * torch.expm1(torch.abs(out))
        return torch.softmax(out.view(len(out), design.n_moves, design.n_atoms), 2) @ self._atoms

    def from_score(self, scores: Tensor) -> Tensor:
        """What a head of numbers should give to mean these scores."""
        if self.design.scale == "linear":
            return scores / self.design.high
        return torch.sign(scores) * torch.log1p(torch.abs(scores))


class TurnedNetwork:
    """A network that judges a board by the mean over all its turned and mirrored copies."""

    def __init__(self, network: DeepNetwork) -> None:
        """All copies of a board are judged in one batch."""
        symmetries = network.design.rules.shape.symmetries
        self._network, self._views = network, np.array([symmetry.cells for symmetry in symmetries], np.int64)

    def values(self, ranks: Ranks) -> NDArray[np.float32]:
        """What boards are worth, of a network that has a value for each."""
        n, n_cells = ranks.shape
        views = ranks[:, self._views].reshape(-1, n_cells)
        means: NDArray[np.float32] = self._network.values(views).reshape(n, -1).mean(axis=1)
        return means
