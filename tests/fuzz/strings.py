"""Read random and hostile texts: boards, rules, player specs, settings, paths, dates, numbers.

    PYTHONPATH=src:tests python -m fuzz.strings --n 100000 --seed 1

A reader returns a value or raises LabError with a message of one printable line; it never takes long.  Texts that once
went wrong are kept in tests/data/corpus/strings.json.
"""

import argparse
import contextlib
import json
import random
import signal
import string
import sys
import warnings
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from lab2048.errors import LabError

CORPUS = Path(__file__).parents[1] / "data" / "corpus" / "strings.json"
SECONDS = 2  # of the CPU for one text
Read = Callable[[str], object]


@dataclass
class Report:
    """What was read, and what must not happen."""

    n: int = 0
    by_kind: Counter[str] = field(default_factory=Counter)
    failures: list[str] = field(default_factory=list)


class TooSlowError(Exception):
    """An input that takes too long."""


@contextlib.contextmanager
def limited(seconds: float) -> Iterator[None]:
    """Raise TooSlowError after so many seconds of the CPU, or twenty times as many on the clock; in the main thread."""

    def stop(number: int, frame: Any) -> None:
        raise TooSlowError

    timers = ((signal.ITIMER_PROF, signal.SIGPROF, seconds), (signal.ITIMER_REAL, signal.SIGALRM, 20 * seconds))
    before = [signal.signal(number, stop) for _, number, _ in timers]
    try:
        for timer, _, limit in timers:
            signal.setitimer(timer, limit)
        yield
    finally:
        for (timer, number, _), handler in zip(timers, before, strict=True):
            signal.setitimer(timer, 0)
            signal.signal(number, handler)


def readers() -> dict[str, Read]:
    """Return all functions that read a text, by a name."""
    from lab2048.arena.benchmark.positions import read_positions
    from lab2048.arena.requirement import Requirement
    from lab2048.learning.deep.config import read_widths
    from lab2048.learning.ntuple_config import read_stages
    from lab2048.library.arguments import read_limit, read_rules, read_spec, read_whole
    from lab2048.models.ntuple.pattern import parse_patterns
    from lab2048.players import fit_player
    from lab2048.players.evaluator import make_evaluator
    from lab2048.players.strategy import read_strategy
    from lab2048.records.exchange import read_line
    from lab2048.records.replay.reading import read_replay
    from lab2048.rules import Board, Rules
    from lab2048.rules.rules import read_spawn_table, read_spawner
    from lab2048.solver.endgame.formation import Formation
    from lab2048.solver.memory import read_size
    from lab2048.studies.measure import Measure
    from lab2048.studies.published import Published

    classic = Rules.from_text("4x4")
    return {
        "board": Board.from_text,
        "rules": Rules.from_text,
        "spawn": read_spawn_table,
        "spawner": read_spawner,
        "rules-with-spawn": lambda text: Rules.from_text("3x3", spawn=text),
        "player": lambda text: fit_player(text, classic),
        "player-of-hex": lambda text: fit_player(text, Rules.from_text("hex2")),
        "spec": read_spec,
        "evaluator": make_evaluator,
        "strategy": read_strategy,
        "requirement": lambda text: Requirement.from_text(text, 2),
        "size": read_size,
        "widths": read_widths,
        "stages": read_stages,
        "patterns": lambda text: parse_patterns(text, classic.shape),
        "measure": Measure.from_text,
        "published": Published.from_text,
        "positions": read_positions,
        "episode": lambda text: read_line(text.encode("utf-8", "surrogatepass")),
        "replay": lambda text: read_replay(text.encode("utf-8", "surrogatepass")),
        "formation": lambda text: Formation.from_text(text, 32),
        "formation-name": Formation.from_name,
        "whole": lambda text: read_whole("games", text, 1),
        "limit": lambda text: read_limit("minutes", text),
        "goal": lambda text: read_rules("3x3", text, None, None, None),  # type: ignore[arg-type]
        "option": _read_option,
        "settings": _read_settings,
    }


def _read_option(text: str) -> object:
    """Complete and parse a value as the shell and the command line do."""
    from lab2048.cli.option_types import Within

    return Within(0, 9)("port", float(text)) if text.strip().isdecimal() and len(text) < 300 else None


def _read_settings(text: str) -> object:
    from lab2048.records.input_file import parse_toml

    try:
        return parse_toml(text)
    except ValueError:  # as its callers expect
        return None


