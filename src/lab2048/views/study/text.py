"""Studies as text: a list, a table for a terminal, and a page of Markdown."""

from collections.abc import Iterable, Iterator, Mapping, Sequence

from rich.console import Group, RenderableType
from rich.table import Table
from rich.text import Text

from lab2048.studies.agreement import AGREES, BETTER, DIFFERS, NOT_COMPARABLE, NOT_MEASURED, UNPUBLISHED, WORDS, WORSE
from lab2048.studies.comparison import NOT_YET, Line
from lab2048.studies.model import SPAWN, Row, Study
from lab2048.studies.report import Report
from lab2048.studies.result import Result
from lab2048.views.number import number
from lab2048.views.study.figure import (
    CAPTION,
    ranking_cells,
    ranking_table,
    write_each,
    write_ours,
    write_published,
    write_training_spec,
)

_STYLES = {AGREES: "green", BETTER: "green", WORSE: "red"}
_COMPARED = {AGREES: "agree", BETTER: "better", WORSE: "worse", DIFFERS: "differ"}  # of several
_OTHERS = {NOT_COMPARABLE: "not comparable", UNPUBLISHED: "with nothing published", NOT_MEASURED: "not measured"}
Cells = tuple[str, str, str, str, str]  # of a line: four columns, and the word of the agreement
MADE_BY = "Made by "
HEADS: Cells = ("measured", "reference", "ours [95% interval]", "agreement", "")


def write_run(row: Row, size: str) -> str:
    """Return the player, the board and the training of a row as one line."""
    board = f" on {row.board}" if row.board != "4x4" or not row.player else ""
    board += f", spawns {row.spawn}" if row.spawn != SPAWN else ""
    board += f", ends at {row.goal}" if row.stop_at_goal and row.player else ""
    if row.training_spec is not None:
        options = [f"{name}={value}" for name, value in row.training_spec.options.items()]
        preset = [f"preset {row.training_spec.preset}"] if row.training_spec.preset else []
        words = " ".join([row.training_spec.method, *preset, *options])
        trained = write_training_spec(row.training_spec, size)
        what = f"train {words}, {trained}" if not row.training_spec.of else f"the network of {row.training_spec.of}"
        times = f", {len(row.parts(size))} seeds" if len(row.parts(size)) > 1 else ""
        return f"{what}{times}; {row.player}{board}"
    goal = f" to {row.goal}" if row.kind == "solve" and row.objective == "win" else ""
    return f"{row.player or row.kind}{board}{goal}"


def study_lines(studies: Iterable[Study]) -> Iterator[str]:
    """Yield the name, the question and the source of each study."""
    for study in studies:
        yield f"{study.name:<16} {study.question}"
        yield f"{'':<16} {study.source}"


def report_table(report: Report, width: int | None) -> RenderableType:
    """Return a table of all figures, grouped by row; a skipped row is one line with the reason.

    Columns are as wide as their contents, at most as wide as the terminal.
    """
    study = report.study
    cells = {row.id: [_cells(line) for line in report.lines if line.row.id == row.id] for row in study.rows}
    widths = _widths([HEADS, *(each for lines in cells.values() for each in lines)], width)
    parts: list[RenderableType] = [Text(study.title, style="bold"), Text(study.question), Text(study.source), Text("")]
    parts += [part for ranked in report.ranked for part in ranking_table(ranked, report.size, width)]
    parts.append(_row_table([HEADS], widths))
    for row in study.rows:
        skip_reason = next(
            (line.skip_reason for line in report.lines if line.row.id == row.id and line.skip_reason), ""
        )
        parts.append(Text(f"\n{row.title}{_games(row, report) if report.of(row) else ''}", style="bold"))
        if skip_reason and row.kind != "none":
            parts.append(Text(f"  {skip_reason}" if skip_reason == NOT_YET else f"  skipped: {skip_reason}"))
        else:
            parts.append(_row_table(cells[row.id], widths))
    assumed = [Text("\nAssumptions:"), *(Text(f"- {each}") for each in study.assumptions)] if study.assumptions else []
    parts += [*assumed, Text(""), Text(summary(report))]
    return Group(*parts)


