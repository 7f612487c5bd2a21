"""Charts of a study as SVG: ours and published side by side with their intervals."""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from html import escape

from lab2048.studies.comparison import Line
from lab2048.studies.measure import Measure, Unit
from lab2048.studies.report import Report
from lab2048.views.study.figure import write_value
from lab2048.views.text import shortened

WIDTH, LEFT, RIGHT = 970, 380, 112  # a name of MAX_NAME letters has room on the left
STEP, HEAD, FOOT = 22, 44, 34
OURS, THEIRS, INK, FAINT, PAPER = "#1f77b4", "#d9541e", "#1f1a14", "#d8d2c8", "#ffffff"
MAX_ROWS = 40
MAX_NAME = 50  # letters of a row's name
N_PANELS = 3  # drawn if the study does not list its charts
PAIRS = "adjacent pairs, per game"


@dataclass(frozen=True)
class Panel:
    """A chart: the lines of one measure, or of one measure for several tiles."""

    title: str
    measure: Measure
    lines: tuple[Line, ...]

    def label(self, line: Line) -> str:
        """Return the label of a line: its row, and its tile if the panel has several."""
        has_tiles = any(other.figure.measure != self.measure for other in self.lines)
        return f"{line.figure.measure.tile}: {line.row.title}" if has_tiles else line.row.title


def panels(report: Report) -> list[Panel]:
    """Return rankings, then the charts that the study lists, then others, those with published figures first.

    There is one line per row and published figure.
    """
    ranked = [
        Panel(each.ranking.title, each.ranking.by, tuple(ranked_row.line for ranked_row in each.rows)[:MAX_ROWS])
        for each in report.ranked
        if each.rows
    ]
    shown = {(line.row.id, line.figure.measure) for panel in ranked for line in panel.lines}
    by_measure: dict[Measure, list[Line]] = {}
    for line in report.lines:
        measure = line.figure.measure
        if line.ours is not None and math.isfinite(line.ours.value) and (line.row.id, measure) not in shown:
            by_measure.setdefault(measure, []).append(line)
    pairs = _paired(by_measure)
    found = [Panel(measure.title, measure, _distinct(lines)[:MAX_ROWS]) for measure, lines in by_measure.items()]
    found += pairs
    found.sort(key=lambda panel: -sum(line.figure.published is not None for line in panel.lines))
    found.sort(key=lambda panel: _order(panel, report.study.charts))
    return ranked + found


def _order(panel: Panel, asked: Sequence[Measure]) -> int:
    """Return the index of a panel among those that the study lists, or their number if it is not listed."""
    measures = [line.figure.measure for line in panel.lines]
    return min((i for i, measure in enumerate(asked) if measure in measures), default=len(asked))


def _paired(by_measure: dict[Measure, list[Line]]) -> list[Panel]:
    """Remove the pairs of all tiles and return them as one panel, if they fit."""
    tiles = sorted((measure for measure in by_measure if measure.name == "pairs"), key=lambda measure: measure.tile)
    lines = _distinct([line for measure in tiles for line in by_measure[measure]])
    if len(tiles) < 2 or len(lines) > MAX_ROWS:
        return []
    for measure in tiles:
        del by_measure[measure]
    return [Panel(PAIRS, tiles[0], lines)]


def _distinct(lines: Sequence[Line]) -> tuple[Line, ...]:
    """Drop repeated lines; of equal ones keep those with a published figure."""
    seen: dict[tuple[str, Measure, str], Line] = {}
    for line in lines:
        published = line.figure.published
        seen.setdefault((line.row.id, line.figure.measure, published.text if published else ""), line)
    told = {(row, measure) for row, measure, text in seen if text}
    return tuple(line for (row, measure, text), line in seen.items() if text or (row, measure) not in told)


def is_logarithmic(panel: Panel) -> bool:
    """Return True if the values are positive and span a factor of more than 30."""
    values = [value for line in panel.lines for value in _values(line)]
    return (
        bool(values)
        and min(values) > 0
        and panel.measure.meaning.unit is not Unit.RATE
        and max(values) > 30 * min(values)
    )


def _values(line: Line) -> list[float]:
    found = [line.ours.value] if line.ours else []
    found += [line.reference[0]] if line.reference and not line.figure.against else []
    return found + ([line.bound[0]] if line.bound else [])


def report_svg(report: Report) -> str:
    """Draw the charts that the study lists, or else the first few, as one SVG."""
    found, asked = panels(report), report.study.charts
    chosen = [panel for panel in found if _order(panel, asked) < len(asked)] or found[:N_PANELS]
    heights = [HEAD + STEP * len(panel.lines) + FOOT for panel in chosen]
    height = max(80, sum(heights) + 30)
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{WIDTH}" height="{height}" viewBox="0 0 {WIDTH} {height}" '
        f'font-family="sans-serif" font-size="12" fill="{INK}">',
        f"<title>{escape(report.study.title)}</title>",
        f'<rect width="{WIDTH}" height="{height}" fill="{PAPER}"/>',
        _legend([line for panel in chosen for line in panel.lines]),
    ]
    if not chosen:
        parts.append(f'<text x="20" y="60">no results yet: lab2048 study run {escape(report.study.name)}</text>')
    top = 30
    for panel, tall in zip(chosen, heights, strict=True):
        parts.append(_panel(panel, top))
        top += tall
    return "\n".join([*parts, "</svg>"]) + "\n"


