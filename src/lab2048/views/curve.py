"""Learning curves as text and as data for charts."""

import csv
import io
from collections.abc import Iterator
from typing import Any

from lab2048.views.number import number
from lab2048.views.training import trial_line

N_LINES = 20  # points shown as text


def curve_csv(training: dict[str, Any]) -> str:
    """Return CSV with one line per point; figures with parts, such as rates per tile, have one column per part."""
    points = [{"kind": kind, **_flat(point)} for kind, point in _points(training)]
    names = list(dict.fromkeys(name for point in points for name in point))
    text = io.StringIO()
    writer = csv.DictWriter(text, names, restval="", lineterminator="\n")
    writer.writeheader()
    writer.writerows(points)
    return text.getvalue()


def curve_lines(training: dict[str, Any]) -> Iterator[str]:
    """Return some points of a curve as lines, including the last, then the evaluations."""
    curve, trials = training.get("curve", []), training.get("trials", [])
    yield f"{'games':>10} {'moves':>13} {'score':>9} {'moves per game':>13} {'tile sum':>13} {'tile':>6} {'loss':>9}"
    for point in _thin(curve):
        figures = [
            f"{point['n_games']:>10,}",
            f"{point['n_moves']:>13,}",
            f"{number(point['mean']):>9}",
            f"{number(point['length']):>13}" if "length" in point else " " * 13,
            f"{number(point['tile_sum']):>13}" if "tile_sum" in point else " " * 13,
            f"{point.get('max_tile', ''):>6}",
            f"{point.get('loss', point.get('error', 0)):>9.4g}",
        ]
        yield " ".join(figures)
    yield from map(trial_line, _thin(trials))


def _thin(points: list[dict[str, Any]]) -> list[dict[str, Any]]:
    step = -(-len(points) // N_LINES) if points else 1
    return points[::-1][::step][::-1]


def _points(training: dict[str, Any]) -> Iterator[tuple[str, dict[str, Any]]]:
    for point in training.get("curve", []):
        yield "learning", {name: value for name, value in point.items() if name != "trial"}
    for trial in training.get("trials", []):
        yield "trial", trial


def _flat(point: dict[str, Any]) -> dict[str, Any]:
    flat: dict[str, Any] = {}
    for name, value in point.items():
        if not isinstance(value, dict):
            flat[name] = value
            continue
        for part, figure in value.items():
            if isinstance(figure, list | tuple):  # a rate with its interval
                flat |= dict(zip((f"{name}.{part}", f"{name}.{part}.low", f"{name}.{part}.high"), figure, strict=True))
            else:
                flat[f"{name}.{part}"] = figure
    return flat
