"""Evaluators: heuristic values of boards, for the leaves of a search.

An evaluator is data, from evaluators.toml beside this file or from a TOML file of your own: the weights of
terms over cells, lines and the board (lab2048.kernels.search.evaluate).  Or it is a function of yours that values
lines (lab2048.register_evaluator).
"""

import json
import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from itertools import pairwise, product
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from lab2048.errors import FileError, PlayerError, UnknownNameError, UsageError, nearest, reason_of, users_code
from lab2048.kernels.search import context, evaluate
from lab2048.players.player_file import missing_files
from lab2048.players.registry import EVALUATORS, LineFunction, evaluator_docs, line_function
from lab2048.records.input_file import parse_toml, read_text
from lab2048.rules import Board, Rules, Shape
from lab2048.rules.plan import make_plan

TERMS = (  # in the order of lab2048.kernels.search.evaluate
    "empty",
    "potential",
    "sum",
    "sum_power",
    "base",
    "merges",
    "monotone",
    "monotone_power",
    "smooth",
    "smooth_faces",
    "max",
    "corner",
    "corner_cell",
    "empty_log",
    "second",
    "third",
    "fourth",
    "stuck",
    "smooth_near",
    "ordered",
    "full",
)
# Not in the tables of lines:
_BOARD_TERMS = ("max", "corner", "empty_log", "second", "third", "fourth", "stuck", "ordered", "full")
_SETTINGS = ("doc", "path", "scale", "ratio", "matrix", "lost", "margin")
_TABLE_CELLS = 4  # of the longest line that is looked up in a table, if the table is compiled
_MAX_VALUE = 1e30  # of a line; sums of such values are still numbers of 32 bits


class TermValue(NamedTuple):
    """One term of the value of a board: weight times amount."""

    term: str
    weight: float
    amount: float

    @property
    def value(self) -> float:
        return self.weight * self.amount


