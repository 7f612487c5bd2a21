"""`lab2048 study`: rerun published experiments and compare the figures."""

import contextlib
import os
import shlex
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from lab2048.cli.command import Commands
from lab2048.cli.live_view import live
from lab2048.cli.options import (
    SEED,
    WORKERS,
    ClusterOption,
    ForceOption,
    JsonOption,
    PlayerFileOption,
    load_players,
    say,
)
from lab2048.cli.output import make_console, print_json
from lab2048.cli.progress import say_how
from lab2048.errors import FileError, UsageError, reason_of
from lab2048.jobs.command_line import command_line
from lab2048.views.wrap import columns_of, folded

if TYPE_CHECKING:
    from lab2048.arena.executor.executor import Executor
    from lab2048.studies.model import Row
    from lab2048.studies.report import Report
    from lab2048.studies.result import Result, ResultFolder

app = Commands(
    "Rerun published experiments and compare your figures with the published ones.\n\n"
    "Example: lab2048 study run 000-lookahead --quick"
)

NameArgument = Annotated[str, typer.Argument(metavar="NAME", help="Name from `lab2048 study list`, all, or FILE.toml.")]
QuickOption = Annotated[bool, typer.Option("--quick", help="Fewer games: all studies take about 15 minutes.")]
TinyOption = Annotated[bool, typer.Option("--tiny", hidden=True, help="As few games as possible, for tests.")]
StudySeedOption = Annotated[
    int, typer.Option("--seed", "-s", metavar="N", help="Seed of all games and trainings."), SEED
]
FolderOption = Annotated[
    Path | None,
    typer.Option(
        "--folder",
        envvar="LAB2048_STUDIES",
        metavar="DIR",
        help="Folder of the results (default: in your data folder).",
    ),
]
ALL = "all"  # name for all studies


@app.command("list")
def list_studies(as_json: JsonOption = False) -> None:
    """List the studies with their questions.

    Example: lab2048 study list
    """
    from lab2048.studies.reading import load_study, study_names
    from lab2048.views.study.text import study_lines

    studies = [load_study(name) for name in study_names()]
    if as_json:
        print_json("studies-1", {"studies": [each.to_json() for each in studies]})
        return
    for line in study_lines(studies):
        print(folded(line, columns_of(sys.stdout), " " * 17))


@app.command("run")
def run(
    name: NameArgument,
    quick: QuickOption = False,
    tiny: TinyOption = False,
    seed: StudySeedOption = 1,
    workers: Annotated[
        int, typer.Option("--workers", "-w", metavar="N", help="Parallel games (0 = one per core)."), WORKERS
    ] = 0,
    cluster: ClusterOption = None,
    folder: FolderOption = None,
    rows: Annotated[
        list[str] | None,
        typer.Option("--row", metavar="ROW", help="Only this row, or one of its trainings; can be repeated."),
    ] = None,
    force: Annotated[bool, typer.Option("--force", help="Run rows again that have a result.")] = False,
    as_json: JsonOption = False,
    player_file: PlayerFileOption = None,
) -> None:
    """Run a study; finished rows are saved, and the same command continues it.

    Example: lab2048 study run 000-optimal --quick
    """
    from lab2048.arena.executor.choice import nodes_for
    from lab2048.studies.reading import study_names
    from lab2048.studies.report import make_report

    load_players(player_file)
    if name == ALL and as_json:
        raise UsageError("all and --json: expected the name of one study with --json")
    if name == ALL and rows:
        raise UsageError("all and --row: expected the name of one study with --row")
    studies = study_names() if name == ALL else [name]
    with nodes_for(cluster, workers, "study") as nodes:
        for each in studies:
            result_folder = _result_folder(each, quick=quick, tiny=tiny, seed=seed, folder=folder)
            if not _run(result_folder, workers, nodes, rows or [], force=force):
                if name != ALL:
                    _show(make_report(result_folder), as_json=as_json)
                words = [word for row in rows or [] for word in ("--row", row)]
                words += [word for path in player_file or [] for word in ("--player-file", str(path))]
                words += ["--workers", str(workers)] if workers else []
                words += (["--cluster", cluster] if cluster else []) + (["--json"] if as_json else [])
                say_how(
                    "interrupted; finished rows are saved; continue with",
                    _command("run", result_folder, name, folder, *words),
                )
                raise typer.Exit(130)
            if name == ALL:
                _show_short(make_report(result_folder))
    if name != ALL:
        _show(make_report(result_folder), as_json=as_json)
        say(f"HTML report: {_command('report', result_folder, name, folder)} --html {result_folder.study.name}.html")


