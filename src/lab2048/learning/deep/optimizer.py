"""Weights that learn: all of a network's in one tensor, moved by Adam, and their running mean.

In one tensor, because a step of Adam is then four operations, and not four for each layer: with small
networks these cost more than the learning.
"""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from lab2048.models.deep.design import DeepDesign
from lab2048.models.deep.network import DeepNetwork, Weights, make_network, new_weights
from lab2048.models.deep.torch_import import torch

BETA_1, BETA_2, TINY = 0.9, 0.999, 1e-6
_NAMES = ("flat", "drift", "spread", "mean")


class Adam:
    """The weights of a design: as they are, and as they are on the average of late."""

    def __init__(self, design: DeepDesign, seed: int, *, clip: float, average: float) -> None:
        """Begin with weights of a seed; `clip` is the longest gradient, `average` how slowly the mean follows."""
        self.design, self.clip, self.average = design, clip, average
        self.shapes = design.shapes()
        self.forward = make_network(design)
        self.flat = torch.cat([part.flatten() for part in new_weights(design, seed).values()]).requires_grad_()
        self.drift, self.spread = torch.zeros_like(self.flat), torch.zeros_like(self.flat)
        self.mean = self.flat.detach().clone()
        self.n_steps = 0
        self.live = DeepNetwork(
            design, self.view(self.flat.detach()), {}
        )  # the same numbers: it changes with every step

    def view(self, flat: torch.Tensor) -> Weights:
        """The tensors of the network in one long one."""
        sizes = [int(np.prod(shape)) for shape in self.shapes.values()]
        parts = torch.split(flat, sizes)
        return {name: part.view(shape) for (name, shape), part in zip(self.shapes.items(), parts, strict=True)}

    def output(self, ranks: torch.Tensor) -> torch.Tensor:
        """What the network gives, as something that can be learnt from."""
        return self.forward(self.view(self.flat), ranks)

    def copy(self) -> DeepNetwork:
        """The network as it is."""
        return DeepNetwork(self.design, self.view(self.flat.detach().clone()), {})

    def averaged(self) -> DeepNetwork:
        """The network as it is on the average of late: it plays better than the last one."""
        return DeepNetwork(self.design, self.view(self.mean.clone()), {})

    def step(self, loss: torch.Tensor, rate: float) -> float:
        """Make a loss smaller; return it."""
        (gradient,) = torch.autograd.grad(loss, [self.flat])
        with torch.no_grad():
            length = float(gradient.norm())
            if length > self.clip:
                gradient.mul_(self.clip / length)
            self.n_steps += 1
            self.drift.lerp_(gradient, 1 - BETA_1)
            self.spread.mul_(BETA_2).addcmul_(gradient, gradient, value=1 - BETA_2)
            # Both begin at zero: this makes up for it.
            first, second = 1 - BETA_1**self.n_steps, 1 - BETA_2**self.n_steps
            divisor = (self.spread / second).sqrt_().add_(TINY)
            self.flat.addcdiv_(self.drift, divisor, value=-rate / first)
            # Early on the mean is one of all steps so far, so that it does not hang on to the beginning.
            self.mean.lerp_(self.flat.detach(), max(1 - self.average, 1 / (self.n_steps + 1)))
        return float(loss.detach())

    def to_arrays(self) -> dict[str, NDArray[Any]]:
        """All that it takes to go on."""
        arrays: dict[str, NDArray[Any]] = {name: getattr(self, name).detach().numpy() for name in _NAMES}
        return arrays | {"n_steps": np.array([self.n_steps], np.int64)}

    def restore(self, arrays: dict[str, NDArray[Any]]) -> None:
        """Go on from there; raise KeyError or ValueError if that cannot be."""
        with torch.no_grad():
            for name in _NAMES:
                tensor = torch.from_numpy(arrays[name].copy())
                if tensor.shape != self.flat.shape or tensor.dtype != self.flat.dtype or not tensor.isfinite().all():
                    raise ValueError(name)
                getattr(self, name).copy_(tensor)
        self.n_steps = int(arrays["n_steps"][0])