SEEDS = (
    "4x4", "3x5", "hex2", "tri3", "##x|#2#|###", "hex1:##|#x#|2#", "2 1024 # x / 1024 # # #", "2 2 . . / . . . 4",
    "2:0.9,4:0.1", "2:1", "fair", "worst", "random", "first:order=as", "expectimax:depth=3",
    "lookahead:depth=2,eval=rows", "expectimax:depth=(99)", "ntuple:weights=(a b.safetensors)", "mcts:iterations=100",
    "montecarlo:games=10,threads=2", "lookahead:eval=({empty = 1, merges = 2})", "table:table=x",
    "shield:player=(random)", "{empty = 1, merges = 2}", "rows", "snake", "left-down", "mean>=380000", "win2048>=90%",
    "2.median>1000", "lead-low>0", "8G", "500M", "1e3", "128,64,256", "8192,16384", "none", "auto", "0123,4567",
    "8x6", "score", "reached:128", "3,932,156", "100%", "1e400", "-1", "nan", "inf", "9999999999999999999999", "0x10",
    "1_000", "٣", "²", "½", "2026-11-17T18:00:00Z", "../../etc/passwd", "/dev/zero", "a\0b",
    '{"schema": "lab2048/episode-1", "rules": {"board": "2x2"}, "seed": 1, "moves": "wdas"}',
    "3x3-abc_ .) -!*", " !+a<}", "REPLAY_v1RPL_B64_UlBMMTMBAg==", "AA#|AG#|###", "L3-256",
    "rules = '3x3'\n[match]\ngames = 3", "", " ", "\t", "\n", "\u202e", "\ud800", "\U0001f600", "(" * 50, "[" * 200,
    "{" * 2000, "((((1))))", "a=b=c", ",,,", ":", "=", "x" * 5000, "1" * 5000, "4x" * 100, "#" * 300, "|" * 300,
    "%s%n%x", "${HOME}", "$(id)", "`id`", "';--", "<script>", "\x1b[2J",
)  # fmt: skip
_PIECES = (
    *SEEDS[:60],
    *"0123456789xX#|/:,.=()[]{}'\"\\ -+eE%><@!~\t\n\0é√",
    "depth",
    "eval",
    "weights",
    "threads",
    "goal",
    "2048",
)


def make_text(rng: random.Random) -> str:
    """Return a text near one that is valid, or far from it."""
    text = rng.choice(SEEDS)
    for _ in range(rng.choice((0, 1, 1, 2, 3, 6))):
        at = rng.randrange(len(text) + 1)
        match rng.randrange(8):
            case 0:
                text = text[:at] + rng.choice(_PIECES) + text[at:]
            case 1:
                text = text[:at] + text[at + rng.randint(1, 4) :]
            case 2:
                text = (
                    text[:at]
                    + chr(rng.choice((rng.randrange(128), rng.randrange(0x3000), rng.randrange(0x110000))))
                    + text[at:]
                )
            case 3:
                text = text[:at] + text[: rng.randint(0, 20)] * rng.choice((1, 2, 50)) + text[at:]
            case 4:
                text += rng.choice(":,=( /|") + rng.choice(SEEDS)
            case 5:
                text = "".join(c if rng.random() > 0.1 else rng.choice(string.printable) for c in text)
            case 6:
                text = f"({text})"
            case _:
                text = (
                    text[:at]
                    + str(rng.choice((0, -1, 2**31, 2**53, 2**63, 2**64, 10**30, 1e308, -0.0, 0.1)))
                    + text[at:]
                )
    return text[:20_000]


def problem_of(read: Read, text: str) -> str:
    """Return what is wrong with how a text is read; empty if nothing is."""
    try:
        with limited(SECONDS):
            read(text)
    except LabError as error:
        said = str(error)
        if not said or "\n" in said:
            return f"the message is not one line: {said!r}"
        if len(said) > 25_000:
            return f"the message has {len(said)} characters"
    except TooSlowError:
        return f"takes more than {SECONDS} s"
    except Exception as error:
        return f"{type(error).__name__}: {error}"
    return ""


def fuzz_strings(n: int, seed: int) -> Report:
    """Read n texts, each with a reader that is chosen at random."""
    report, rng, all_readers = Report(), random.Random(seed), readers()
    names = sorted(all_readers)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for _ in range(n):
            name, text = rng.choice(names), make_text(rng)
            report.n += 1
            report.by_kind[name] += 1
            if (problem := problem_of(all_readers[name], text)) and len(report.failures) < 100:
                report.failures.append(json.dumps([name, text[:3000], problem]))
    return report


def replay_strings() -> Report:
    """Read the texts that once went wrong."""
    report, all_readers = Report(), readers()
    for name, text in json.loads(CORPUS.read_text("utf-8")):
        report.n += 1
        if problem := problem_of(all_readers[name], text):
            report.failures.append(json.dumps([name, text[:3000], problem]))
    return report


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--n", type=int, default=10_000)
    parser.add_argument("--seed", type=int, default=0)
    words = parser.parse_args()
    report = fuzz_strings(words.n, words.seed)
    sys.stdout.write("\n".join([f"{report.n} texts, {len(report.failures)} failures", *report.failures, ""]))
    return bool(report.failures)


if __name__ == "__main__":
    sys.exit(main())