def _games(row: Row, report: Report) -> str:
    """Return the numbers of trainings and games of a row."""
    if not row.player:
        return ""
    trained = f"{write_training_spec(row.training_spec, report.size)} of training, " if row.training_spec else ""
    n_trainings = len(row.parts(report.size))
    trainings = f"{len(report.of(row))} of {n_trainings} trainings, each " if n_trainings > 1 else ""
    return f" ({trainings}{trained}{_fewer(row, report)}{row.amount(report.size):,} games)"


def _fewer(row: Row, report: Report) -> str:
    """Return "N of " if a match has fewer games than the study now asks for."""
    found = report.of(row)
    n = len(found[0].games) if row.kind == "match" and found else row.amount(report.size)
    return f"{n:,} of " if n < row.amount(report.size) else ""


def _missing(row: Row, report: Report) -> str:
    """Return how many of its trainings or games a row has, if not all."""
    if fewer := _fewer(row, report):
        return f" ({fewer}{row.amount(report.size):,} games)"
    n, n_trainings = len(report.of(row)), len(row.parts(report.size))
    return f" ({n} of {n_trainings} trainings)" if 0 < n < n_trainings else ""


def _cells(line: Line) -> Cells:
    """Return a figure as text: measure, reference, our value and agreement."""
    value, interval, _ = write_ours(line)
    ours = f"{value} [{interval}]" if " to " in interval else value if interval == "-" else f"{value}, {interval}"
    return f"  {line.figure.measure.title}", write_published(line), ours, str(line.agreement), line.agreement.word


