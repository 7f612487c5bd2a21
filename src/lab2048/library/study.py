"""Published experiments, run again beside the published figures."""

import os
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from lab2048.library.interrupt import stopping
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
    """Return a study: a published experiment, by its name or a file of your own; `run` plays what is missing.

    `lab2048.study_names()` lists the names.  With `quick` it plays fewer games.  Results are kept in `folder`
    (default: your data folder).

    >>> import lab2048 as lab
    >>> lab.study("000-optimal", quick=True).name
    '000-optimal'
    """
    return StudyResult(
        ResultFolder(load_study(name), "quick" if quick else "full", seed, Path(folder) if folder else None)
    )


class StudyResult:
    """A study and what has been measured so far."""

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
        """The ids of the rows, each a player or a question that is measured."""
        return [row.id for row in self._folder.study.rows]

    @property
    def report(self) -> Report:
        """The figures: published, ours, and whether they agree."""
        return make_report(self._folder)

    def run(
        self, rows: Sequence[str] = (), *, workers: int = 0, force: bool = False, progress: bool | None = None
    ) -> "StudyResult":
        """Measure what is missing, or only some rows; Ctrl-C keeps what is done.  Returns the study itself."""
        with progress_line(progress) as show:
            self.run_rows(rows, workers=workers, force=force, say=lambda text: show(text), show=lambda text: show(text))
        return self

    def run_rows(
        self,
        rows: Sequence[str] = (),
        *,
        workers: int = 0,
        force: bool = False,
        say: Callable[[str], None] = lambda _: None,
        show: Callable[[str], None] = lambda _: None,
        on_row: Callable[[Row, Result], None] = lambda *_: None,
        on_stop: Callable[[], None] = lambda: None,
    ) -> bool:
        """Do what `run` does, with callbacks; return False after Ctrl-C."""
        runner = Runner(self._folder, workers or os.cpu_count() or 1, say=say, show=show, only=rows, force=force)

        def stop() -> None:
            runner.stop()
            on_stop()

        with stopping(stop):
            for row, result in runner.run():
                on_row(row, result)
        return not runner.is_stopped

    def to_dict(self) -> dict[str, Any]:
        """Return all figures as plain data, the same as `lab2048 study report --json` prints."""
        return self.report.to_json()

    def to_pandas(self) -> "pandas.DataFrame":
        """Return one row per figure."""
        from lab2048.extras import load

        frame: pandas.DataFrame = load("pandas").json_normalize(self.to_dict()["figures"])
        return frame

    def table(self) -> Shown:
        """Return the figures as a table."""
        from lab2048.views.study.text import report_table

        report = self.report
        figures = [line.to_json() for line in report.lines]
        names = list(figures[0]) if figures else ["figure"]
        rows = [names, *([str(figure.get(name, "")) for name in names] for figure in figures)]
        return Shown.of_rich(report_table(report, 200), self.title, rows)

    def to_html(self) -> str:
        """Return a page with charts, which needs no network."""
        from lab2048.views.study.page import report_html

        return report_html(self.report)

    def __repr__(self) -> str:
        report = self.report
        return f"StudyResult({self.name}: {report.n_measured} of {len(report.lines)} figures measured)"

    def __str__(self) -> str:
        return str(self.table())

    def _repr_html_(self) -> str:
        return self.table()._repr_html_()
