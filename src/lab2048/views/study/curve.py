"""Learning curves of a study, as data and as SVG."""

import json
import math
from collections.abc import Mapping, Sequence
from html import escape
from typing import NamedTuple

import numpy as np

from lab2048.studies.model import Row
from lab2048.studies.report import Report
from lab2048.views.number import number
from lab2048.views.study.chart import FAINT, INK, PAPER, WIDTH, ticks

# Titles of the curves of a training that are drawn.
TITLES = {
    "mean": "mean score",
    "total": "mean return in training",
    "length": "mean number of moves",
    "max_tile": "highest tile",
    "tile_sum": "mean tile sum at the end",
    "loss": "loss",
    "error": "mean error",
}
PAIRS = "pairs of "  # followed by a tile: how often two of them were adjacent, per game
DRAWN = ("total", "length", "max_tile", "loss", "tile_sum", f"{PAIRS}128")  # in the SVG: the curves of Sauren 2022
MAX_LINES = 8  # in the SVG
FAR = 8  # trainings that are this many times longer or shorter than the first are not drawn
COLOURS = ("#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9", "#000000", "#8a6d3b")
_TALL, _ACROSS, _SIDE = 210, 2, 58


class Point(NamedTuple):
    """Mean, minimum and maximum over trainings after a number of games."""

    n_games: float
    value: float
    low: float
    high: float


def curves(report: Report) -> dict[str, dict[str, list[Point]]]:
    """Return all curves by name, pairs last, then by the title of the row."""
    found: dict[str, dict[str, list[Point]]] = {}
    for row in _learners(report):
        each = [[_whole(point) for point in result.curve] for result in report.of(row) if len(result.curve) > 1]
        for name in dict.fromkeys(name for curve in each for point in curve for name in point):
            if name in TITLES or name.startswith(PAIRS):
                points = merge([[point for point in curve if name in point] for curve in each], name)
                if len(points) > 1:
                    found.setdefault(name, {})[row.title] = points
    order = [*TITLES, *(f"{PAIRS}{1 << rank}" for rank in range(1, 64))]
    return {name: found[name] for name in order if name in found}


def _learners(report: Report) -> list[Row]:
    """Return the rows with curves; if one training is the beginning of another, only the longer one."""
    longest: dict[str, Row] = {}
    for row in report.study.rows:
        if row.training_spec is None or not report.of(row):
            continue
        begins = json.dumps([row.training_spec.begin(report.size), row.rules(report.size).to_json()], sort_keys=True)
        other = longest.get(begins)
        if other is None or _n_games(row, report) > _n_games(other, report):
            longest[begins] = row
    chosen = {row.id for row in longest.values()}
    return [row for row in report.study.rows if row.id in chosen]


def _n_games(row: Row, report: Report) -> int:
    return row.training_spec.games.get(report.size, 0) if row.training_spec else 0


def _whole(point: Mapping[str, float]) -> Mapping[str, float]:
    """Add zeros to a point for the pairs that it leaves out."""
    named = [int(name.removeprefix(PAIRS)) for name in point if name.startswith(PAIRS)]
    is_trial = "n" in point  # evaluations list every tile that formed pairs; other points may leave out low tiles
    tiles = [1 << rank for rank in range(1, 12) if is_trial or named]
    none = {f"{PAIRS}{tile}": 0.0 for tile in tiles if is_trial or tile > max(named)}
    return {**none, **point}


def merge(trainings: Sequence[Sequence[Mapping[str, float]]], name: str) -> list[Point]:
    """Average several curves at the points of the first, over the range that all cover."""
    if not all(trainings):
        return []
    lines = [([p["n_games"] for p in points], [p[name] for p in points]) for points in trainings]
    begin, end = max(x[0] for x, _ in lines), min(x[-1] for x, _ in lines)
    grid = [x for x in lines[0][0] if begin <= x <= end]
    values = np.array([np.interp(grid, x, y) for x, y in lines])
    rows = zip(grid, values.mean(axis=0), values.min(axis=0), values.max(axis=0), strict=True)
    return [Point(*map(float, row)) for row in rows]


def title(name: str) -> str:
    """Return the title of a curve."""
    return TITLES.get(name, f"adjacent {name}, per game")


