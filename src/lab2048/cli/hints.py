"""Command-line options that help with an error; messages of the library never name options."""

from lab2048.cli.debug import is_debugging
from lab2048.errors import LabError

# By code, or by the part of a code before its last dot; empty: no option helps.
OPTIONS = {
    "checkpoint.exists": "--resume, --force",
    "file.exists": "--force",
    "game.not_found": "lab2048 games list shows all games",
    "store": "--store FILE",
    "store.full": "",
    "store.io": "",
    "study.foreign": "--study FILE",
    "study.not_found": "--study FILE",
    "study.unusable": "--study FILE",
    "study.diverged": "--study FILE, --seed N",
    "evaluator.nothing_to_tune": "--terms, --matrix",
    "evaluator.no_matrix": "--matrix makes one",
    "goal.missing": "--goal TILE",
    "worker.died": "--workers N",
}


def with_option(error: LabError) -> str:
    """Return the line for an error, with the option that helps.

    >>> with_option(LabError("a.toml exists already", code="file.exists", hint="choose another name, or replace it"))
    'a.toml exists already; choose another name, or replace it (--force)'
    """
    option = next((OPTIONS[code] for code in (error.code, error.code.rpartition(".")[0]) if code in OPTIONS), "")
    if error.trace and not is_debugging():
        option = "--debug shows the traceback"
    return f"{error} ({option})" if option else str(error)