def _legend(lines: Sequence[Line]) -> str:
    """Draw the legend of the symbols in use."""
    ours = f'<circle cx="{LEFT}" cy="14" r="5" fill="{OURS}"/><text x="{LEFT + 10}" y="18">ours, 95% interval</text>'
    figure = (
        f'<path d="M {LEFT + 160} 9 l 5 5 l -5 5 l -5 -5 z" fill="none" stroke="{THEIRS}" stroke-width="2"/>'
        f'<text x="{LEFT + 172}" y="18">published</text>'
    )
    bound = f'{_arrow(LEFT + 260, 14, 1)}<text x="{LEFT + 284}" y="18">published: a bound</text>'
    has_figure = any(line.reference is not None and not line.figure.against for line in lines)
    return ours + (figure if has_figure else "") + (bound if any(line.bound for line in lines) else "")


def _panel(panel: Panel, top: int) -> str:
    unit, is_log = panel.measure.meaning.unit, is_logarithmic(panel)
    low, high = _range(panel, is_log)

    def x(value: float) -> float:
        clipped = min(max(value, low), high)
        part = math.log(clipped / low) / math.log(high / low) if is_log else (clipped - low) / (high - low)
        return LEFT + part * (WIDTH - LEFT - RIGHT)

    bottom = top + HEAD + STEP * len(panel.lines)
    parts = [f'<text x="20" y="{top + 22}" font-weight="bold">{escape(panel.title)}</text>']
    for tick in ticks(low, high, is_log=is_log):
        label = escape(write_value(tick, unit))
        parts.append(f'<line x1="{x(tick):.1f}" x2="{x(tick):.1f}" y1="{top + 30}" y2="{bottom}" stroke="{FAINT}"/>')
        parts.append(f'<text x="{x(tick):.1f}" y="{bottom + 16}" text-anchor="middle">{label}</text>')
    for i, line in enumerate(panel.lines):
        parts.append(_mark(line, panel.label(line), x, top + HEAD + STEP * i + 4, unit))
    return "\n".join(parts)


def _mark(line: Line, label: str, x: Callable[[float], float], y: float, unit: Unit) -> str:
    """Draw one line: its name, our value and the published value, each with its interval."""
    assert line.ours is not None
    parts = [f'<text x="{LEFT - 12}" y="{y + 4}" text-anchor="end">{escape(shortened(label, MAX_NAME))}</text>']
    reference = line.reference if not line.figure.against else None
    if reference is not None:
        value, low, high = reference
        parts.append(_bar(x(low), x(high), y + 4, THEIRS))
        at = x(value)
        parts.append(
            f'<path d="M {at:.1f} {y - 1} l 5 5 l -5 5 l -5 -5 z" fill="none" stroke="{THEIRS}" stroke-width="2"/>'
        )
    if line.bound:
        parts.append(_arrow(x(line.bound[0]), y + 4, line.bound[1]))
    ours = line.ours
    if ours.has_interval:
        parts.append(_bar(x(ours.low), x(ours.high), y - 3, OURS))
    told = f"{label}: {write_value(ours.value, unit, is_exact=ours.n == 0)}, {line.agreement}"
    parts.append(
        f'<circle cx="{x(ours.value):.1f}" cy="{y - 3}" r="4.5" fill="{OURS}"><title>{escape(told)}</title></circle>'
    )
    word = line.agreement.word if reference is not None or line.bound else ""
    parts.append(f'<text x="{WIDTH - RIGHT + 14}" y="{y + 4}">{escape(word)}</text>')
    return "".join(parts)


def _arrow(x: float, y: float, to: int) -> str:
    """Draw a bound as an arrow to the right (1) or to the left (-1)."""
    shape = f"M {x:.1f} {y - 5} v 10 m 0 -5 h {16 * to} m {-5 * to} -4 l {5 * to} 4 l {-5 * to} 4"
    return f'<path d="{shape}" fill="none" stroke="{THEIRS}" stroke-width="2"/>'


def _bar(a: float, b: float, y: float, colour: str) -> str:
    return f'<line x1="{a:.1f}" x2="{b:.1f}" y1="{y}" y2="{y}" stroke="{colour}" stroke-width="2"/>'


def _range(panel: Panel, is_log: bool) -> tuple[float, float]:
    if panel.measure.meaning.unit is Unit.RATE:
        return 0.0, 1.0
    values = [value for line in panel.lines for value in _values(line)]
    ends = [
        end for line in panel.lines if line.ours and line.ours.has_interval for end in (line.ours.low, line.ours.high)
    ]
    if is_log:
        return min(values) / 1.5, max(values) * 1.5
    high = max([*values, *ends])
    return min(0.0, *values), high * 1.05 or 1.0


def ticks(low: float, high: float, *, is_log: bool) -> list[float]:
    """Return round numbers between `low` and `high`."""
    if is_log:
        first, last = math.ceil(math.log10(low)), math.floor(math.log10(high))
        return [10.0**power for power in range(first, last + 1)]
    step = 10.0 ** math.floor(math.log10(max(high - low, 1e-12)))
    step = next(step * part for part in (0.2, 0.5, 1.0) if (high - low) / (step * part) <= 6 or part == 1.0)
    return [tick * step for tick in range(math.ceil(low / step), math.floor(high / step) + 1)]