def curves_svg(report: Report) -> str | None:
    """Draw the curves of Sauren 2022, or else all curves, as SVG; None if there was no training."""
    every = curves(report)
    found = {name: every[name] for name in DRAWN if name in every} or every
    rows = _drawn(report, found)
    names = [name for name in found if any(row in found[name] for row in rows)]
    if not names:
        return None
    head = 30 + 20 * math.ceil(len(rows) / _ACROSS)
    height = head + _TALL * math.ceil(len(names) / _ACROSS) + 10
    about = "mean of the trainings; the band is from minimum to maximum" if _are_several(report) else "one training"
    n_more = len({row for lines in every.values() for row in lines}) - len(rows)
    more = f" {n_more} more in the HTML report." if n_more else ""
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{WIDTH}" height="{height}" viewBox="0 0 {WIDTH} {height}" '
        f'font-family="sans-serif" font-size="12" fill="{INK}">',
        f"<title>{escape(report.study.title)}, during training</title>",
        f'<rect width="{WIDTH}" height="{height}" fill="{PAPER}"/>',
        f'<text x="20" y="18">By training games, {about}.{more}</text>',
    ]
    colours = dict(zip(rows, COLOURS, strict=False))
    for i, row in enumerate(rows):
        x, y = 20 + (i % _ACROSS) * WIDTH // _ACROSS, 40 + 20 * (i // _ACROSS)
        parts.append(f'<rect x="{x}" y="{y - 9}" width="18" height="5" fill="{colours[row]}"/>')
        parts.append(f'<text x="{x + 24}" y="{y}">{escape(row)}</text>')
    for i, name in enumerate(names):
        left, top = (i % _ACROSS) * WIDTH // _ACROSS, head + _TALL * (i // _ACROSS)
        lines = {colours[row]: found[name][row] for row in rows if row in found[name]}
        parts.append(_panel(title(name), lines, left, top))
    return "\n".join([*parts, "</svg>"]) + "\n"


def _drawn(report: Report, found: Mapping[str, Mapping[str, Sequence[Point]]]) -> list[str]:
    """Return the titles of the rows to draw: trainings about as long as the first one."""
    tried = _tried(report)
    ends = {
        row: points[-1].n_games
        for lines in found.values()
        for row, points in lines.items()
        if row in tried or not tried
    }
    first = next(iter(ends.values()), 0.0)
    return [row for row, end in ends.items() if first / FAR <= end <= first * FAR][:MAX_LINES]


def _tried(report: Report) -> set[str]:
    """Return the titles of the rows whose curves are of evaluations, without exploration."""
    return {row.title for row in report.study.rows for result in report.of(row) if any("n" in p for p in result.curve)}


def _are_several(report: Report) -> bool:
    return any(len(row.parts(report.size)) > 1 for row in report.study.rows)


def _panel(name: str, lines: Mapping[str, Sequence[Point]], left: int, top: int) -> str:
    """Draw one chart: axes, bands, lines."""
    wide, tall = WIDTH // _ACROSS - _SIDE - 30, _TALL - 60
    end = max(points[-1].n_games for points in lines.values())
    most = max(point.high for points in lines.values() for point in points) or 1.0

    def at(n_games: float, value: float) -> str:
        x, y = left + _SIDE + wide * n_games / end, top + 30 + tall * (1 - max(0.0, value) / most)
        return f"{x:.1f},{y:.1f}"

    parts = [f'<text x="{left + 20}" y="{top + 18}" font-weight="bold">{escape(name)}</text>']
    for tick in ticks(0.0, most, is_log=False):
        (x, y), (x2, _) = (point.split(",") for point in (at(0, tick), at(end, tick)))
        parts.append(f'<line x1="{x}" x2="{x2}" y1="{y}" y2="{y}" stroke="{FAINT}"/>')
        parts.append(f'<text x="{left + _SIDE - 6}" y="{float(y) + 4:.1f}" text-anchor="end">{number(tick)}</text>')
    for tick in ticks(0.0, end, is_log=False):
        x = at(tick, 0).split(",")[0]
        parts.append(f'<text x="{x}" y="{top + tall + 46}" text-anchor="middle">{number(tick)}</text>')
    for colour, points in lines.items():
        if any(point.high > point.low for point in points):
            edge = [at(point.n_games, point.high) for point in points]
            edge += [at(point.n_games, point.low) for point in reversed(points)]
            parts.append(f'<polygon points="{" ".join(edge)}" fill="{colour}" opacity="0.15"/>')
    for colour, points in lines.items():
        path = " ".join(at(point.n_games, point.value) for point in points)
        parts.append(f'<polyline points="{path}" fill="none" stroke="{colour}" stroke-width="2"/>')
    return "\n".join(parts)
