"""Rows of kind digits: the layers and the optimizer of deep networks learn to read handwritten digits.

Kuznetsov 2022 checks its network this way before it learns the game: if it cannot read digits, it cannot learn 2048.
The images are the 1,797 of 8 x 8 pixels that scikit-learn ships; nothing is downloaded.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from lab2048.errors import MissingPackageError
from lab2048.extras import load, need
from lab2048.models.deep.design import DeepDesign
from lab2048.rules import Rules
from lab2048.studies.measure import Measured
from lab2048.studies.result import Result
from lab2048.studies.run.task import RowTask, SkippedError

WIDTHS, RATE, MOMENTUM, L2, SLOPE = (70, 70, 70, 70, 70), 0.05, 0.9, 1e-4, 0.01
EPOCHS, BATCH = 30, 32
BRIGHTEST = 16  # of a pixel


@dataclass(frozen=True)
class DigitsDesign(DeepDesign):
    """The network of Kuznetsov 2022 with ten outputs; a pixel is a cell, and its shade a rank."""

    def __post_init__(self) -> None:
        """Accept more cells than a network of boards."""

    @property
    def n_out(self) -> int:
        return 10


def run_digits(task: RowTask) -> Result:
    """Train on the first three quarters of the images, or on few in a test; count those that are read correctly."""
    try:
        need("deep")
        images, digits = read_digits()
    except MissingPackageError as error:
        raise SkippedError(str(error)) from None
    result, n = task.result(), 3 * len(digits) // 4
    learned, unseen = learn_digits(images[:n], digits[:n], images[n:], digits[n:], task.seed, task.check)
    result.measured = {
        "digits": Measured.rate(int(learned.sum()), n),
        "unseen-digits": Measured.rate(int(unseen.sum()), len(unseen)),
    }
    return result


def read_digits() -> tuple[NDArray[np.uint8], NDArray[np.int64]]:
    """Return the images, 64 shades each, and the digits that they show."""
    found: Any = load("sklearn.datasets").load_digits()
    return found.data.astype(np.uint8), found.target.astype(np.int64)


def learn_digits(
    images: NDArray[np.uint8],
    digits: NDArray[np.int64],
    other_images: NDArray[np.uint8],
    other_digits: NDArray[np.int64],
    seed: int,
    check: Any = lambda: None,
) -> Sequence[NDArray[np.bool_]]:
    """Learn the first images; return which of these, and which of the others, are read correctly."""
    from lab2048.learning.deep.optimizer import Sgd
    from lab2048.models.deep.torch_import import torch

    torch.set_num_threads(1)
    design = DigitsDesign(Rules.from_text("8x8"), "mlp", "actions", WIDTHS, "log2", slope=SLOPE)
    network = Sgd(design, seed, clip=1e9, average=0.0, penalties=(0.0, L2))
    network.momentum = MOMENTUM
    shades, wanted = torch.from_numpy(images.astype(np.float32) / BRIGHTEST), torch.eye(10)[torch.from_numpy(digits)]
    rng = np.random.default_rng(seed)
    for _ in range(EPOCHS):
        check()
        for batch in torch.split(torch.from_numpy(rng.permutation(len(images))), BATCH):
            network.step(((network.output(shades[batch]) - wanted[batch]) ** 2).sum(1).mean(), RATE)
    with torch.no_grad():
        both = (images, digits), (other_images, other_digits)
        return [
            network.output(torch.from_numpy(each.astype(np.float32) / BRIGHTEST)).argmax(1).numpy() == answers
            for each, answers in both
        ]
