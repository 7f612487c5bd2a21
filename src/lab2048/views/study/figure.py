"""Figures and rankings of a study as words: values in their units, intervals, sample sizes, places."""

from collections.abc import Iterator

from rich.console import RenderableType
from rich.table import Table
from rich.text import Text

from lab2048.studies.comparison import Line
from lab2048.studies.measure import Measured, Unit
from lab2048.studies.model import TrainingSpec
from lab2048.studies.report import Ranked, RankedRow
from lab2048.views.number import duration, number, percent

CAPTION = "A row has a range of places where the 95% intervals overlap: rows that share a place cannot be told apart."
GAP = 2  # between two columns of a terminal
NEEDED = 4  # columns that are always there: place, row, value and interval


def write_value(value: float, unit: Unit, *, is_exact: bool = False) -> str:
    """Format a value with its unit; an exact one with all digits.

    >>> write_value(0.15, Unit.RATE), write_value(0.011337880083, Unit.RATE, is_exact=True)
    ('15%', '1.1337880083%')
    >>> write_value(3932100, Unit.NUMBER), write_value(0.002, Unit.SECONDS), write_value(2.5, Unit.TIMES)
    ('3,932,100', '2 ms', '2.5 x')
    """
    match unit:
        case Unit.RATE:
            return f"{100 * value:.12g}%" if is_exact else percent(value)
        case Unit.SECONDS:
            return duration(value)
        case Unit.TIMES:
            return f"{value:.3g} x"
        case _:
            return f"{value:,.10g}" if is_exact and value != int(value) else number(value)


def write_ours(line: Line) -> tuple[str, str, str]:
    """Return our value, interval and sample size."""
    if line.ours is None:
        return "-", "-", "-"
    unit, ours, k = line.figure.measure.meaning.unit, line.ours, len(line.each)
    alike = len({each.n for each in line.each}) == 1
    of_all = f"{k} x {ours.n // k}" if alike else f"{ours.n} in {k}"
    n = of_all if k and ours.n > k else str(ours.n) if ours.n else "-"
    return write_value(ours.value, unit, is_exact=ours.n == 0), _interval(ours, unit), n


def write_each(line: Line) -> str:
    """Return our value for each training."""
    unit = line.figure.measure.meaning.unit
    return "; ".join(write_value(each.value, unit) for each in line.each)


def _interval(ours: Measured, unit: Unit) -> str:
    if ours.n == 0:
        return "exact"
    if not ours.has_interval:
        return "measured once"
    low = max(ours.low, 0.0)  # no measure is negative, even if the interval of few games is
    high = min(ours.high, 1.0) if unit is Unit.RATE else ours.high
    return f"{write_value(low, unit)} to {write_value(high, unit)}"


def write_published(line: Line) -> str:
    """Return the published figure, or the other row and its value."""
    if line.figure.against:
        theirs = f" {write_value(line.theirs.value, line.figure.measure.meaning.unit)}" if line.theirs else ""
        return f"{line.figure.against}{theirs}"
    if line.figure.published is None:
        return "-"
    return line.figure.published.text


def write_training_spec(training_spec: TrainingSpec, size: str) -> str:
    """Return the length of the training."""
    minutes = training_spec.minutes.get(size)
    return f"{minutes} minutes" if minutes else f"{training_spec.games.get(size, 0):,} games"


def ranking_cells(ranked: Ranked, size: str) -> tuple[list[str], list[list[str]]]:
    """Return the column headings and the cells of every line."""
    measures = ranked.measures
    heads = ["place", "row", ranked.ranking.by.brief, "95% interval", "n", *(measure.brief for measure in measures)]
    rows = []
    for ranked_row in ranked.rows:
        others = [ranked_row.others.get(measure) for measure in measures]
        values = [write_ours(line)[0] if line else "-" for line in others]
        row = ranked_row.line.row
        trained = f", {write_training_spec(row.training_spec, size)} of training" if row.training_spec else ""
        rows.append([write_place(ranked_row), f"{row.title}{trained}", *write_ours(ranked_row.line), *values])
    return heads, rows


def write_place(ranked_row: RankedRow) -> str:
    """Return the place, or a range such as "2 to 4"."""
    return str(ranked_row.first) if ranked_row.first == ranked_row.last else f"{ranked_row.first} to {ranked_row.last}"


def ranking_table(ranked: Ranked, size: str, width: int | None) -> Iterator[RenderableType]:
    """Yield a ranking for a terminal; the last columns are dropped if they do not fit."""
    if not ranked.rows:
        return
    heads, rows = ranking_cells(ranked, size)
    widths = [max(len(row[i]) for row in [heads, *rows]) for i in range(len(heads))]
    while width is not None and len(widths) > NEEDED and sum(widths) + GAP * len(widths) > width:
        widths.pop()
    table = Table(box=None, pad_edge=False, padding=(0, GAP, 0, 0), header_style="bold")
    for head, column in zip(heads, widths, strict=False):
        table.add_column(head, width=column if head != "row" else None, justify="left", overflow="fold")
    for row in rows:
        table.add_row(*(Text(cell) for cell in row[: len(widths)]))
    yield Text(ranked.ranking.title, style="bold")
    yield Text(CAPTION)
    yield table
    yield Text("")
