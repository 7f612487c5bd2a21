"""Published experiments, repeated and compared with the published figures."""

import os
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from lab2048.arena.executor.choice import nodes_for
from lab2048.arena.executor.executor import Executor
from lab2048.library.interrupt import interruptible, stopping
from lab2048.library.progress import progress_line
from lab2048.library.shown import Shown
from lab2048.studies.model import Row
from lab2048.studies.reading import load_study
from lab2048.studies.report import Report, make_report
from lab2048.studies.result import Result, ResultFolder
from lab2048.studies.run.runner import Runner

if TYPE_CHECKING:
    import pandas


def study(name: str, *, quick: bool = False, seed: int = 1, folder: "str | Path | None" = None) -> "StudyResult":
    """Open a study, a published experiment, by its name or from your own TOML file; call `run` to run it.

    `lab2048.study_names()` lists the names.  `quick` plays fewer games.  Results are saved in `folder` (default: your
    data folder).

    >>> import lab2048 as lab
    >>> lab.study("000-optimal", quick=True).name
    '000-optimal'
    """
    return StudyResult(
        ResultFolder(load_study(name), "quick" if quick else "full", seed, Path(folder) if folder else None)
    )


class StudyResult:
    """A study and its results so far.

    >>> import lab2048 as lab, tempfile
    >>> study = lab.study("000-optimal", quick=True, folder=tempfile.mkdtemp())
    >>> study.report.n_measured, len(study.rows) > 1
    (0, True)
    """

    def __init__(self, result_folder: ResultFolder) -> None:
        """Use `lab2048.study`."""
        self._folder = result_folder

    @property
    def name(self) -> str:
        return self._folder.study.name

    @property
    def title(self) -> str:
        return self._folder.study.title

    @property
    def question(self) -> str:
        return self._folder.study.question

    @property
    def rows(self) -> list[str]:
        """Return the ids of the rows; a row is one thing that the study runs, such as a player."""
        return [row.id for row in self._folder.study.rows]

    @property
    def report(self) -> Report:
        """Return the figures: the published ones, ours, and whether they agree."""
        return make_report(self._folder)

    @interruptible()
    def run(
        self,
        rows: Sequence[str] = (),
        *,
        workers: int = 0,
        cluster: str | None = None,
        force: bool = False,
        progress: bool | None = None,
    ) -> "StudyResult":
        """Run the rows without a result, or only the given ones; return the study.  Ctrl-C keeps finished rows.

        `cluster` is a Ray cluster that plays the games: "auto", "local" or an address.

        >>> import lab2048 as lab, tempfile
        >>> study = lab.study("000-optimal", quick=True, folder=tempfile.mkdtemp())
        >>> study.run(["2x2-8-a"]).report.n_measured > 0
        True
        """
        with progress_line(progress) as show, nodes_for(cluster, workers) as nodes:
            self.run_rows(
                rows,
                workers=workers,
                nodes=nodes,
                force=force,
                say=lambda text: show(text),
                show=lambda text: show(text),
            )
        return self

    def run_rows(
        self,
        rows: Sequence[str] = (),
        *,
        workers: int = 0,
        nodes: Executor | None = None,
        force: bool = False,
        say: Callable[[str], None] = lambda _: None,
        show: Callable[[str], None] = lambda _: None,
        on_row: Callable[[Row, Result], None] = lambda *_: None,
        on_stop: Callable[[], None] = lambda: None,
    ) -> bool:
        """Run rows as `run` does, with callbacks; return False after Ctrl-C.

        >>> import lab2048 as lab, tempfile
        >>> study = lab.study("000-optimal", quick=True, folder=tempfile.mkdtemp())
        >>> study.run_rows(["2x2-8-a"], on_row=lambda row, result: print(row.id))
        2x2-8-a
        True
        """
        n_workers = workers or os.cpu_count() or 1
        runner = Runner(self._folder, n_workers, say=say, show=show, only=rows, force=force, nodes=nodes)

        def stop() -> None:
            runner.stop()
            on_stop()

        with stopping(stop):
            for row, result in runner.run():
                on_row(row, result)
        return not runner.is_stopped

    def to_dict(self) -> dict[str, Any]:
        """Return all figures as a dict, the same as `lab2048 study report --json` prints.

        >>> import lab2048 as lab, tempfile
        >>> study = lab.study("000-optimal", quick=True, folder=tempfile.mkdtemp())
        >>> len(study.to_dict()["figures"]) == len(study.report.lines)
        True
        """
        return self.report.to_json()

    def to_pandas(self) -> "pandas.DataFrame":
        """Return a data frame with a row per figure.

        >>> import lab2048 as lab, tempfile
        >>> study = lab.study("000-optimal", quick=True, folder=tempfile.mkdtemp())
        >>> len(study.to_pandas()) == len(study.report.lines)
        True
        """
        from lab2048.extras import load

        frame: pandas.DataFrame = load("pandas").json_normalize(self.to_dict()["figures"])
        return frame

    def table(self) -> Shown:
        """Return the figures as a table.

        >>> import lab2048 as lab, tempfile
        >>> study = lab.study("000-optimal", quick=True, folder=tempfile.mkdtemp())
        >>> "2x2" in study.table().text
        True
        """
        from lab2048.views.study.text import report_table

        report = self.report
        figures = [line.to_json() for line in report.lines]
        names = list(figures[0]) if figures else ["figure"]
        rows = [names, *([str(figure.get(name, "")) for name in names] for figure in figures)]
        return Shown.of_rich(report_table(report, 200), self.title, rows)

    def to_html(self) -> str:
        """Return an HTML page with charts that works offline.

        >>> import lab2048 as lab, tempfile
        >>> study = lab.study("000-optimal", quick=True, folder=tempfile.mkdtemp())
        >>> study.to_html().startswith("<!doctype html>")
        True
        """
        from lab2048.views.study.page import report_html

        return report_html(self.report)

    def __repr__(self) -> str:
        report = self.report
        return f"StudyResult({self.name}: {report.n_measured} of {len(report.lines)} figures measured)"

    def __str__(self) -> str:
        return str(self.table())

    def _repr_html_(self) -> str:
        return self.table()._repr_html_()
