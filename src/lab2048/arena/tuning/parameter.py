"""The parameters of an evaluator that are tuned, and their scales.

The tuner sees every parameter as a coordinate that is 0 for the original evaluator, takes first
steps of about 1 and never exceeds 3.  A nonzero weight is multiplied, so it keeps its sign and order
of magnitude; a zero weight is moved in units that matter on real boards.
"""

import dataclasses
import math
import statistics
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from lab2048.errors import UsageError, nearest
from lab2048.players.evaluator import TERMS, Evaluator
from lab2048.records.episode import Episode
from lab2048.rules import Board, Rules, Shape

STEP = 0.3  # size of the first steps: a factor of exp(0.3), or 0.3 units
DIGITS = 6  # significant digits of a tuned number; more decide no game
N_BOARDS = 200

POWERS = {"sum_power": "sum", "monotone_power": "monotone"}
_UNTUNED = ("corner_cell", "base", "full", *POWERS)  # unless named explicitly; a cell is not a weight
_OTHERS = ("scale", "ratio", "matrix", "lost")


@dataclass(frozen=True)
class Parameter:
    """One tuned number."""

    name: str  # a term, scale, ratio, lost, or matrix[row][column]
    start: float
    unit: float  # 0: multiply by exp(width * step); else add step * width * unit
    width: float = STEP

    def at(self, step: float) -> float:
        """Return the number at a coordinate.

        Coordinate 1 moves by 1.2 widths and 3 by 10 widths: fine near the start, but with a long reach.
        """
        distance = self.width * math.sinh(step)
        return rounded(self.start + self.unit * distance if self.unit else self.start * math.exp(distance))


def rounded(number: float) -> float:
    """Round to DIGITS significant digits.

    >>> rounded(1234.56789)
    1234.57
    """
    return float(f"{number:.{DIGITS}g}")


@dataclass(frozen=True)
class ParameterSpace:
    """All tuned parameters of an evaluator."""

    evaluator: Evaluator
    parameters: tuple[Parameter, ...]
    pivot: float  # the rank at which changing a power leaves its term unchanged

    def with_params(self, params: Mapping[str, float]) -> Evaluator:
        """Return the evaluator at the given coordinates; parameters that are not given stay at 0."""
        numbers = {
            parameter.name: parameter.at(params[parameter.name])
            for parameter in self.parameters
            if params.get(parameter.name)
        }
        before = dict(zip(TERMS, self.evaluator.terms, strict=True))
        terms = before | {name: number for name, number in numbers.items() if name in before}
        for power, term in POWERS.items():
            # A higher power also increases its term; rescale it so that the two can be tuned independently.
            if power in numbers:
                terms[term] = rounded(terms[term] * self.pivot ** (before[power] - terms[power]))
        others: dict[str, Any] = {name: numbers[name] for name in ("scale", "ratio", "lost") if name in numbers}
        matrix = tuple(
            tuple(numbers.get(_cell(i, j), weight) for j, weight in enumerate(row))
            for i, row in enumerate(self.evaluator.matrix)
        )
        return dataclasses.replace(self.evaluator, terms=tuple(terms.values()), matrix=matrix, **others)


def make_space(evaluator: Evaluator, rules: Rules, names: Sequence[str], boards: Sequence[Board]) -> ParameterSpace:
    """Make parameters for the named terms, or for all nonzero ones; `boards` set the scales of zero weights.

    Players only compare values, so a multiple of an evaluator plays the same.  If all weights are
    tuned, the one with the largest effect is therefore kept fixed.
    """
    evaluator = _with_powers(evaluator, names)
    chosen = list(dict.fromkeys(names)) or _default_names(evaluator)
    starts = dict(_starts(evaluator, chosen, rules.shape))
    spread = _spread(evaluator, rules, boards)
    share = {name: _spread(_alone(evaluator, name), rules, boards) for name in starts if _is_weight(name)}
    if not _has_anchor(evaluator, starts):
        starts.pop(max(share, key=lambda name: abs(starts[name]) * share[name], default=""), None)
    if not starts:
        raise UsageError(
            f"evaluator {evaluator.name} has nothing to tune, because scaling a single weight changes no move: "
            "expected more terms",
            code="evaluator.nothing_to_tune",
            field="evaluator",
        )
    n_zero = sum(start == 0 for name, start in starts.items() if name not in POWERS)
    parameters = []
    for name, start in starts.items():
        if name in POWERS:
            parameters.append(Parameter(name, start, 1.0))
        elif name == "ratio":
            parameters.append(Parameter(name, start, 0.0, STEP / 2))
        elif start:
            parameters.append(Parameter(name, start, 0.0))
        elif name == "lost":
            values = [evaluator.value(board, rules) for board in boards]
            parameters.append(Parameter(name, start, rounded(statistics.pstdev(values)) or 1.0))
        else:
            unit = spread / share[name] / math.sqrt(n_zero) if share[name] else 0.0
            parameters.append(Parameter(name, start, rounded(unit) or 1.0))
    highest = statistics.fmean(max(board.ranks) for board in boards)
    return ParameterSpace(evaluator, tuple(parameters), rounded(max(2.0, highest)))


def check_names(evaluator: Evaluator, shape: Shape, names: Sequence[str]) -> None:
    """Raise UsageError for terms that cannot be tuned."""
    if evaluator.function is not None:
        raise UsageError(
            f"evaluator {evaluator.name} is a function and has no weights to tune: expected one made of terms",
            code="evaluator.function",
            field="evaluator",
        )
    for _ in _starts(evaluator, names or _default_names(evaluator), shape):
        pass


