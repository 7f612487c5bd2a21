"""Optimizers on all weights of a network as one tensor, with a running average of the weights.

One tensor, because an Adam step is then four operations instead of four per layer, which for small
networks would cost more than the gradients.
"""

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from lab2048.learning.deep.checkpoint_array import check_like, count_of
from lab2048.models.deep.design import DeepDesign
from lab2048.models.deep.network import DeepNetwork, Weights, make_network, new_weights
from lab2048.models.deep.torch_import import torch

BETA_1, BETA_2, EPSILON = 0.9, 0.999, 1e-6
# The saved tensors: attribute, and name in a checkpoint.
_SAVED = {"flat": "flat", "first_moment": "drift", "second_moment": "spread", "mean": "mean"}


class Adam:
    """The current weights of a network, their average and the state of Adam."""

    def __init__(
        self,
        design: DeepDesign,
        seed: int,
        *,
        clip: float,
        average: float,
        penalties: tuple[float, float] = (0.0, 0.0),
        dropout: float = 0.0,
        spread: float = 0.0,
    ) -> None:
        """Initialise from a seed.

        `clip` is the maximum gradient norm, `average` the decay of the running average, `penalties` are the factors of
        L1 and L2 regularization, `dropout` is the share of hidden units that a gradient step leaves out, and `spread`
        the standard deviation of the initial weights (0 = He initialisation).
        """
        self.design, self.clip, self.average = design, clip, average
        self.seed, self.penalties, self.dropout = seed, penalties, dropout
        self.shapes = design.shapes()
        self.forward = make_network(design)
        self.flat = torch.cat([part.flatten() for part in new_weights(design, seed, spread).values()]).requires_grad_()
        self.first_moment, self.second_moment = torch.zeros_like(self.flat), torch.zeros_like(self.flat)
        self.mean = self.flat.detach().clone()
        self.n_steps = 0
        self.live = DeepNetwork(design, self.view(self.flat.detach()), {})  # shares memory: changes with every step

    def view(self, flat: torch.Tensor) -> Weights:
        """Split a flat tensor into the tensors of the network, without copying."""
        sizes = [int(np.prod(shape)) for shape in self.shapes.values()]
        parts = torch.split(flat, sizes)
        return {name: part.view(shape) for (name, shape), part in zip(self.shapes.items(), parts, strict=True)}

    def output(self, ranks: torch.Tensor) -> torch.Tensor:
        """Return the output of the network with gradients."""
        return self.forward(self.view(self.flat), ranks, *([self._drop()] if self.dropout else []))

    def _drop(self) -> Callable[[torch.Tensor], torch.Tensor]:
        """Return the dropout of the next step; its random numbers follow from the seed and the number of steps."""
        generator = torch.Generator().manual_seed(self.seed * 1_000_003 + self.n_steps)

        def drop(signal: torch.Tensor) -> torch.Tensor:
            is_kept = torch.rand(signal.shape, generator=generator) >= self.dropout
            return signal * is_kept / (1 - self.dropout)

        return drop

    def copy(self) -> DeepNetwork:
        """Return a copy of the current network."""
        return DeepNetwork(self.design, self.view(self.flat.detach().clone()), {})

    def averaged(self) -> DeepNetwork:
        """Return a network with the averaged weights, which plays better than the current one."""
        return DeepNetwork(self.design, self.view(self.mean.clone()), {})

    def step(self, loss: torch.Tensor, rate: float) -> float:
        """Make one gradient step; return the loss."""
        (gradient,) = torch.autograd.grad(loss, [self.flat])
        with torch.no_grad():
            length = float(gradient.norm())
            if length > self.clip:
                gradient.mul_(self.clip / length)
            l1, l2 = self.penalties
            if l1 or l2:
                gradient.add_(self.flat.sign(), alpha=l1).add_(self.flat, alpha=l2)
            self.n_steps += 1
            self.move(gradient, rate)
            # Early on, average over all steps so far, so that the initial weights are soon forgotten.
            self.mean.lerp_(self.flat.detach(), max(1 - self.average, 1 / (self.n_steps + 1)))
        return float(loss.detach())

    def move(self, gradient: torch.Tensor, rate: float) -> None:
        """Change the weights along a gradient."""
        self.first_moment.lerp_(gradient, 1 - BETA_1)
        self.second_moment.mul_(BETA_2).addcmul_(gradient, gradient, value=1 - BETA_2)
        # Bias correction: both moments start at zero.
        first, second = 1 - BETA_1**self.n_steps, 1 - BETA_2**self.n_steps
        divisor = (self.second_moment / second).sqrt_().add_(EPSILON)
        self.flat.addcdiv_(self.first_moment, divisor, value=-rate / first)

    def to_arrays(self) -> dict[str, NDArray[Any]]:
        """Return everything needed to resume."""
        arrays: dict[str, NDArray[Any]] = {
            name: getattr(self, attribute).detach().numpy() for attribute, name in _SAVED.items()
        }
        return arrays | {"n_steps": np.array([self.n_steps], np.int64)}

    def restore(self, arrays: dict[str, NDArray[Any]]) -> None:
        """Restore what `to_arrays` returned; raise KeyError or ValueError if it does not fit."""
        with torch.no_grad():
            for attribute, name in _SAVED.items():
                check_like(name, arrays[name], self.flat.detach().numpy())
                getattr(self, attribute).copy_(torch.from_numpy(arrays[name].copy()))
        if (self.second_moment < 0).any():
            raise ValueError("a mean of squares is negative")
        self.n_steps = count_of(arrays["n_steps"])


class Sgd(Adam):
    """Gradient descent with momentum; the first moment is the last step."""

    momentum = 0.0

    def move(self, gradient: torch.Tensor, rate: float) -> None:
        """Go on with a share of the last step, and add one along the gradient."""
        self.first_moment.mul_(self.momentum).add_(gradient, alpha=rate)
        self.flat.sub_(self.first_moment)
