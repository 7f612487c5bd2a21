"""The progress of commands: as the library shows it, and as lines where there is no terminal."""

import sys
from collections.abc import Callable
from contextlib import AbstractContextManager

from lab2048.library import progress
from lab2048.library.progress import Show, bar
from lab2048.views.wrap import columns_of

__all__ = ["Show", "again", "again_with", "bar", "make_ready", "progress_line", "remember", "say_how", "working"]

_typed: list[str] = []  # the arguments of this command


def remember(arguments: list[str]) -> None:
    """Store the arguments of the command for `again`."""
    _typed[:] = arguments


def again(*further: str, without: tuple[str, ...] = ()) -> str:
    """Return the command that was typed, with more arguments: how to resume it."""
    from lab2048.jobs.command_line import command_line

    words = [word for word in _typed if word not in without]
    return command_line([*words, *(word for word in further if word not in words)])


def again_with(option: str, short: str, value: str) -> str:
    """Return the command that was typed, with another value of an option, whose short name is `short`."""
    from lab2048.jobs.command_line import command_line

    words, is_value = [], False
    for word in _typed:
        is_joined = word.startswith(f"{option}=") or (word.startswith(short) and word != short)
        if not is_value and not is_joined and word not in (option, short):
            words.append(word)
        is_value = word in (option, short)
    return command_line([*words, option, value])


def say_how(text: str, command: str) -> None:
    """Print a command to copy, on the same line as the text or, if that is too long, on its own line."""
    columns = columns_of(sys.stderr)
    is_short = columns is None or len(text) + len(command) < columns
    print(f"{text} {command}" if is_short else f"{text}\n{command}", file=sys.stderr, flush=True)


def progress_line() -> AbstractContextManager[Show]:
    """Show a line for work that reports its progress."""
    return progress.progress_line(True)


def working(text: str, *, only_terminal: bool = False) -> AbstractContextManager[Callable[[str], None]]:
    """Show a line with the elapsed time, for work that cannot report progress; yields a function that sets the text."""
    return progress.working(text, None if only_terminal else True)


def make_ready(*groups: str) -> None:
    """Compile kernels and unpack the network if that has not been done yet; the first time takes some seconds."""
    progress.make_ready(*groups, progress=True)
