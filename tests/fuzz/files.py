"""Damage files of every kind and read them as the command line does: one clear line and exit code 3, or no harm.

    PYTHONPATH=src:tests python -m fuzz.files --cases 1000 --seed 1     (and --minutes 25, --kind ntuple, --keep FOLDER)

Each case copies a valid example (`fuzz.examples`), damages one of its files (`fuzz.damage`) and runs one command on it
in a worker process (`fuzz.worker`), so that a crash and a hang are seen.  Cases that once went wrong are kept in
tests/data/corpus, each a folder with the damaged files and case.json; `replay_corpus` runs them again.
"""

import argparse
import contextlib
import json
import os
import random
import select
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from fuzz.damage import damages_for
from fuzz.examples import Example, make_examples
from lab2048.arena.compile import GROUPS
from lab2048.arena.compile import prepare as compile_all

CORPUS = Path(__file__).parents[1] / "data" / "corpus"
PATIENCE = 150  # seconds for one command: a busy machine may stop a process for a minute
MAX_MEMORY = 3 * 2**30  # bytes of a worker, of which torch and the kernels take a part
CASES_PER_WORKER = 400
FORBIDDEN = ("Traceback", "internal error", "Warning:", "out of memory", "Segmentation", "Exception ignored")
# Kinds that may end with exit code 2: a wrong setting, results of another version of a study, which count as none, or a
# replay of a board that its reviewer does not know.
USAGE = ("settings", "study", "replays")


@dataclass
class Case:
    """A damaged file and the command that read it."""

    kind: str
    file: str
    how: str
    words: list[str]
    folder: Path
    problem: str = ""
    said: str = ""

    def __str__(self) -> str:
        return f"{self.kind}/{self.file} {self.how}, {' '.join(self.words)}: {self.problem}: {self.said[-300:]}"


@dataclass
class Report:
    """What became of all cases."""

    n_cases: int = 0
    n_refused: int = 0  # with one line and exit code 3
    n_accepted: int = 0  # the damage did no harm
    by_kind: Counter[str] = field(default_factory=Counter)
    problems: list[Case] = field(default_factory=list)
    seconds: float = 0.0

    def __str__(self) -> str:
        kinds = ", ".join(f"{kind} {n}" for kind, n in sorted(self.by_kind.items()))
        head = f"{self.n_cases} files: {self.n_refused} refused, {self.n_accepted} read, {len(self.problems)} problems"
        return "\n".join([f"{head}, {self.seconds:.0f} s ({kinds})", *map(str, self.problems)])


class Worker:
    """A process that runs commands; it is replaced after a crash, a hang or CASES_PER_WORKER commands."""

    def __init__(self, home: Path) -> None:
        self.home, self._process, self._n = home, None, 0
        self._said = home / "worker.log"

    def ask(self, folder: Path, words: list[str]) -> dict[str, Any]:
        """Return the answer to a command; `problem` says if there is none."""
        if self._process is None or self._n >= CASES_PER_WORKER:
            self.close()
            self._start()
        self._n += 1
        process: Any = self._process
        try:
            process.stdin.write(json.dumps({"folder": str(folder), "words": words}) + "\n")
            process.stdin.flush()
            line = self._line()
        except BrokenPipeError:
            line = ""
        if line is None:
            self.close()
            return {"problem": f"hangs for more than {PATIENCE} s", "said": ""}
        if not line:
            code = process.wait()
            self.close()
            name = signal.Signals(-code).name if code < 0 else f"exit {code}"
            return {"problem": f"the process dies ({name})", "said": self._said.read_text("utf-8", "replace")[-1500:]}
        found: dict[str, Any] = json.loads(line)
        return found

    def close(self) -> None:
        if self._process is not None:
            self._process.kill()
            self._process.communicate()
            self._process = None

    def _start(self) -> None:
        names = ("XDG_CONFIG_HOME", "XDG_DATA_HOME")
        environment = {name: value for name, value in os.environ.items() if name != "LAB2048_STORE"}
        environment |= {name: str(self.home / name.lower()) for name in names} | {"NO_COLOR": "1"}
        environment["LAB2048_STORE"] = str(self.home / "games.sqlite")
        environment["PYTHONPATH"] = os.pathsep.join(path for path in sys.path if path)
        with self._said.open("w") as said:
            self._process = subprocess.Popen(
                [sys.executable, "-X", "faulthandler", "-m", "fuzz.worker"],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=said,
                text=True,
                env=environment,
            )
        self._n = 0
        assert self._line() == "ready\n", self._said.read_text()

    def _line(self) -> str | None:
        """Return the next line; None if it takes too long, empty if the process has ended."""
        stream = self._process.stdout  # type: ignore[union-attr]
        ready, _, _ = select.select([stream], [], [], PATIENCE)
        return stream.readline() if ready else None


