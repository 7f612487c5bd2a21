"""Knobs: the numbers of an evaluator that are tuned, and how far a setting moves each.

A knob stands at 0 for the evaluator as it is, and a tuner turns all of them by about 1 at
first, by 3 at most.  A weight that is not zero is multiplied, so that it keeps its sign and
its order of magnitude; one that is zero is moved in a unit that matters on real boards.
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

STEP = 0.3  # how far the first steps go: a factor of exp(0.3), or 0.3 units
DIGITS = 6  # of a tuned number; the seventh decides no game, and a table stays readable
N_BOARDS = 200

POWERS = {"sum_power": "sum", "monotone_power": "monotone"}
_UNTUNED = ("corner_cell", "base", *POWERS)  # unless they are named; a cell is no weight at all
_OTHERS = ("scale", "ratio", "matrix", "lost")


@dataclass(frozen=True)
class Knob:
    """One number that is tuned."""

    name: str  # a term, scale, ratio, lost, or matrix[row][column]
    start: float
    unit: float  # 0: the number is multiplied by exp(width x setting); else setting x width x unit is added
    width: float = STEP

    def at(self, setting: float) -> float:
        """The number at a setting of the knob.

        A setting of 1 is a step of 1.2 widths and one of 3 a step of 10: fine near the start, and yet far-reaching.
        """
        way = self.width * math.sinh(setting)
        return rounded(self.start + self.unit * way if self.unit else self.start * math.exp(way))


def rounded(number: float) -> float:
    """The number to the digits that a table shows.

    >>> rounded(1234.56789)
    1234.57
    """
    return float(f"{number:.{DIGITS}g}")


@dataclass(frozen=True)
class Panel:
    """All knobs of an evaluator."""

    evaluator: Evaluator
    knobs: tuple[Knob, ...]
    pivot: float  # the rank at which turning a power changes nothing

    def with_settings(self, settings: Mapping[str, float]) -> Evaluator:
        """The evaluator with its knobs turned; one that is not named stands at 0."""
        numbers = {knob.name: knob.at(settings[knob.name]) for knob in self.knobs if settings.get(knob.name)}
        before = dict(zip(TERMS, self.evaluator.terms, strict=True))
        terms = before | {name: number for name, number in numbers.items() if name in before}
        for power, term in POWERS.items():
            # A higher power makes its term heavier: what the power is worth must not depend on that.
            if power in numbers:
                terms[term] = rounded(terms[term] * self.pivot ** (before[power] - terms[power]))
        others: dict[str, Any] = {name: numbers[name] for name in ("scale", "ratio", "lost") if name in numbers}
        matrix = tuple(
            tuple(numbers.get(_cell(i, j), weight) for j, weight in enumerate(row))
            for i, row in enumerate(self.evaluator.matrix)
        )
        return dataclasses.replace(self.evaluator, terms=tuple(terms.values()), matrix=matrix, **others)


def make_panel(evaluator: Evaluator, rules: Rules, names: Sequence[str], boards: Sequence[Board]) -> Panel:
    """The knobs of the named terms, or of all that are not zero; `boards` tell what matters.

    Players only compare values, so that an evaluator times any number plays the same.  If
    nothing would stay as it is, the weightiest number does.
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
            f"evaluator {evaluator.name} has nothing to tune, because a single weight changes no move: "
            "expected more terms",
            code="evaluator.nothing_to_tune",
            field="evaluator",
        )
    n_zero = sum(start == 0 for name, start in starts.items() if name not in POWERS)
    knobs = []
    for name, start in starts.items():
        if name in POWERS:
            knobs.append(Knob(name, start, 1.0))
        elif name == "ratio":
            knobs.append(Knob(name, start, 0.0, STEP / 2))
        elif start:
            knobs.append(Knob(name, start, 0.0))
        elif name == "lost":
            values = [evaluator.value(board, rules) for board in boards]
            knobs.append(Knob(name, start, rounded(statistics.pstdev(values)) or 1.0))
        else:
            unit = spread / share[name] / math.sqrt(n_zero) if share[name] else 0.0
            knobs.append(Knob(name, start, rounded(unit) or 1.0))
    highest = statistics.fmean(max(board.ranks) for board in boards)
    return Panel(evaluator, tuple(knobs), rounded(max(2.0, highest)))


def check_names(evaluator: Evaluator, shape: Shape, names: Sequence[str]) -> None:
    """Refuse terms that cannot be tuned, before a game is played."""
    for _ in _starts(evaluator, names or _default_names(evaluator), shape):
        pass


