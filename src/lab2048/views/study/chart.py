"""Charts of a study as SVG: our bar and the published one below it, each with its interval."""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from html import escape

from lab2048.arena.statistics import Interval
from lab2048.studies.comparison import Line
from lab2048.studies.measure import Measure, Unit
from lab2048.studies.report import Report
from lab2048.views.study.figure import write_value
from lab2048.views.text import shortened

WIDTH, LEFT, RIGHT = 1000, 380, 142  # names of MAX_NAME letters have room on the left, verdicts on the right
STEP, HEAD, FOOT = 24, 44, 34
BAR = 8  # height of a bar
OURS, THEIRS, INK, FAINT, PAPER = "#1f77b4", "#d9541e", "#1f1a14", "#d8d2c8", "#ffffff"
OURS_PALE, THEIRS_PALE = "#8fbbdd", "#f4c6b2"  # fills of the bars, so that intervals on them can be seen
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

    There is one line per row and published figure; a figure that was only published stands beside those that were
    measured.
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
        if _values(line) and (line.row.id, measure) not in shown:
            by_measure.setdefault(measure, []).append(line)
    measured = {measure for measure, lines in by_measure.items() if any(line.ours for line in lines)}
    by_measure = {measure: lines for measure, lines in by_measure.items() if measure in measured}
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
    found = [line.ours.value] if line.ours and math.isfinite(line.ours.value) else []
    found += [published[0]] if (published := _published(line)) else []
    return found + ([line.bound[0]] if line.bound else [])


def _published(line: Line) -> Interval | None:
    """Return the published value that is drawn beside ours, or None."""
    return None if line.figure.against else line.reference


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
    ours = f'{_bar(LEFT, LEFT + 24, 14, OURS)}<text x="{LEFT + 30}" y="18">ours, 95% interval</text>'
    figure = (
        f'{_bar(LEFT + 170, LEFT + 194, 14, THEIRS)}<text x="{LEFT + 200}" y="18">published, and its interval</text>'
    )
    bound = f'{_arrow(LEFT + 380, 14, 1)}<text x="{LEFT + 404}" y="18">published: a bound</text>'
    has_figure = any(_published(line) for line in lines)
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
    """Draw one line: its name, our bar and the published one below it, each with its interval."""
    parts = [f'<text x="{LEFT - 12}" y="{y + 4}" text-anchor="end">{escape(shortened(label, MAX_NAME))}</text>']
    published, ours, start = _published(line), line.ours, x(0.0)
    is_compared = published is not None or line.bound is not None
    if published is not None:
        told = f"{label}: published {line.figure.published.text if line.figure.published else ''}"
        parts.append(_bar(start, x(published.value), y + 5, THEIRS, told))
        parts.append(_whisker(x(published.low), x(published.high), y + 5, THEIRS))
    if line.bound:
        parts.append(_arrow(x(line.bound[0]), y + 5, line.bound[1]))
    if ours is not None:
        told = f"{label}: {write_value(ours.value, unit, is_exact=ours.n == 0)}, {line.agreement}"
        middle = y - 4 if is_compared else y
        parts.append(_bar(start, x(ours.value), middle, OURS, told))
        if ours.has_interval and ours.n:
            parts.append(_whisker(x(ours.low), x(ours.high), middle, OURS))
    word = line.agreement.brief if is_compared else ""
    parts.append(f'<text x="{WIDTH - RIGHT + 14}" y="{y + 4}">{escape(word)}</text>')
    return "".join(parts)


def _arrow(x: float, y: float, to: int) -> str:
    """Draw a bound as an arrow to the right (1) or to the left (-1)."""
    shape = f"M {x:.1f} {y - 5} v 10 m 0 -5 h {16 * to} m {-5 * to} -4 l {5 * to} 4 l {-5 * to} 4"
    return f'<path d="{shape}" fill="none" stroke="{THEIRS}" stroke-width="2"/>'


def _bar(a: float, b: float, y: float, colour: str, told: str = "") -> str:
    """Draw a bar around the height `y`; `told` is shown under the pointer."""
    pale = OURS_PALE if colour == OURS else THEIRS_PALE
    title = f"<title>{escape(told)}</title>" if told else ""
    return (
        f'<rect x="{a:.1f}" y="{y - BAR / 2}" width="{max(1.5, b - a):.1f}" height="{BAR}" fill="{pale}" '
        f'stroke="{colour}">{title}</rect>'
    )


def _whisker(a: float, b: float, y: float, colour: str) -> str:
    """Draw an interval across the end of a bar."""
    shape = f"M {a:.1f} {y} H {b:.1f} M {a:.1f} {y - 3} v 6 M {b:.1f} {y - 3} v 6"
    return f'<path d="{shape}" fill="none" stroke="{colour}" stroke-width="1.5"/>'


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
