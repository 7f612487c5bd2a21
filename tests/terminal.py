"""A shell in an emulated terminal: what stands on its screen, and how it is left behind."""

import os
import shlex
import sys
from collections.abc import Callable

import pexpect
import pyte
import pytest

LAB = f"{shlex.quote(sys.executable)} -m lab2048"


class Screen(pyte.Screen):
    """A screen with a second one that programs may use and leave again."""

    def set_mode(self, *modes: int, **keywords: bool) -> None:
        super().set_mode(*modes, **keywords)
        if 1049 in modes:
            self.old = {y: dict(row) for y, row in self.buffer.items()}, self.cursor.x, self.cursor.y
            self.erase_in_display(2)

    def reset_mode(self, *modes: int, **keywords: bool) -> None:
        super().reset_mode(*modes, **keywords)
        if 1049 in modes:
            self.erase_in_display(2)
            rows, self.cursor.x, self.cursor.y = self.old
            for y, row in rows.items():
                self.buffer[y].update(row)


class Terminal:
    """A shell in an emulated terminal; `until` reads what it shows."""

    def __init__(self, columns: int = 80, lines: int = 24, **environment: str) -> None:
        self.screen = Screen(columns, lines)
        self._stream = pyte.ByteStream(self.screen)
        # A size in a variable would be believed, and not the terminal's own.
        known = {name: value for name, value in os.environ.items() if name not in ("COLUMNS", "LINES")}
        surroundings = {**known, "TERM": "xterm-256color", "PS1": "$ ", "NO_COLOR": "1", **environment}
        self.shell = pexpect.spawn("/bin/sh", env=surroundings, timeout=120, dimensions=(lines, columns))
        self.until(lambda shown: shown == ["$"])

    def play(self, words: str = "", *, program: str = f"{LAB} play --seed 3") -> None:
        self.shell.sendline(f" {program} {words}")

    def press(self, keys: str) -> None:
        self.shell.send(keys)

    def resize(self, columns: int, lines: int) -> None:
        self.screen.resize(lines, columns)
        self.shell.setwinsize(lines, columns)

    @property
    def shown(self) -> list[str]:
        lines = [line.rstrip() for line in self.screen.display]
        while lines and not lines[-1]:
            lines.pop()
        return lines

    def until(self, is_there: Callable[[list[str]], bool]) -> list[str]:
        """Read until the screen is as expected; a screen that never is fails with what it shows."""
        while not is_there(self.shown):
            try:
                self._stream.feed(self.shell.read_nonblocking(4096, timeout=120))
            except (pexpect.TIMEOUT, pexpect.EOF):
                pytest.fail("the screen shows\n" + "\n".join(self.shown))
        return self.shown

    def expect(self, *lines: str) -> None:
        """Read until the screen shows these lines and no others."""
        self.until(lambda shown: shown == list(lines))

    def ends_with(self, line: str) -> list[str]:
        return self.until(lambda shown: shown[-1:] == [line])

    def has(self, *texts: str) -> list[str]:
        """Read until the screen shows all these texts, wherever they stand."""
        return self.until(lambda shown: all(text in "\n".join(shown) for text in texts))

    def assert_restored(self) -> None:
        """The shell reads lines and shows what is typed, as before; the cursor is there."""
        modes = "stty -a | tr -d ';' | tr ' ' '\\n' | grep -x -e icanon -e echo | sort | tr '\\n' ' '"
        self.press(f" {modes}; echo end-$((1 + 1))\n")
        self.has("echo icanon end-2")
        assert not self.screen.cursor.hidden
