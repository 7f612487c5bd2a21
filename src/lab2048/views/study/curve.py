"""Learning curves of a study: what trainings came to while they learnt, as data and as a picture (SVG)."""

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

# What the curves of a training are called, as far as they are worth a chart.
TITLES = {
    "mean": "mean score",
    "total": "mean return, as the learner counts it",
    "length": "mean number of moves",
    "max_tile": "highest tile",
    "tile_sum": "mean sum of tiles at the end",
    "loss": "loss",
    "error": "mean error",
}
PAIRS = "pairs of "  # and a tile: how often two of them lay side by side, a game
DRAWN = ("total", "length", "max_tile", "loss", "tile_sum", f"{PAIRS}128")  # of the picture, those of document 003
MAX_LINES = 8  # of the picture
FAR = 8  # times as many games are too many to be drawn beside
COLOURS = ("#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9", "#000000", "#8a6d3b")
_TALL, _ACROSS, _SIDE = 210, 2, 58


class Point(NamedTuple):
    """The mean of some trainings when so many games were learnt, and the least and the most of them."""

    n_games: float
    value: float
    low: float
    high: float


def curves(report: Report) -> dict[str, dict[str, list[Point]]]:
    """Every curve by what it shows, pairs last, and then by the title of the row."""
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
    """Rows with results that are drawn: one for each training; of trainings that begin alike, the longest."""
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
    """A point of a curve with the pairs that it does not name because there were none."""
    named = [int(name.removeprefix(PAIRS)) for name in point if name.startswith(PAIRS)]
    is_trial = "n" in point  # which names every tile that lay in pairs; else low ones may be left out
    tiles = [1 << rank for rank in range(1, 12) if is_trial or named]
    none = {f"{PAIRS}{tile}": 0.0 for tile in tiles if is_trial or tile > max(named)}
    return {**none, **point}


def merge(trainings: Sequence[Sequence[Mapping[str, float]]], name: str) -> list[Point]:
    """One curve of several: where the first has points, as far as all go."""
    if not all(trainings):
        return []
    lines = [([p["n_games"] for p in points], [p[name] for p in points]) for points in trainings]
    begin, end = max(x[0] for x, _ in lines), min(x[-1] for x, _ in lines)
    grid = [x for x in lines[0][0] if begin <= x <= end]
    values = np.array([np.interp(grid, x, y) for x, y in lines])
    rows = zip(grid, values.mean(axis=0), values.min(axis=0), values.max(axis=0), strict=True)
    return [Point(*map(float, row)) for row in rows]


def title(name: str) -> str:
    """What a curve shows, in words."""
    return TITLES.get(name, f"{name} side by side, a game")


def curves_svg(report: Report) -> str | None:
    """Document 003's curves as one picture, or what others there are; those of trials first.

    None if nothing has learnt.
    """
    every = curves(report)
    found = {name: every[name] for name in DRAWN if name in every} or every
    rows = _drawn(report, found)
    names = [name for name in found if any(row in found[name] for row in rows)]
    if not names:
        return None
    head = 30 + 20 * math.ceil(len(rows) / _ACROSS)
    height = head + _TALL * math.ceil(len(names) / _ACROSS) + 10
    about = "mean of the trainings; the shade is from the least to the most" if _are_several(report) else "one training"
    n_more = len({row for lines in every.values() for row in lines}) - len(rows)
    more = f" {n_more} more, on the HTML page of the report." if n_more else ""
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{WIDTH}" height="{height}" viewBox="0 0 {WIDTH} {height}" '
        f'font-family="sans-serif" font-size="12" fill="{INK}">',
        f"<title>{escape(report.study.title)}, while learning</title>",
        f'<rect width="{WIDTH}" height="{height}" fill="{PAPER}"/>',
        f'<text x="20" y="18">By games learnt, {about}.{more}</text>',
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
    """Titles of the rows of the picture: about as long trainings as the first one, or they would not be seen beside."""
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
    """Titles of the rows whose curves are of trials: what learners came to without a move at random."""
    return {row.title for row in report.study.rows for result in report.of(row) if any("n" in p for p in result.curve)}


def _are_several(report: Report) -> bool:
    return any(len(row.parts(report.size)) > 1 for row in report.study.rows)


def _panel(name: str, lines: Mapping[str, Sequence[Point]], left: int, top: int) -> str:
    """One chart: axes, shades, lines."""
    wide, tall = WIDTH // _ACROSS - _SIDE - 30, _TALL - 60
    end = max(points[-1].n_games for points in lines.values())
    most = max(point.high for points in lines.values() for point in points) or 1.0

    def at(n_games: float, value: float) -> str:
        x, y = left + _SIDE + wide * n_games / end, top + 30 + tall * (1 - max(0.0, value) / most)
        return f"{x:.1f},{y:.1f}"

    parts = [f'<text x="{left + 20}" y="{top + 18}" font-weight="bold">{escape(name)}</text>']
    for tick in ticks(0.0, most, is_log=False):
        (x, y), (x2, _) = (place.split(",") for place in (at(0, tick), at(end, tick)))
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
