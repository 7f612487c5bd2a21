"""The full screen in a real terminal: python benchmarks/tui.py [--runs N] [--seconds N]

How long it takes from the command to the first frame, and whether 30 moves a second stay 30 moves a second
on a line that carries 11,520 bytes of output a second, as one of 115,200 baud does.  Linux only.
"""

import argparse
import os
import re
import statistics
import sys
import tempfile
import time
from pathlib import Path

import pexpect
import pyte

from lab2048.records.store import Store

BYTES_A_SECOND = 11_520
PIECE = 256  # bytes that the line takes at a time
LOOK_SECONDS = 0.05  # between two looks at the screen
SPEED = 30
FASTER_AND_GO = "++\r"  # from 10 to 30 moves a second
PLAYER = "expectimax:depth=3"


class Line:
    """A program in a terminal of 80x24 whose output arrives at a bounded rate."""

    def __init__(self, words: list[str], rate: float, environment: dict[str, str]) -> None:
        surroundings = {**os.environ, "TERM": "xterm-256color", "COLORTERM": "truecolor", **environment}
        surroundings.pop("NO_COLOR", None)
        self.begin = time.monotonic()
        command = ["-m", "lab2048", *words]
        self.child = pexpect.spawn(sys.executable, command, env=surroundings, dimensions=(24, 80), timeout=60)
        self.screen = pyte.Screen(80, 24)
        self._stream = pyte.ByteStream(self.screen)
        self.screen.write_process_input = self.child.send  # what the terminal answers
        self.text, self.moves, self._looked = "", 0, 0.0  # as it was when last looked at
        self.rate, self.n_bytes, self._budget, self._at = rate, 0, 0.0, time.monotonic()

    def read(self) -> bool:
        """Take what the line lets through; False at the end."""
        now = time.monotonic()
        self._budget = min(self._budget + (now - self._at) * self.rate, 4 * PIECE)
        self._at = now
        if self._budget < PIECE:
            time.sleep(PIECE / self.rate)
            return True
        try:
            data = self.child.read_nonblocking(PIECE, timeout=0.02)
        except pexpect.TIMEOUT:
            data = b""
        except pexpect.EOF:
            return False
        self._budget -= len(data)
        self.n_bytes += len(data)
        self._stream.feed(data)
        if now - self._looked > LOOK_SECONDS:
            self._looked = now
            self.text = "\n".join(self.screen.display)
            if found := self.shows(r"moves\s+([\d,]+)\s"):
                self.moves = int(found[1].replace(",", ""))
        return True

    def shows(self, pattern: str) -> re.Match[str] | None:
        return re.search(pattern, self.text)

    def cpu_seconds(self) -> float:
        words = Path(f"/proc/{self.child.pid}/stat").read_text().rpartition(")")[2].split()
        return (int(words[11]) + int(words[12])) / os.sysconf("SC_CLK_TCK")


def first_frame(words: list[str], text: str, n_runs: int, environment: dict[str, str]) -> str:
    walls, cpus = [], []
    for _ in range(n_runs + 1):  # the first one warms the files up
        line = Line(words, 1e9, environment)
        while not line.shows(text):
            if not line.read():
                sys.exit(f"it has ended: {' '.join(words)}")
        walls.append(time.monotonic() - line.begin)
        cpus.append(line.cpu_seconds())
        line.child.send("q")
        while line.read():
            pass
        line.child.close()
    wall, cpu = statistics.median(walls[1:]), statistics.median(cpus[1:])
    return f"{wall:.2f} s, of them {cpu:.2f} s of the processor (best {min(walls[1:]):.2f} s)"


def slow_line(words: list[str], keys: str, seconds: float, environment: dict[str, str], store: Path) -> str:
    line = Line(words, BYTES_A_SECOND, environment)
    while not line.shows(r"moves\s+\d"):
        if not line.read():
            sys.exit(f"it has ended: {' '.join(words)}")
    line.child.send(keys)
    while not line.shows(r"moves\s+[1-9]\d"):  # it plays, and what it needed is loaded
        line.read()
    begin, first, n_bytes = time.monotonic(), line.moves, line.n_bytes
    while time.monotonic() - begin < seconds:
        line.read()
    spent, shown, n_bytes = time.monotonic() - begin, line.moves, line.n_bytes - n_bytes
    line.child.send("\x03")
    asked = time.monotonic()
    while line.read():
        pass
    line.child.close()
    left = time.monotonic() - asked
    with Store.open(store) as games:
        made = games.entries()[0].n_moves
    pace = (shown - first) / spent
    return (
        f"{pace:.1f} moves a second shown over {spent:.0f} s; {made - shown} more were made until it ended, "
        f"{left:.2f} s after Ctrl-C; {n_bytes / spent:,.0f} bytes a second"
    )


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--runs", type=int, default=5)
    parser.add_argument("--seconds", type=float, default=10.0)
    args = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        store = Path(folder) / "games.sqlite"
        own = {"LAB2048_STORE": str(store)}
        print("from the command to the first frame:")
        print(f"  menu: {first_frame(['tui'], 'players on the same seeds', args.runs, own)}")
        print(f"  game: {first_frame(['tui', '--rules', '4x4'], 'moves +0', args.runs, own)}")
        print(f"{SPEED} moves a second on a line of {BYTES_A_SECOND:,} bytes a second:")
        game = ["tui", "--rules", "4x4", "--seed", "3", "--player", PLAYER]
        print(f"  tui: {slow_line(game, FASTER_AND_GO, args.seconds, own, store)}")
        watch = ["watch", PLAYER, "--seed", "3", "--speed", str(SPEED)]
        print(f"  watch: {slow_line(watch, '', args.seconds, own, store)}")


if __name__ == "__main__":
    main()