@contextlib.contextmanager
def prepared() -> Iterator[tuple[Path, Worker, list[Example]]]:
    """Make the examples in a temporary folder, and a worker."""
    compile_all(lambda _: None, *GROUPS)  # first: a worker that compiles would seem to hang
    with tempfile.TemporaryDirectory(prefix="lab2048-fuzz-") as name:
        home = Path(name)
        worker = Worker(home)
        before = {key: os.environ.get(key) for key in ("LAB2048_STORE", "XDG_DATA_HOME", "XDG_CONFIG_HOME")}
        os.environ |= {key: str(home / key.lower()) for key in before}
        try:
            yield home, worker, make_examples(home / "examples")
        finally:
            worker.close()
            for key, value in before.items():
                os.environ.pop(key)
                if value is not None:
                    os.environ[key] = value


def fuzz_files(
    n: int, seed: int, *, minutes: float = 0, kinds: tuple[str, ...] = (), keep: Path | None = None
) -> Report:
    """Read `n` damaged files, or as many as fit in `minutes`; problems are kept in the folder `keep`."""
    begin, report = time.monotonic(), Report()
    with prepared() as (home, worker, examples):
        chosen = [example for example in examples if not kinds or example.kind in kinds]
        while report.n_cases < n or time.monotonic() - begin < 60 * minutes:
            case = make_case(chosen, home / "case", seed, report.n_cases)
            judge(case, worker, report)
            if case.problem and keep is not None:
                store_case(case, keep / f"{case.kind}-{seed}-{report.n_cases}")
            shutil.rmtree(case.folder, ignore_errors=True)
    report.seconds = time.monotonic() - begin
    return report


def make_case(examples: list[Example], place: Path, seed: int, number: int) -> Case:
    """Make one damaged file; the same for the same seed and number."""
    dice = random.Random(f"{seed}/{number}")
    example = examples[number % len(examples)]
    folder = place.with_name(f"{place.name}-{number}")  # a name of its own: what is read is remembered by its path
    shutil.copytree(example.folder, folder)
    file, words = dice.choice(example.files), dice.choice(example.commands)
    damage = dice.choice(damages_for(file.rpartition("/")[2]))
    path = folder / file
    path.write_bytes(damage(path.read_bytes(), dice))
    return Case(example.kind, file, damage.__name__, list(words), folder)


def judge(case: Case, worker: Worker, report: Report) -> None:
    """Run the command of a case, and note what is wrong with its answer."""
    answer = worker.ask(case.folder, case.words)
    if "hangs" in answer.get("problem", ""):  # or the machine is very busy
        answer = worker.ask(case.folder, case.words)
    case.said, code = answer["said"], answer.get("code")
    case.problem = answer.get("problem") or _problem(case, code, answer["memory"])
    report.n_cases += 1
    report.by_kind[case.kind] += 1
    if case.problem:
        report.problems.append(case)
    elif code in (0, 200):
        report.n_accepted += 1
    else:
        report.n_refused += 1


def _problem(case: Case, code: int, memory: int) -> str:
    """Return what is wrong with an answer; empty if nothing is."""
    if any(word in case.said for word in FORBIDDEN):
        return f"code {code}, says what it must not"
    if memory > MAX_MEMORY:
        return f"takes {memory / 1e9:.1f} GB"
    if case.words[0] == "@page":
        return "" if code == 503 or 200 <= code < 500 else f"status {code}"
    if code not in (0, 3) and not (code == 2 and case.kind in USAGE):
        return f"exit code {code}"
    return "says nothing" if code and not case.said.strip() else ""


def store_case(case: Case, folder: Path) -> None:
    """Keep a case: its files, and what was done with them."""
    shutil.rmtree(folder, ignore_errors=True)
    shutil.copytree(case.folder, folder / "files")
    about = {"kind": case.kind, "file": case.file, "how": case.how, "words": case.words, "problem": case.problem}
    (folder / "case.json").write_text(json.dumps(about | {"said": case.said[-500:]}, indent=1) + "\n")


def replay_corpus(corpus: Path = CORPUS) -> Report:
    """Read the kept cases again."""
    begin, report = time.monotonic(), Report()
    with tempfile.TemporaryDirectory(prefix="lab2048-fuzz-") as name:
        worker = Worker(Path(name))
        try:
            for folder in sorted(path.parent for path in corpus.glob("*/case.json")):
                about = json.loads((folder / "case.json").read_text())
                place = Path(name) / folder.name
                shutil.copytree(folder / "files", place)
                judge(Case(about["kind"], about["file"], about["how"], about["words"], place), worker, report)
        finally:
            worker.close()
    report.seconds = time.monotonic() - begin
    return report


def main() -> None:
    parser = argparse.ArgumentParser(description="Damage files of every kind and read them.")
    parser.add_argument("--cases", type=int, default=1000)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--minutes", type=float, default=0)
    parser.add_argument("--kind", action="append", default=[])
    parser.add_argument("--keep", type=Path)
    parser.add_argument("--replay", action="store_true", help="run the corpus again instead")
    given = parser.parse_args()
    if given.replay:
        report = replay_corpus()
    else:
        report = fuzz_files(given.cases, given.seed, minutes=given.minutes, kinds=tuple(given.kind), keep=given.keep)
    sys.stdout.write(f"{report}\n")
    sys.exit(bool(report.problems))


if __name__ == "__main__":
    main()
