"""Studies as text: a list, a table for a terminal, and a page of Markdown."""

import math
from collections.abc import Iterable, Iterator

from rich.console import Group, RenderableType
from rich.table import Table
from rich.text import Text

from lab2048.studies.measure import Measured, Unit
from lab2048.studies.report import Line, Report
from lab2048.studies.study import Row, Study
from lab2048.studies.verdict import AGREES, BETTER, UNPUBLISHED, WORDS, WORSE
from lab2048.views.number import duration, number, percent

_STYLES = {AGREES: "green", BETTER: "green", WORSE: "red"}


def write_value(value: float, unit: Unit, *, is_exact: bool = False) -> str:
    """A value in its unit; an exact one with all its digits.

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
    """What was measured: value, interval and sample size."""
    if line.ours is None:
        return "-", "-", "-"
    unit, ours = line.figure.measure.meaning.unit, line.ours
    return write_value(ours.value, unit, is_exact=ours.n == 0), _interval(ours, unit), str(ours.n) if ours.n else "-"


def _interval(ours: Measured, unit: Unit) -> str:
    if ours.n == 0:
        return "exact"
    if not math.isfinite(ours.low):
        return "none"
    low = max(ours.low, 0.0)  # nothing that is measured can be less, though few games may not know that
    return f"{write_value(low, unit)} to {write_value(ours.high, unit)}"


def write_published(line: Line) -> str:
    """What ours is set beside, and where that stands."""
    if line.figure.against:
        theirs = f" {write_value(line.theirs.value, line.figure.measure.meaning.unit)}" if line.theirs else ""
        return f"{line.figure.against}{theirs}"
    if line.figure.published is None:
        return "-"
    return line.figure.published.text


def write_run(row: Row, size: str) -> str:
    """What was run: the player and the board, or what else it takes."""
    board = f" on {row.board}" if row.board != "4x4" or not row.player else ""
    if row.lesson is not None:
        options = [f"{name}={value}" for name, value in row.lesson.options.items()]
        preset = [f"preset {row.lesson.preset}"] if row.lesson.preset else []
        learnt = f"{row.lesson.games.get(size, 0):,} games"
        return f"train {row.lesson.method} {' '.join(preset + options)}, {learnt}; {row.player}{board}"
    goal = f" to {row.goal}" if row.kind == "solve" and row.objective == "win" else ""
    return f"{row.player or row.kind}{board}{goal}"


def study_lines(studies: Iterable[Study]) -> Iterator[str]:
    """The list: a name and a question each."""
    for study in studies:
        yield f"{study.name:<16} {study.question}"
        yield f"{'':<16} {study.source}"


def report_table(report: Report, width: int) -> RenderableType:
    """Every figure, under what was run for it; what was left out in a line each."""
    study = report.study
    parts: list[RenderableType] = [Text(study.title, style="bold"), Text(study.question), Text(study.source)]
    for row in study.rows:
        lines = [line for line in report.lines if line.row.id == row.id]
        parts.append(Text(f"\n{row.title}{_games(row, report) if row.id in report.results else ''}", style="bold"))
        left_out = next((line.left_out for line in lines if line.left_out), "")
        if left_out and row.kind != "none":
            parts.append(Text(f"  left out: {left_out}"))
        else:
            parts.append(_row_table(lines, width))
    parts += [Text("\nAssumed:"), *(Text(f"- {each}") for each in study.assumptions), Text(""), Text(summary(report))]
    return Group(*parts)


def _games(row: Row, report: Report) -> str:
    """How many games a row is about."""
    learnt = f"{row.lesson.games.get(report.size, 0):,} games learnt, " if row.lesson else ""
    return f" ({learnt}{row.amount(report.size):,} games)" if row.player else ""


def _row_table(lines: Iterable[Line], width: int) -> Table:
    """The figures of a row; columns are as wide in every row, so that all stand in line."""
    widths = (max(22, width * 3 // 10), max(13, width // 6), 28)
    table = Table(box=None, pad_edge=False, show_header=False, padding=(0, 2, 0, 0))
    for column in (*widths, max(12, width - sum(widths) - 8)):
        table.add_column(width=column, overflow="fold")
    for line in lines:
        value, interval, _ = write_ours(line)
        ours = value if interval in ("-", "exact", "none") else f"{value} [{interval}]"
        told = "nothing published" if line.verdict.why == UNPUBLISHED else str(line.verdict)
        table.add_row(
            Text(f"  {line.figure.measure.title}"),
            Text(write_published(line)),
            Text(ours),
            Text(told, style=_STYLES.get(line.verdict.word, "")),
        )
    return table


def summary(report: Report) -> str:
    """One line: how many figures came out how."""
    counts = {word: sum(line.verdict.word == word for line in report.lines) for word in WORDS}
    told = ", ".join(f"{n} {word}" for word, n in counts.items() if n)
    return f"{report.size} run, seed {report.seed}: {report.n_measured} of {len(report.lines)} figures measured; {told}"


def report_markdown(report: Report, *, chart: str, command: str) -> str:
    """A page that can be kept: the same figures, the chart, and where they come from."""
    study = report.study
    lines = [f"# {study.name}: {study.title}", "", study.question, "", f"**Source.** {study.source}", ""]
    lines += [
        f"Made by `{command}` from kept results; verdicts are computed from the intervals. {summary(report)}.",
        "",
    ]
    lines += [f"![{study.title}]({chart})", ""]
    lines += ["| row | measured | published or set against | where | ours | 95% interval | n | verdict |"]
    lines += ["|" + "---|" * 8]
    last = ""
    for line in report.lines:
        name = line.row.title if line.row.id != last else ""
        last = line.row.id
        cells = [name, line.figure.measure.title, write_published(line), line.figure.where, *write_ours(line)]
        lines.append("| " + " | ".join(map(_cell, [*cells, str(line.verdict)])) + " |")
    lines += ["", "## Assumed", "", *(f"- {each}" for each in study.assumptions)]
    lines += ["", "## What was run", "", "| row | id | run | seconds |", "|---|---|---|---|"]
    for row in study.rows:
        result = report.results.get(row.id)
        seconds = number(result.seconds) if result else "-"
        lines.append(f"| {_cell(row.title)} | {row.id} | `{_cell(write_run(row, report.size))}` | {seconds} |")
    origins = {str(result.provenance.get("program", "")) for result in report.results.values()}
    machines = {str(result.provenance.get("machine", "")) for result in report.results.values()}
    days = sorted(str(result.provenance.get("created", ""))[:10] for result in report.results.values())
    if days:
        lines += ["", f"{', '.join(sorted(origins))} on {', '.join(sorted(machines))}, {days[0]} to {days[-1]}."]
    return "\n".join(lines) + "\n"


def _cell(text: str) -> str:
    return text.replace("|", "\\|").replace("\n", " ")
