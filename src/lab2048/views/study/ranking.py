"""Rankings of a study as tables: a line a row, the best first."""

from collections.abc import Iterator

from rich.console import RenderableType
from rich.table import Table
from rich.text import Text

from lab2048.studies.ranking import Ranked, RankedRow
from lab2048.views.study.figure import write_ours, write_training_spec

CAPTION = "Places are those that the 95% intervals leave open: who shares one is not told apart."
GAP = 2  # between two columns of a terminal
NEEDED = 4  # columns that are always there: place, row, value and interval


def ranking_cells(ranked: Ranked, size: str) -> tuple[list[str], list[list[str]]]:
    """The heads of the columns, and the cells of every line."""
    measures = ranked.measures
    heads = ["place", "row", ranked.ranking.by.brief, "95% interval", "n", *(measure.brief for measure in measures)]
    rows = []
    for ranked_row in ranked.rows:
        others = [ranked_row.others.get(measure) for measure in measures]
        values = [write_ours(line)[0] if line else "-" for line in others]
        row = ranked_row.line.row
        trained = f", {write_training_spec(row.training_spec, size)} learnt" if row.training_spec else ""
        rows.append([write_place(ranked_row), f"{row.title}{trained}", *write_ours(ranked_row.line), *values])
    return heads, rows


def write_place(ranked_row: RankedRow) -> str:
    """One place, or from which to which."""
    return str(ranked_row.first) if ranked_row.first == ranked_row.last else f"{ranked_row.first} to {ranked_row.last}"


def ranking_table(ranked: Ranked, size: str, width: int | None) -> Iterator[RenderableType]:
    """A ranking for a terminal; columns that do not fit are left out, from the last one on."""
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