def _widths(cells: Sequence[Cells], width: int | None) -> tuple[int, ...]:
    """Return the column widths, the same for all rows."""
    natural = [max(len(each[i]) for each in cells) for i in range(4)]
    if width is None or sum(natural) + 6 <= width:
        return tuple(natural)
    first = (min(natural[0], max(22, width * 3 // 10)), min(natural[1], max(13, width // 6)), min(natural[2], 28))
    return (*first, max(12, width - sum(first) - 6))


def _row_table(lines: Iterable[Cells], widths: Sequence[int]) -> Table:
    table = Table(box=None, pad_edge=False, show_header=False, padding=(0, 2, 0, 0))
    for column in widths:
        table.add_column(width=column, overflow="fold")
    for line in lines:
        style = "bold" if line is HEADS else _STYLES.get(line[4], "")
        table.add_row(
            *(Text(cell, style="bold" if line is HEADS else "") for cell in line[:3]), Text(line[3], style=style)
        )
    return table


def summary(report: Report) -> str:
    """Return one line with the number of figures per kind of agreement."""
    counts = {word: sum(line.agreement.word == word for line in report.lines) for word in WORDS}
    compared = [
        f"{counts[word]} {said if counts[word] > 1 else word}" for word, said in _COMPARED.items() if counts[word]
    ]
    others = [f"{counts[word]} {said}" for word, said in _OTHERS.items() if counts[word]]
    n_other = sum(bool(line.agreement.other_method) for line in report.lines)
    other = f" ({n_other} with another method)" if n_other else ""
    parts = "; ".join(part for part in (", ".join(compared) + other, *others) if part)
    measured = f"{report.n_measured} of {len(report.lines)} figures measured"
    return f"{report.size.capitalize()} run, seed {report.seed}: {measured}; {parts}"


def report_markdown(report: Report, *, charts: Mapping[str, str], command: str) -> str:
    """Return the report as a Markdown page with figures, charts (files and titles) and provenance."""
    study = report.study
    lines = [f"# {study.name}: {study.title}", "", study.question, "", f"**Source.** {study.source}", ""]
    lines += [
        f"{MADE_BY}`{command}` from stored results. Agreement is decided by the intervals. {summary(report)}.",
        "",
    ]
    lines += [line for name, title in charts.items() for line in (f"![{title}]({name})", "")]
    for ranked in report.ranked:
        ranked_heads, rows = ranking_cells(ranked, report.size)
        lines += [f"## {ranked.ranking.title}", "", CAPTION, "", *_markdown_table(ranked_heads, rows), ""]
    lines += ["## Figures", ""] if report.ranked else []
    has_several = any(line.each for line in report.lines)
    heads = ["row", "measured", "reference", "where", "ours", "95% interval", "n", "agreement"]
    heads += ["each training"] if has_several else []
    rows, last = [], ""
    for line in report.lines:
        name = f"{line.row.title}{_missing(line.row, report)}" if line.row.id != last else ""
        last = line.row.id
        cells = [name, line.figure.measure.title, write_published(line), line.figure.where, *write_ours(line)]
        rows.append([*cells, str(line.agreement), *([write_each(line)] if has_several else [])])
    lines += _markdown_table(heads, rows)
    lines += ["", "## Assumptions", "", *(f"- {each}" for each in study.assumptions)] if study.assumptions else []
    lines += ["", "## Runs", "", "| row | id | run | seconds | CPU seconds |", "|---|---|---|---|---|"]
    for row in study.rows:
        run, spent = _cell(write_run(row, report.size)), " | ".join(write_spent(report.of(row)))
        lines.append(f"| {_cell(row.title)} | {row.id} | `{run}` | {spent} |")
    lines += ["", *_origin(list(report.results.values()))]
    return "\n".join(lines) + "\n"


def index_markdown(pages: Mapping[str, str]) -> str:
    """Return a list of links to the pages of `report_markdown`, each with its summary."""
    lines = [
        "# Results of the studies",
        "",
        "Made by `script/results` from the stored results of every game. [Studies](../studies.md) explains the tables.",
        "",
    ]
    for name, page in pages.items():
        text = page.splitlines()
        told = next((line for line in text if line.startswith(MADE_BY)), "").partition("intervals. ")[2]
        lines.append(f"- [{text[0].removeprefix('# ')}]({name}): {told}")
    return "\n".join(lines) + "\n"


def write_spent(results: Sequence[Result]) -> tuple[str, str]:
    """Return wall-clock and CPU time of a row; older results have no CPU time."""
    seconds, cpu = sum(result.seconds for result in results), sum(result.cpu_seconds for result in results)
    return number(seconds) if results else "-", number(cpu) if cpu else "-"


def _origin(results: Sequence[Result]) -> Iterator[str]:
    """Yield program, machine and dates, and the commands of trainings made outside the study."""
    if not results:
        return
    programs, machines = (
        ", ".join(sorted({str(result.provenance.get(name, "")) for result in results}))
        for name in ("program", "machine")
    )
    sessions = (each for result in results for each in (result.provenance, *result.provenance.get("earlier", [])))
    days = sorted(str(session.get("created", ""))[:10] for session in sessions)
    cpu = sum(result.cpu_seconds for result in results)
    spent = f"; {number(cpu)} CPU seconds" if all(result.cpu_seconds for result in results) else ""
    yield f"{programs} on {machines}, {days[0]} to {days[-1]}{spent}."
    for result in results:
        here = result.provenance.get("command")
        trained = result.provenance.get("trained", {}).get("sessions", [])
        others = dict.fromkeys(session["command"] for session in trained if "study run" not in session["command"])
        if others and here not in others:
            yield f"\n{result.row} uses the network trained by `{'`, then `'.join(others)}`."


def _markdown_table(heads: Sequence[str], rows: Iterable[Sequence[str]]) -> Iterator[str]:
    yield "| " + " | ".join(heads) + " |"
    yield "|" + "---|" * len(heads)
    for row in rows:
        yield "| " + " | ".join(map(_cell, row)) + " |"


def _cell(text: str) -> str:
    return text.replace("|", "\\|").replace("\n", " ")