def _run(
    result_folder: "ResultFolder", workers: int, nodes: "Executor | None", rows: list[str], *, force: bool
) -> bool:
    """Run the missing rows; return False if it was interrupted."""
    from lab2048.library.study import StudyResult

    def say_row(row: "Row", result: "Result") -> None:
        spent = f"{result.seconds:.1f} s, CPU {result.cpu_seconds:.1f} s"
        say(f"{row.id}: {f'skipped: {result.skip_reason}' if result.skip_reason else spent}")

    with contextlib.redirect_stdout(sys.stderr), live() as show:
        return StudyResult(result_folder).run_rows(
            rows,
            workers=workers,
            nodes=nodes,
            force=force,
            say=say,
            show=lambda text: show(lambda: text),
            on_row=say_row,
            on_stop=lambda: say("\nsaving the finished rows; press Ctrl-C again to stop at once"),
        )


@app.command("report")
def report(
    name: NameArgument,
    quick: QuickOption = False,
    tiny: TinyOption = False,
    seed: StudySeedOption = 1,
    folder: FolderOption = None,
    html: Annotated[
        Path | None, typer.Option("--html", metavar="FILE", help="Write an HTML page with charts that works offline.")
    ] = None,
    markdown: Annotated[
        Path | None,
        typer.Option(
            "--markdown", metavar="FILE", help="Write a Markdown page and its charts; for all studies, into a folder."
        ),
    ] = None,
    force: ForceOption = False,
    as_json: JsonOption = False,
) -> None:
    """Show the results of a study: published value, our value, interval and agreement of every figure.

    Example: lab2048 study report 000-lookahead --quick --html lookahead.html
    """
    from lab2048.studies.report import make_report
    from lab2048.studies.result import ResultFolder

    if name == ALL:
        if markdown is None or html is not None or as_json:
            raise UsageError("report all: expected --markdown FOLDER, and neither --html nor --json", field="report")
        _write_all(markdown, quick=quick, tiny=tiny, seed=seed, folder=folder, force=force)
        return
    result_folder = _result_folder(name, quick=quick, tiny=tiny, seed=seed, folder=folder)
    found = make_report(result_folder)
    damaged = list(result_folder.damaged.values())
    if damaged and not found.results:
        raise FileError("; ".join(damaged), code="file.damaged")
    for line in damaged:
        say(f"lab2048: {line}")
    if not found.results:
        quicker = ResultFolder(result_folder.study, "quick", result_folder.seed, folder)
        there_is = (
            f"; the quick run has results: {_command('report', quicker, name, folder)}" if quicker.results() else ""
        )
        raise UsageError(
            f"no row of this run is finished: run {_command('run', result_folder, name, folder)} first{there_is}"
        )
    if html is not None:
        _write_html(found, html, force=force)
    if markdown is not None:
        _write_markdown(found, markdown, _command("report", result_folder, name, None), force=force)
    if as_json or (html is None and markdown is None):
        _show(found, as_json=as_json)


def _result_folder(name: str, *, quick: bool, tiny: bool, seed: int, folder: Path | None) -> "ResultFolder":
    from lab2048.studies.reading import load_study
    from lab2048.studies.result import ResultFolder

    if quick and tiny:
        raise UsageError("--quick and --tiny: expected only one of them")
    return ResultFolder(load_study(name), "test" if tiny else "quick" if quick else "full", seed, folder)


