"""Command-line options that help with an error: the library's own hints name parameters of Python functions."""

from lab2048.cli.debug import is_debugging
from lab2048.errors import LabError

# By code: the hint instead of the one for Python.
HINTS = {
    "checkpoint.exists": "continue it with --resume, or replace it with --force",
    "file.exists": "choose another name, or replace it with --force",
}
# By code, or by the part of a code before its last dot: options to append; empty: no option helps.
OPTIONS = {
    "game.not_found": "lab2048 games list shows all games",
    "store": "--store FILE",
    "store.full": "",
    "store.io": "",
    "store.served": "--store FILE",
    "study.foreign": "--study FILE",
    "study.not_found": "--study FILE",
    "study.unusable": "--study FILE",
    "study.diverged": "--study FILE, --seed N",
    "evaluator.nothing_to_tune": "--terms, --matrix",
    "evaluator.no_matrix": "--matrix makes one",
    "goal.missing": "--goal TILE",
    "reviewer.missing": "--reviewer ntuple:weights=FILE, made by lab2048 train ntuple --rules BOARD",
    "worker.died": "--workers N",
}


def with_option(error: LabError) -> str:
    """Return the line for an error, with the option that helps.

    >>> with_option(LabError("a.toml exists already", code="file.exists", hint="pass force=True to replace it"))
    'a.toml exists already; choose another name, or replace it with --force'
    >>> with_option(LabError("a worker process ended", code="worker.died", hint="try fewer workers"))
    'a worker process ended; try fewer workers (--workers N)'
    """
    if error.code in HINTS:
        return f"{error.message}; {HINTS[error.code]}"
    option = next((OPTIONS[code] for code in (error.code, error.code.rpartition(".")[0]) if code in OPTIONS), "")
    if error.trace and not is_debugging():
        option = "--debug shows the traceback"
    return f"{error} ({option})" if option else str(error)
