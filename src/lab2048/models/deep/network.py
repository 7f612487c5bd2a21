"""Deep networks, which map boards to a value, a value per move, or a distribution per move.

A network is a design and a dictionary of tensors, not a torch.nn.Module, so copying or saving the tensors
copies or saves the network.
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


def new_weights(design: DeepDesign, seed: int, spread: float = 0.0) -> Weights:
    """Return initial weights: He initialisation with a small last layer, or all of standard deviation `spread`."""
    generator = torch.Generator().manual_seed(seed)
    weights: Weights = {}
    shapes = design.shapes()
    last = list(shapes)[-2]
    for name, shape in shapes.items():
        weights[name] = torch.zeros(shape)
        if name.endswith(".weight"):
            # One input per cell of a one-hot layer is nonzero.
            is_first = name.startswith("look") or (design.kind == "mlp" and name == "layer0.weight")
            n_active = shape[1] // design.n_ranks if is_first and design.reading == "onehot" else shape[1]
            gain = 0.1 if name == last else math.sqrt(2)
            weights[name].normal_(0.0, spread or gain / math.sqrt(n_active), generator=generator)
    return weights


def keep_all(signal: Tensor) -> Tensor:
    """Drop nothing: see `make_network`."""
    return signal


def make_network(design: DeepDesign) -> Callable[..., Tensor]:
    """Return the forward function: (weights, integer ranks with one row per board, drop) -> outputs.

    `drop` is applied to every hidden fully connected layer, for dropout while training.
    """
    linear, slope = torch.nn.functional.linear, design.slope
    n_layers = sum(name.startswith("layer") for name in design.shapes()) // 2
    looks = [torch.from_numpy(table) for table in design.looks]
    n_ranks = design.n_ranks

    def read(ranks: Tensor) -> Tensor:
        if design.reading == "onehot":
            # torch's one_hot makes integers first, which costs as much as a layer.
            planes = torch.zeros(*ranks.shape, n_ranks)
            planes.scatter_(2, ranks.unsqueeze(2), 1.0)
            return planes
        return ranks.float() if design.reading == "log2" else torch.where(ranks > 0, 2.0 ** ranks.float(), 0.0)

    def relu(signal: Tensor) -> Tensor:
        return torch.nn.functional.leaky_relu(signal, slope) if slope else torch.relu(signal)

    def forward(weights: Weights, ranks: Tensor, drop: Callable[[Tensor], Tensor] = keep_all) -> Tensor:
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
                signal = drop(relu(signal))
        return signal

    return forward


@dataclass
class DeepNetwork:
    """An architecture with weights, which evaluates batches of boards."""

    design: DeepDesign
    weights: Weights
    facts: dict[str, Any]  # how it was trained

    def __post_init__(self) -> None:
        """Build the forward function."""
        self._forward = make_network(self.design)
        self._atoms = torch.from_numpy(self.design.atoms())

    def values(self, ranks: Ranks) -> NDArray[np.float32]:
        """Return the values of boards in score: one per board for a value head, else one per move."""
        with torch.inference_mode():
            numbers: NDArray[np.float32] = self.to_score(self.output(ranks)).numpy()
        return numbers

    def output(self, ranks: Ranks) -> Tensor:
        """Return the raw output; tiles above the maximum of the rules are clipped to it."""
        return self._forward(
            self.weights, torch.from_numpy(np.minimum(ranks, self.design.n_ranks - 1).astype(np.int64))
        )

    def to_score(self, out: Tensor) -> Tensor:
        """Convert raw output to scores."""
        design = self.design
        if design.head == "value":
            return out[:, 0] * design.high
        if design.head == "actions":
            return out * design.high if design.scale == "linear" else torch.sign(out) * torch.expm1(torch.abs(out))
        return torch.softmax(out.view(len(out), design.n_moves, design.n_atoms), 2) @ self._atoms

    def from_score(self, scores: Tensor) -> Tensor:
        """Convert scores to targets for the raw output."""
        if self.design.scale == "linear":
            return scores / self.design.high
        return torch.sign(scores) * torch.log1p(torch.abs(scores))


class TurnedNetwork:
    """A network whose value is the mean over all symmetric copies of a board."""

    def __init__(self, network: DeepNetwork) -> None:
        """Precompute the symmetries; all copies are evaluated in one batch."""
        symmetries = network.design.rules.shape.symmetries
        self._network, self._views = network, np.array([symmetry.cells for symmetry in symmetries], np.int64)

    def values(self, ranks: Ranks) -> NDArray[np.float32]:
        """Return the values of boards, for a network with a value head."""
        n, n_cells = ranks.shape
        views = ranks[:, self._views].reshape(-1, n_cells)
        means: NDArray[np.float32] = self._network.values(views).reshape(n, -1).mean(axis=1)
        return means
