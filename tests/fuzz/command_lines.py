"""Run random command lines in this process: real options with hostile values.

    PYTHONPATH=src:tests python -m fuzz.command_lines --n 10000 --seed 1

A command ends with a documented exit code, without a traceback, and says in one line what was wrong.  Work that would
take long is cut off before it begins.  Command lines that once went wrong are kept in
tests/data/corpus/command_lines.json.
"""

import argparse
import contextlib
import functools
import importlib
import io
import json
import os
import pkgutil
import random
import subprocess
import sys
import tempfile
import time
import warnings
import webbrowser
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from unittest import mock

import lab2048
from fuzz.strings import SEEDS, Report, TooSlowError, limited, make_text
from lab2048.errors import LabError

CORPUS = Path(__file__).parents[1] / "data" / "corpus" / "command_lines.json"
SECONDS = 5  # of the CPU for one command
CODES = {0, 1, 2, 3, 4, 130}
FORBIDDEN = ("Traceback", "internal error", "Exception ignored")
# These wait for a person or a browser, or measure for minutes.
LEFT_OUT = {"serve", "tui", "bench", "prepare", "watch", "play"}


class StoppedError(BaseException):
    """Raised instead of long work; no code of lab2048 catches it."""


def command_tree() -> dict[tuple[str, ...], list[tuple[str, bool]]]:
    """Return every command with its options, each with whether it takes a value."""
    from lab2048.cli.app import command_of

    found: dict[tuple[str, ...], list[tuple[str, bool]]] = {}

    def walk(command: Any, path: tuple[str, ...]) -> None:
        for name, inner in getattr(command, "commands", {}).items():
            walk(inner, (*path, name))
        found[path] = [
            (name, not getattr(parameter, "is_flag", False))
            for parameter in command.params
            for name in (*parameter.opts, *getattr(parameter, "secondary_opts", ()))
            if name.startswith("-")
        ]

    walk(command_of([]), ())
    return {path: options for path, options in found.items() if path and path[0] not in LEFT_OUT}


def make_words(rng: random.Random, tree: dict[tuple[str, ...], list[tuple[str, bool]]]) -> list[str]:
    path = rng.choice(sorted(tree))
    words = list(path)
    words += [_value(rng) for _ in range(rng.choice((0, 1, 1, 1, 2, 3)))]
    for _ in range(rng.choice((0, 1, 1, 2, 3, 5))):
        name, takes_value = rng.choice(tree[path] or [("--json", False)])
        if rng.random() < 0.05:
            name = name[:-1] + rng.choice("axz-=")
        words.append(name)
        if takes_value and rng.random() < 0.95:
            words.append(_value(rng))
    if rng.random() < 0.1:
        rest = words[1:]
        rng.shuffle(rest)
        words[1:] = rest
    return [word.replace("\0", "") for word in words]  # no program can be given a NUL


def _value(rng: random.Random) -> str:
    chance = rng.random()
    if chance < 0.35:
        return rng.choice(SEEDS)
    if chance < 0.6:
        return str(
            rng.choice((0, 1, 2, 3, -1, 7, 100, 2**31, 2**64, 1e300, "nan", "1e3", "0.5", "2x2", "random", "3x3"))
        )
    return make_text(rng)[:500]


@contextlib.contextmanager
def _no_long_work() -> Iterator[None]:
    """Replace what takes long by StoppedError: command lines are under test, not games."""

    def stop(*_: Any, **__: Any) -> Any:
        raise StoppedError

    from lab2048.cli import app

    with contextlib.ExitStack() as stack:
        make = functools.lru_cache(lambda name: command_of([name] if name else []))
        command_of = app.command_of
        stack.enter_context(mock.patch.object(app, "command_of", lambda words: make(words[0] if words else "")))
        for owner, name in _places():
            stack.enter_context(mock.patch.object(owner, name, stop))
        yield


@functools.cache
def _places() -> list[tuple[Any, str]]:
    """Return where the functions are that take long: every module that has imported one, before it is replaced."""
    for found in pkgutil.walk_packages(lab2048.__path__, "lab2048."):
        if not found.name.endswith("__main__"):
            with contextlib.suppress(ImportError, LabError):
                importlib.import_module(found.name)
    names = ("library.progress.make_ready", "arena.compile.prepare", "library.train.learn", "solver.estimate.estimate")
    long = [pkgutil.resolve_name(f"lab2048.{name}") for name in names]
    modules = [module for name, module in sys.modules.items() if name.startswith("lab2048")]
    places = [
        (module, name) for module in modules for name, each in vars(module).items() if any(each is f for f in long)
    ]
    solve, tuning = (
        pkgutil.resolve_name(f"lab2048.{name}") for name in ("solver.solve:Solve", "arena.tuning.tune:Tuning")
    )
    return [*places, (solve, "run"), (tuning, "run"), (time, "sleep"), (webbrowser, "open"), (subprocess, "Popen")]


def problem_of(words: list[str]) -> str:
    """Run a command; return what is wrong with how it ends, empty if nothing is."""
    from lab2048.cli.app import run

    told, printed = io.StringIO(), io.StringIO()
    try:
        with limited(SECONDS), contextlib.redirect_stderr(told), contextlib.redirect_stdout(printed):
            code = run(words)
    except StoppedError:
        return ""
    except TooSlowError:
        return f"takes more than {SECONDS} s"
    except BaseException as error:
        return f"{type(error).__name__}: {error}"
    said = told.getvalue()
    if any(word in said for word in FORBIDDEN):
        return said[-500:]
    if code not in CODES:
        return f"exit code {code}: {said[-300:]}"
    if code in (2, 3) and not said.strip():
        return f"exit code {code} without a line that says why"
    return ""


@contextlib.contextmanager
def prepared() -> Iterator[None]:
    """Work in an empty folder with the user's folders inside, and without long work."""
    before, here = dict(os.environ), Path.cwd()
    with tempfile.TemporaryDirectory(prefix="lab2048-fuzz-") as name, warnings.catch_warnings(), _no_long_work():
        warnings.simplefilter("ignore")
        os.environ |= dict.fromkeys(("HOME", "XDG_DATA_HOME", "XDG_CONFIG_HOME"), name)
        os.environ.pop("LAB2048_STORE", None)
        os.chdir(name)
        with mock.patch.object(sys, "stdin", io.StringIO("")):
            try:
                yield
            finally:
                os.chdir(here)
                os.environ.clear()
                os.environ |= before


def fuzz_command_lines(n: int, seed: int) -> Report:
    """Run n random command lines."""
    report, rng, tree = Report(), random.Random(seed), command_tree()
    with prepared():
        for _ in range(n):
            words = make_words(rng, tree)
            report.n += 1
            report.by_kind[words[0] if words else ""] += 1
            if (problem := problem_of(words)) and len(report.failures) < 100:
                report.failures.append(json.dumps([words, problem]))
    return report


def replay_command_lines() -> Report:
    """Run the command lines that once went wrong."""
    report = Report()
    with prepared():
        for words in json.loads(CORPUS.read_text("utf-8")):
            report.n += 1
            if problem := problem_of(words):
                report.failures.append(json.dumps([words, problem]))
    return report


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--n", type=int, default=1000)
    parser.add_argument("--seed", type=int, default=0)
    words = parser.parse_args()
    report = fuzz_command_lines(words.n, words.seed)
    sys.stdout.write("\n".join([f"{report.n} command lines, {len(report.failures)} failures", *report.failures, ""]))
    return bool(report.failures)


if __name__ == "__main__":
    sys.exit(main())