def sample_boards(episodes: Sequence[Episode]) -> list[Board]:
    """Return boards spread over the games, preferably with more than one legal move."""
    boards = [turn.board for episode in episodes for turn in episode.prove().turns[:-1]]
    choices = [board for board in boards[:: max(1, len(boards) // N_BOARDS)] if len(board.legal_moves()) > 1]
    return choices or [episode.rules.board for episode in episodes]


def with_matrix(evaluator: Evaluator, shape: Shape) -> Evaluator:
    """Return the same evaluator with one weight per cell instead of a path."""
    if evaluator.matrix:
        return evaluator
    weights = evaluator.weights(shape)
    matrix = tuple(tuple(rounded(float(weights[cell])) if cell >= 0 else 0.0 for cell in row) for row in shape.rows)
    return dataclasses.replace(evaluator, path="", scale=1.0, ratio=0.5, matrix=matrix)


def _default_names(evaluator: Evaluator) -> list[str]:
    terms = [term for term, weight in zip(TERMS, evaluator.terms, strict=True) if weight and term not in _UNTUNED]
    return terms + (["scale", "ratio"] if evaluator.path else []) + (["matrix"] if evaluator.matrix else [])


def _with_powers(evaluator: Evaluator, names: Sequence[str]) -> Evaluator:
    """Give newly added terms power 1; with power 0 they would only count tiles."""
    terms = dict(zip(TERMS, evaluator.terms, strict=True))
    for power, term in POWERS.items():
        if term in names and not terms[term] and not terms[power]:
            terms[power] = 1.0
    return dataclasses.replace(evaluator, terms=tuple(terms.values()))


def _starts(evaluator: Evaluator, names: Sequence[str], shape: Shape) -> Iterator[tuple[str, float]]:
    """Yield the current numbers behind the names; raise UsageError for names that cannot be tuned."""
    known = [name for name in (*TERMS, *_OTHERS) if name != "corner_cell"]
    for name in names:
        if name not in known:
            raise UsageError(f"term {name!r} cannot be tuned: {nearest(name, known)}", field="term")
        if name in ("scale", "ratio") and not evaluator.path:
            raise UsageError(f"{name} cannot be tuned: evaluator {evaluator.name} has no path", field="evaluator")
        if name == "lost" and evaluator.lost is None:
            raise UsageError(
                f"lost cannot be tuned: evaluator {evaluator.name} has no value for lost boards",
                field="evaluator",
            )
        if name == "matrix":
            if not evaluator.matrix:
                raise UsageError(
                    f"matrix cannot be tuned: evaluator {evaluator.name} has no matrix",
                    code="evaluator.no_matrix",
                    field="evaluator",
                )
            evaluator.weights(shape)  # raises if the matrix does not fit the shape
            for i, row in enumerate(shape.rows):
                yield from ((_cell(i, j), evaluator.matrix[i][j]) for j, cell in enumerate(row) if cell >= 0)
        elif name in TERMS:
            yield name, evaluator.terms[TERMS.index(name)]
        else:
            yield name, float({"scale": evaluator.scale, "ratio": evaluator.ratio, "lost": evaluator.lost}[name] or 0.0)


def _cell(row: int, column: int) -> str:
    return f"matrix[{row}][{column}]"


def _is_weight(name: str) -> bool:
    """Return True if the value of a board is linear in this number."""
    return name not in (*POWERS, "ratio", "lost")


def _has_anchor(evaluator: Evaluator, tuned: Mapping[str, float]) -> bool:
    """Return True if some nonzero weight stays fixed, which fixes the scale of the evaluator."""
    fixed = {
        term: weight
        for term, weight in zip(TERMS, evaluator.terms, strict=True)
        if _is_weight(term) and term != "corner_cell" and (term != "base" or evaluator.lost is not None)
    }
    fixed |= {_cell(i, j): weight for i, row in enumerate(evaluator.matrix) for j, weight in enumerate(row)}
    fixed |= {"scale": evaluator.scale if evaluator.path else 0.0, "lost": evaluator.lost or 0.0}
    return any(weight and name not in tuned for name, weight in fixed.items())


def _alone(evaluator: Evaluator, name: str) -> Evaluator:
    """Return an evaluator with only this weight, set to 1."""
    powers = [power for power, term in POWERS.items() if term == name]
    terms = tuple(
        1.0 if term == name else weight if term in ("corner_cell", *powers) else 0.0
        for term, weight in zip(TERMS, evaluator.terms, strict=True)
    )
    matrix = tuple(tuple(float(_cell(i, j) == name) for j in range(len(row))) for i, row in enumerate(evaluator.matrix))
    path = evaluator.path if name == "scale" else ""
    return dataclasses.replace(evaluator, terms=terms, lost=None, path=path, scale=1.0, matrix=matrix)


def _spread(evaluator: Evaluator, rules: Rules, boards: Sequence[Board]) -> float:
    """Return the mean range of the move values on a board."""
    without_lost = dataclasses.replace(evaluator, lost=None)
    spreads = []
    for board in boards:
        values = [without_lost.value(slide.board, rules) for _, slide in board.slides()]
        spreads.append(max(values, default=0.0) - min(values, default=0.0))
    return statistics.fmean(spreads)