def _command(verb: str, result_folder: "ResultFolder", name: str, folder: Path | None, *more: str) -> str:
    """Return the command line with the same study, size, seed and folder."""
    words = ["study", verb, name]
    words += {"full": [], "quick": ["--quick"], "test": ["--tiny"]}[result_folder.size]
    words += ["--seed", str(result_folder.seed)] if result_folder.seed != 1 else []
    words += ["--folder", str(folder)] if folder is not None and not os.environ.get("LAB2048_STUDIES") else []
    return command_line([*words, *more])


def _show(found: "Report", *, as_json: bool) -> None:
    if as_json:
        print_json("study-report-1", found.to_json())
        return
    from lab2048.views.study.text import report_table

    # Lines in a pipe are not wrapped: another program reads them.
    is_terminal = sys.stdout.isatty()
    console = make_console(width=None if is_terminal else 1000)
    console.print(report_table(found, console.width if is_terminal else None))


def _show_short(found: "Report") -> None:
    """Print one line per study."""
    from lab2048.views.study.text import summary, write_spent

    seconds, cpu = write_spent(list(found.results.values()))
    print(f"{found.study.name}: {summary(found)}; {seconds} s, CPU {cpu} s", flush=True)


def _write_all(to: Path, *, quick: bool, tiny: bool, seed: int, folder: Path | None, force: bool) -> None:
    """Write a page per study with results: of its full run, or of the quick run if that has more figures."""
    from lab2048.studies.reading import study_names
    from lab2048.studies.report import make_report

    try:
        to.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise FileError(f"{to} cannot be created: {reason_of(error)}", code="file.unwritable") from None
    for name in study_names():
        sizes = [(quick, tiny)] if quick or tiny else [(False, False), (True, False)]
        folders = [_result_folder(name, quick=q, tiny=t, seed=seed, folder=folder) for q, t in sizes]
        result_folder = max(
            folders, key=lambda result_folder: make_report(result_folder).n_measured
        )  # the first one if equal
        found = make_report(result_folder)
        if found.results:
            _write_markdown(found, to / f"{name}.md", _command("report", result_folder, name, None), force=force)
        else:
            say(f"{name}: no results")
    from lab2048.records.atomic_file import replacing
    from lab2048.views.study.text import index_markdown

    pages = {
        path.name: path.read_text(encoding="utf-8") for path in sorted(to.glob("*.md")) if path.name != "README.md"
    }
    with replacing(to / "README.md", force=force) as file:
        file.write(index_markdown(pages))


def _write_html(found: "Report", path: Path, *, force: bool) -> None:
    from lab2048.records.atomic_file import replacing
    from lab2048.views.study.page import report_html

    with replacing(path, force=force) as file:
        file.write(report_html(found))
    say(f"{path} is written")


def _write_markdown(found: "Report", path: Path, command: str, *, force: bool) -> None:
    from lab2048.records.atomic_file import check_target, replacing
    from lab2048.views.study.chart import report_svg
    from lab2048.views.study.curve import curves_svg
    from lab2048.views.study.text import report_markdown

    drawn = {path.with_suffix(".svg"): (report_svg(found), found.study.title)}
    if curves := curves_svg(found):
        drawn[path.with_name(f"{path.stem}-curves.svg")] = (curves, f"{found.study.title}, during training")
    for target in (path, *drawn):
        check_target(target, force=force)  # all of them before any is written
    for chart, (picture, _) in drawn.items():
        with replacing(chart, force=force) as file:
            file.write(picture)
    charts = {chart.name: title for chart, (_, title) in drawn.items()}
    with replacing(path, force=force) as file:
        file.write(report_markdown(found, charts=charts, command=f"{command} --markdown {shlex.quote(path.name)}"))
    say(f"{path} and {', '.join(map(str, drawn))} are written")