def sample_boards(episodes: Sequence[Episode]) -> list[Board]:
    """Boards from all parts of some games, with a choice between moves if there are any."""
    boards = [turn.board for episode in episodes for turn in episode.prove().turns[:-1]]
    choices = [board for board in boards[:: max(1, len(boards) // N_BOARDS)] if len(board.legal_moves()) > 1]
    return choices or [episode.rules.board for episode in episodes]


def with_matrix(evaluator: Evaluator, shape: Shape) -> Evaluator:
    """The same evaluator with a weight for every cell instead of a path."""
    if evaluator.matrix:
        return evaluator
    weights = evaluator.weights(shape)
    matrix = tuple(tuple(rounded(float(weights[cell])) if cell >= 0 else 0.0 for cell in row) for row in shape.rows)
    return dataclasses.replace(evaluator, path="", scale=1.0, ratio=0.5, matrix=matrix)


def _default_names(evaluator: Evaluator) -> list[str]:
    terms = [term for term, weight in zip(TERMS, evaluator.terms, strict=True) if weight and term not in _UNTUNED]
    return terms + (["scale", "ratio"] if evaluator.path else []) + (["matrix"] if evaluator.matrix else [])


def _with_powers(evaluator: Evaluator, names: Sequence[str]) -> Evaluator:
    """A term that is added needs a power; without one it would only count tiles."""
    terms = dict(zip(TERMS, evaluator.terms, strict=True))
    for power, term in POWERS.items():
        if term in names and not terms[term] and not terms[power]:
            terms[power] = 1.0
    return dataclasses.replace(evaluator, terms=tuple(terms.values()))


def _starts(evaluator: Evaluator, names: Sequence[str], shape: Shape) -> Iterator[tuple[str, float]]:
    """The numbers behind names as they are now."""
    known = [name for name in (*TERMS, *_OTHERS) if name != "corner_cell"]
    for name in names:
        if name not in known:
            raise UsageError(f"term {name!r} cannot be tuned: {nearest(name, known)}", field="term")
        if name in ("scale", "ratio") and not evaluator.path:
            raise UsageError(f"evaluator {evaluator.name} has no path: expected no term {name}", field="evaluator")
        if name == "lost" and evaluator.lost is None:
            raise UsageError(
                f"evaluator {evaluator.name} judges lost boards like others: expected no term lost", field="evaluator"
            )
        if name == "matrix":
            if not evaluator.matrix:
                raise UsageError(
                    f"evaluator {evaluator.name} has no matrix: expected one that has",
                    code="evaluator.no_matrix",
                    field="evaluator",
                )
            evaluator.weights(shape)  # complains if the matrix is for another shape
            for i, row in enumerate(shape.rows):
                yield from ((_cell(i, j), evaluator.matrix[i][j]) for j, cell in enumerate(row) if cell >= 0)
        elif name in TERMS:
            yield name, evaluator.terms[TERMS.index(name)]
        else:
            yield name, float({"scale": evaluator.scale, "ratio": evaluator.ratio, "lost": evaluator.lost}[name] or 0.0)


def _cell(row: int, column: int) -> str:
    return f"matrix[{row}][{column}]"


def _is_weight(name: str) -> bool:
    """True for what the value of a board is a multiple of."""
    return name not in (*POWERS, "ratio", "lost")


def _has_anchor(evaluator: Evaluator, tuned: Mapping[str, float]) -> bool:
    """True if some number that counts stays as it is, so that a multiple of the evaluator cannot be tuned for."""
    fixed = {
        term: weight
        for term, weight in zip(TERMS, evaluator.terms, strict=True)
        if _is_weight(term) and term != "corner_cell" and (term != "base" or evaluator.lost is not None)
    }
    fixed |= {_cell(i, j): weight for i, row in enumerate(evaluator.matrix) for j, weight in enumerate(row)}
    fixed |= {"scale": evaluator.scale if evaluator.path else 0.0, "lost": evaluator.lost or 0.0}
    return any(weight and name not in tuned for name, weight in fixed.items())


def _alone(evaluator: Evaluator, name: str) -> Evaluator:
    """One weight of 1 and nothing else."""
    powers = [power for power, term in POWERS.items() if term == name]
    terms = tuple(
        1.0 if term == name else weight if term in ("corner_cell", *powers) else 0.0
        for term, weight in zip(TERMS, evaluator.terms, strict=True)
    )
    matrix = tuple(tuple(float(_cell(i, j) == name) for j in range(len(row))) for i, row in enumerate(evaluator.matrix))
    path = evaluator.path if name == "scale" else ""
    return dataclasses.replace(evaluator, terms=terms, lost=None, path=path, scale=1.0, matrix=matrix)


def _spread(evaluator: Evaluator, rules: Rules, boards: Sequence[Board]) -> float:
    """How much the values of the moves differ on one board, on average."""
    judged = dataclasses.replace(evaluator, lost=None)
    spreads = []
    for board in boards:
        values = [judged.value(slide.board, rules) for _, slide in board.slides()]
        spreads.append(max(values, default=0.0) - min(values, default=0.0))
    return statistics.fmean(spreads)
