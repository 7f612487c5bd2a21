"""The architecture of deep networks, without weights and without torch."""

import math
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from lab2048.errors import BoardError, UnknownNameError, UsageError
from lab2048.models.deep.design_options import HEADS, KINDS, READINGS, SCALES
from lab2048.rules import Rules

MAX_CELLS = 16
MAX_WIDTH = 8192
MAX_RETURN = 1e12


@dataclass(frozen=True)
class DeepDesign:
    """The architecture of a network: everything but its weights."""

    rules: Rules
    kind: str = "lines"
    head: str = "value"
    widths: tuple[int, ...] = (
        128,
        64,
        256,
    )  # lines: two layers per line, then the last layer; mlp: all layers
    reading: str = "onehot"  # input encoding of a cell
    low: float = 0.0  # atoms: the lowest return
    high: float = 1.0  # atoms: the highest return; value and actions: the unit of the output
    n_atoms: int = 51
    scale: str = "linear"  # scale of the atoms, or of the output
    slope: float = 0.0  # of the activation below 0: 0 is ReLU, more is leaky ReLU

    def __post_init__(self) -> None:
        """Raise LabError for an invalid architecture."""
        for name, known in (("kind", KINDS), ("head", HEADS), ("reading", READINGS), ("scale", SCALES)):
            if (word := getattr(self, name)) not in known:
                raise UnknownNameError(name, word, known)
        shape = self.rules.shape
        if not shape.is_rectangle or shape.n_cells > MAX_CELLS:
            raise BoardError(f"{self.rules.board.to_text()}: expected a rectangle of at most {MAX_CELLS} cells")
        if shape.n_free:
            raise BoardError(f"networks know no free large tiles: expected {shape.size_name} without F")
        if self.kind == "lines" and (len(self.widths) != 3 or self.reading != "onehot"):
            raise UsageError("a network of lines has three widths, such as 128,64,256, and reads ranks one-hot")
        if not 1 <= len(self.widths) <= 8 or not all(1 <= width <= MAX_WIDTH for width in self.widths):
            raise UsageError(f"widths {self.widths}: expected 1 to 8 numbers from 1 to {MAX_WIDTH}", field="widths")
        if not -MAX_RETURN <= self.low < self.high <= MAX_RETURN:
            raise UsageError(f"returns from {self.low} to {self.high}: expected a lower and a higher number")
        if not 0 <= self.slope < 1:
            raise UsageError(f"slope {self.slope}: expected 0 to below 1", field="slope")
        if not 2 <= self.n_atoms <= 1001:
            raise UsageError(f"{self.n_atoms} atoms: expected 2 to 1001")

    @property
    def n_ranks(self) -> int:
        """Return the number of possible ranks of a cell, including 0."""
        return self.rules.max_rank + 1

    @property
    def n_out(self) -> int:
        """Return the number of outputs per board."""
        return {"value": 1, "actions": self.n_moves, "atoms": self.n_moves * self.n_atoms}[self.head]

    @property
    def n_moves(self) -> int:
        return len(self.rules.shape.moves)

    @cached_property
    def looks(self) -> tuple[NDArray[np.int64], ...]:
        """Return the lines that share weights in `lines`: one set on a square board, else rows and columns."""
        cells = np.array(self.rules.shape.rows, np.int64)
        rows, columns = cells.shape
        return (np.concatenate([cells, cells.T]),) if rows == columns else (cells, np.ascontiguousarray(cells.T))

    def atoms(self) -> NDArray[np.float32]:
        """Return the atoms of the distribution, evenly spaced on a linear or symlog scale."""
        if self.scale == "linear":
            return np.linspace(self.low, self.high, self.n_atoms, dtype=np.float32)
        squeezed = np.linspace(symlog(self.low), symlog(self.high), self.n_atoms)
        return np.array([symexp(float(number)) for number in squeezed], np.float32)

    def to_json(self) -> dict[str, Any]:
        """Return JSON data for the header of a file."""
        names = ("kind", "head", "reading", "low", "high", "n_atoms", "scale")
        more = {"slope": self.slope} if self.slope else {}
        return {name: getattr(self, name) for name in names} | {
            "rules": self.rules.to_json(),
            "widths": list(self.widths),
            **more,
        }

    @classmethod
    def from_json(cls, data: Any) -> "DeepDesign":
        """Parse the data of `to_json`; raise KeyError, TypeError, ValueError or LabError if it is invalid."""
        fields = dict(data)
        rules, widths = Rules.from_json(fields.pop("rules")), tuple(int(width) for width in fields.pop("widths"))
        low, high, n_atoms = float(fields.pop("low")), float(fields.pop("high")), int(fields.pop("n_atoms"))
        words = {name: str(fields.pop(name)) for name in ("kind", "head", "reading", "scale")}
        slope = float(fields.pop("slope", 0.0))
        return cls(rules, widths=widths, low=low, high=high, n_atoms=n_atoms, slope=slope, **words)

    def shapes(self) -> dict[str, tuple[int, ...]]:
        """Return the names and shapes of the weight and bias tensors."""
        shapes: dict[str, tuple[int, ...]] = {}
        n_cells = self.rules.shape.n_cells
        if self.kind == "lines":
            look, find, last = self.widths
            for i, table in enumerate(self.looks):
                shapes[f"look{i}.weight"] = (look, table.shape[1] * self.n_ranks)
                shapes[f"look{i}.bias"] = (look,)
                shapes[f"find{i}.weight"] = (find, look)
                shapes[f"find{i}.bias"] = (find,)
            before = find * sum(len(table) for table in self.looks)
            widths: tuple[int, ...] = (last, self.n_out)
        else:
            before, widths = n_cells * (self.n_ranks if self.reading == "onehot" else 1), (*self.widths, self.n_out)
        for i, width in enumerate(widths):
            shapes[f"layer{i}.weight"], shapes[f"layer{i}.bias"] = (width, before), (width,)
            before = width
        return shapes


def symlog(number: float) -> float:
    """Return the symmetric logarithm, sign(x) log(1 + |x|).

    >>> round(symlog(0.0), 3), round(symlog(1000.0), 3), round(symexp(symlog(-7.0)), 3)
    (0.0, 6.909, -7.0)
    """
    return math.copysign(math.log1p(abs(number)), number)


def symexp(number: float) -> float:
    """Return the inverse of symlog."""
    return math.copysign(math.expm1(abs(number)), number)