@dataclass(frozen=True)
class Evaluator:
    """The weights of terms and cells; or a function that values lines, and no weights."""

    name: str
    doc: str
    terms: tuple[float, ...]  # in the order of lab2048.kernels.search.evaluate
    lost: float | None  # value of a lost board; None: evaluated like any other
    path: str = ""  # snake or gradient: the path along which the weights of cells decrease
    scale: float = 1.0
    ratio: float = 0.5
    matrix: tuple[tuple[float, ...], ...] = ()
    margin: float | None = None  # a move whose afterstate is worse than the best by more than this is not searched
    function: LineFunction | None = None

    @property
    def has_board_terms(self) -> bool:
        return any(self.terms[TERMS.index(term)] for term in _BOARD_TERMS)

    def make_terms(self, shape: Shape) -> evaluate.Terms:
        """Return the terms as kernels take them; the highest tiles belong on the first cells of the snake."""
        return evaluate.make_terms(self.terms, snake_cells(shape))

    def weights(self, shape: Shape) -> NDArray[np.float32]:
        """Return the factor of each cell, by which the tile on it is multiplied."""
        if self.matrix:
            return self._matrix_weights(shape)
        if not self.path:
            return np.zeros(shape.n_cells, np.float32)
        steps = snake(shape) if self.path == "snake" else gradient(shape)
        return (self.scale * self.ratio ** np.array(steps, float)).astype(np.float32)

    def _matrix_weights(self, shape: Shape) -> NDArray[np.float32]:
        sizes = [len(row) for row in self.matrix]
        if sizes != [len(row) for row in shape.rows]:
            raise UsageError(
                f"the matrix of evaluator {self.name} has rows of {sizes} weights: "
                f"expected {[len(row) for row in shape.rows]}, as on {shape.size_name}"
            )
        weights = np.zeros(shape.n_cells, np.float32)
        for cells, row in zip(shape.rows, self.matrix, strict=True):
            for cell, weight in zip(cells, row, strict=True):
                if cell >= 0:
                    weights[cell] = weight
        return weights

    def check(self, shape: Shape) -> None:
        """Raise LabError if boards of this shape cannot be evaluated."""
        self.weights(shape)
        if self.function is None:
            return
        if (longest := shape.longest_line) > context.LONGEST:
            raise UsageError(
                f"evaluator {self.name} is a function of lines, and {shape.size_name} has lines of {longest} cells: "
                f"expected at most {context.LONGEST}, or an evaluator made of terms",
                field="evaluator",
            )
        _call(self.function, (0,) * longest)

    def has_tables(self, shape: Shape) -> bool:
        """Return True if every line of a packed board can be looked up in a table."""
        return shape.longest_line <= _TABLE_CELLS

    def line_table(self, weights: Sequence[float], n_axes: int) -> NDArray[np.float32]:
        """Return the values of all lines with these weights of cells; the first cell is the lowest nibble."""
        if self.function is not None:
            return _function_table(self.function, len(weights))
        table = np.zeros(16 ** len(weights), np.float32)
        terms = evaluate.make_terms(self.terms, ())
        evaluate.fill_table(terms, np.array(weights, np.float32), n_axes, table)
        return table

    def to_table(self) -> dict[str, Any]:
        """Return all settings but name and doc, as in a TOML file, without those that are zero by default."""
        table: dict[str, Any] = {term: weight for term, weight in zip(TERMS, self.terms, strict=True) if weight}
        if self.path:
            table |= {"path": self.path, "scale": self.scale, "ratio": self.ratio}
        if self.matrix:
            table["matrix"] = [list(row) for row in self.matrix]
        if self.lost is not None:
            table["lost"] = self.lost
        if self.margin is not None:
            table["margin"] = self.margin
        return table

    def to_inline(self) -> str:
        """Return the evaluator as text for `make_evaluator` and the `eval` option of players."""
        return "{" + ", ".join(f"{key} = {_write(value)}" for key, value in self.to_table().items()) + "}"

    def to_toml(self) -> str:
        """Return the evaluator as a table of a TOML file."""
        name = self.name if re.fullmatch(r"[A-Za-z0-9_-]+", self.name) else _write(self.name)
        lines = [f"{key} = {_write(value)}" for key, value in {"doc": self.doc, **self.to_table()}.items()]
        return "\n".join([f"[{name}]", *lines, ""])

    def explain(self, board: Board, rules: Rules) -> list[TermValue]:
        """Return the terms whose sum is the value of a board.

        >>> board = Board.from_text("4 # # # / 2 16 # # / 4 16 32 # / 4 8 2 #")
        >>> make_evaluator("empty").explain(board, Rules.from_text("4x4"))
        [TermValue(term='empty', weight=1.0, amount=7.0)]
        """
        if self.lost is not None and not board.legal_moves():
            return [TermValue("lost", 1.0, self.lost)]
        if self.function is not None:
            return [TermValue("lines", 1.0, self.value(board, rules))]
        ranks, plan = np.array(board.ranks, np.uint8), make_plan(rules)
        no_weights, found = np.zeros(len(ranks), np.float32), []
        for i, (term, weight) in enumerate(zip(TERMS, self.terms, strict=True)):
            if weight == 0 or term.endswith(("_power", "_cell")):
                continue
            alone = [
                w if j == i or name.endswith(("_power", "_cell")) else 0.0
                for j, (name, w) in enumerate(zip(TERMS, self.terms, strict=True))
            ]
            alone[i] = 1.0
            terms = evaluate.make_terms(alone, snake_cells(board.shape))
            found.append(TermValue(term, weight, float(evaluate.evaluate_bytes(terms, no_weights, plan, ranks))))
        if self.matrix or self.path:
            found.append(TermValue("matrix" if self.matrix else self.path, 1.0, float(sum(self.cell_values(board)))))
        return found

    def cell_values(self, board: Board) -> list[float]:
        """Return the tile on each cell times the weight of the cell."""
        return [float(weight) * tile for weight, tile in zip(self.weights(board.shape), board.tiles, strict=True)]

    def value(self, board: Board, rules: Rules) -> float:
        if self.lost is not None and not board.legal_moves():
            return self.lost
        if self.function is not None:
            lines = (line for along in board.shape.lines[: len(board.shape.moves) // 2] for line in along)
            return sum(_call(self.function, tuple(board.ranks[cell] for cell in forward(line))) for line in lines)
        ranks = np.array(board.ranks, np.uint8)
        terms, weights = self.make_terms(board.shape), self.weights(board.shape)
        return float(evaluate.evaluate_bytes(terms, weights, make_plan(rules), ranks))


def forward(line: Sequence[int]) -> Sequence[int]:
    """Return the cells of a line in the order of their numbers: rows from left to right, columns from top to bottom."""
    return line if line[0] <= line[-1] else line[::-1]


def _call(function: LineFunction, ranks: tuple[int, ...]) -> float:
    with users_code(f"evaluator {function.name} fails on the line {ranks}"):
        value = float(function.value(ranks))
    if not abs(value) <= _MAX_VALUE:  # nor is it nan
        raise PlayerError(f"evaluator {function.name} values the line {ranks} with {value}: expected a finite number")
    return value


def _function_table(function: LineFunction, n_cells: int) -> NDArray[np.float32]:
    """Return the values of all lines of so many cells; the user's function is called once for each of them."""
    if n_cells not in function.tables:
        value, lines = function.value, product(range(16), repeat=n_cells)
        try:
            found = np.fromiter(map(value, lines), np.float64, 16**n_cells)
            if not (abs(found) <= _MAX_VALUE).all():
                raise ValueError
        except Exception:
            for ranks in product(range(16), repeat=n_cells):
                _call(function, ranks)  # raises, and says on which line
            raise
        # The last cell of a line changes fastest in `product`, and the first one in a table.
        function.tables[n_cells] = found.reshape((16,) * n_cells).T.ravel().astype(np.float32)
    table: NDArray[np.float32] = function.tables[n_cells]
    return table


def snake_cells(shape: Shape) -> list[int]:
    """Return the cells along a path that runs through the rows in alternating directions, without bricks.

    On hexagonal boards the columns take the place of the rows.
    """
    return [cell for i, row in enumerate(shape.rows) for cell in row[:: 1 - 2 * (i % 2)] if cell >= 0]


def snake(shape: Shape) -> list[int]:
    """Return the position of each cell on the path of `snake_cells`."""
    order = snake_cells(shape)
    return [order.index(cell) for cell in range(shape.n_cells)]


def gradient(shape: Shape) -> list[int]:
    """Return the distance of each cell from the first one; cells that cannot be reached are furthest."""
    neighbours: dict[int, set[int]] = {cell: set() for cell in range(shape.n_cells)}
    for lines in shape.lines:
        for line in lines:
            for a, b in pairwise(line):
                neighbours[a].add(b)
                neighbours[b].add(a)
    distance, edge, n = {0: 0}, [0], 0
    while edge:
        n += 1
        edge = [cell for near in edge for cell in neighbours[near] if distance.setdefault(cell, n) == n]
        edge = list(dict.fromkeys(edge))
    return [distance.get(cell, n) for cell in range(shape.n_cells)]


def evaluator_names() -> list[str]:
    """Return the names of the built-in evaluators."""
    return sorted(_read(EVALUATORS))


def make_evaluator(name: str) -> Evaluator:
    """Return an evaluator: by name, from FILE.toml or FILE.toml#NAME, or inline as {empty = 1, lost = 0}.

    >>> make_evaluator("{merges = 2, lost = 0}").to_inline()
    '{merges = 2, lost = 0}'
    """
    if name.startswith("{"):
        return _read_inline(name)
    path, _, part = name.partition("#")
    if path.endswith(".toml"):
        found = _read(Path(path))
        if not part and len(found) == 1:
            part = next(iter(found))
        if not found:
            raise FileError(f"evaluator file {path} has no evaluators: expected a table such as [mine]")
        if part not in found:
            raise UsageError(f"evaluator {part!r} is not in {path}: {nearest(part, found)}", field="evaluator")
        return found[part]
    ours = _read(EVALUATORS)
    if name in ours:
        return ours[name]
    if (function := line_function(name)) is not None:
        terms = (0.0,) * len(TERMS)
        return Evaluator(name, function.doc, terms, function.lost, margin=function.margin, function=function)
    known = sorted(evaluator_docs())
    expected = f"expected one of {', '.join(known)} or FILE.toml"
    raise UnknownNameError("evaluator", name, known, expected, hint=missing_files() or None)


def _read_inline(text: str) -> Evaluator:
    try:
        return _from_table(text, "inline", parse_toml(f"inline = {text}")["inline"])
    except ValueError as error:
        raise UsageError(
            f"evaluator {' '.join(text.split())} is not understood: {error}; expected {{term = weight, ...}}",
            field="evaluator",
        ) from None
    except FileError as error:
        raise UsageError(str(error)) from None


def _write(value: Any) -> str:
    """Write a value in TOML syntax."""
    if isinstance(value, str):
        return json.dumps(value, ensure_ascii=False)
    if isinstance(value, list):
        return f"[{', '.join(_write(item) for item in value)}]"
    return str(int(value)) if value == int(value) and abs(value) < 1e15 else repr(float(value))


@cache
def _read(path: Path) -> dict[str, Evaluator]:
    try:
        data = parse_toml(read_text(path))
    except OSError as error:
        raise FileError(f"evaluator file {path} cannot be read: {reason_of(error)}", code="file.unreadable") from None
    except ValueError as error:
        raise FileError(f"evaluator file {path} is not valid TOML: {error}") from None
    return {name: _from_table(f"{name} in {path.name}", name, table) for name, table in data.items()}


def _from_table(where: str, name: str, table: Any) -> Evaluator:
    if not isinstance(table, dict):
        raise FileError(f"evaluator {where} is {table!r}: expected a table of terms")
    for key, value in table.items():
        if key not in TERMS + _SETTINGS:
            raise FileError(f"evaluator {where} has no term {key!r}: {nearest(key, TERMS + _SETTINGS)}")
        kinds = str if key in ("doc", "path") else list if key == "matrix" else (int, float)
        if not isinstance(value, kinds) or isinstance(value, bool):
            raise FileError(f"evaluator {where}: {key} is {value!r}: expected {getattr(kinds, '__name__', 'a number')}")
        if isinstance(value, int | float) and not abs(value) <= _MAX_VALUE:
            raise FileError(f"evaluator {where}: {key} is {value:g}: expected a number of at most {_MAX_VALUE:g}")
    if table.get("path", "") not in ("", "snake", "gradient"):
        raise FileError(f"evaluator {where}: path is {table['path']!r}: expected snake or gradient")
    try:
        matrix = tuple(tuple(float(weight) for weight in row) for row in table.get("matrix", []))
        if not all(abs(weight) <= _MAX_VALUE for row in matrix for weight in row):
            raise ValueError("matrix")
    except (TypeError, ValueError):
        raise FileError(f"evaluator {where}: the matrix is not understood: expected rows of numbers") from None
    lost = table.get("lost")
    return Evaluator(
        name=name,
        doc=table.get("doc", ""),
        terms=tuple(float(table.get(term, 0.0)) for term in TERMS),
        lost=None if lost is None else float(lost),
        path=table.get("path", ""),
        scale=float(table.get("scale", 1.0)),
        ratio=float(table.get("ratio", 0.5)),
        matrix=matrix,
        margin=float(table["margin"]) if "margin" in table else None,
    )
