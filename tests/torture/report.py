"""Count what was tried and what failed; the figures are a table for people and JSON for programs."""

import json
import sys
import time
import traceback
from collections import Counter, defaultdict
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field
from pathlib import Path

from torture.program import Broken


@dataclass(frozen=True)
class Failure:
    part: str
    case: str
    what: str


@dataclass
class Report:
    """The figures of a run."""

    seed: int
    counts: dict[str, Counter[str]] = field(default_factory=lambda: defaultdict(Counter))  # by part, then by command
    failures: list[Failure] = field(default_factory=list)
    seconds: dict[str, float] = field(default_factory=dict)
    left_out: list[str] = field(default_factory=list)
    _begin: float = field(default_factory=time.monotonic)

    def count(self, part: str, what: str, n: int = 1) -> None:
        self.counts[part][what] += n

    def fail(self, part: str, case: str, what: str) -> None:
        self.failures.append(Failure(part, case, what[-1500:]))
        sys.stderr.write(f"FAILED {part}: {case}: {what[-1500:]}\n")

    @contextmanager
    def trying(self, part: str, case: str) -> Iterator[None]:
        """Note a broken promise as a failure, and go on; an error of the suite itself is one too."""
        try:
            yield
        except Broken as error:
            self.fail(part, case, str(error))
        except Exception as error:
            where = traceback.format_exception(error)[-3:]
            self.fail(part, case, f"the suite itself failed: {''.join(where)}")

    @contextmanager
    def timing(self, part: str) -> Iterator[None]:
        begin = time.monotonic()
        try:
            yield
        finally:
            self.seconds[part] = self.seconds.get(part, 0.0) + time.monotonic() - begin

    def write(self, path: Path) -> None:
        from lab2048.records.provenance import provenance

        data = {
            "schema": "lab2048/torture-1",
            "seed": self.seed,
            "seconds": round(time.monotonic() - self._begin, 1),
            "parts": {
                part: {"n": sum(counts.values()), "seconds": round(self.seconds.get(part, 0.0), 1), "by": dict(counts)}
                for part, counts in self.counts.items()
            },
            "failures": [asdict(failure) for failure in self.failures],
            "left_out": self.left_out,
            "provenance": provenance(),
        }
        path.write_text(json.dumps(data, indent=1) + "\n")

    def table(self) -> str:
        """Return a line per part and command."""
        failed = Counter((failure.part, failure.case.split(",")[0]) for failure in self.failures)
        lines = [f"{'part':<12} {'command':<24} {'tried':>9} {'failed':>7}"]
        for part, counts in self.counts.items():
            lines += [f"{part:<12} {what:<24} {n:>9,} {failed[part, what]:>7,}" for what, n in sorted(counts.items())]
            lines.append(f"{part:<12} {'all':<24} {sum(counts.values()):>9,} {self._n_failed(part):>7,}")
        lines += [f"left out: {what}" for what in self.left_out]
        lines += [f"FAILED {failure.part}: {failure.case}: {failure.what}" for failure in self.failures]
        return "\n".join(lines)

    def _n_failed(self, part: str) -> int:
        return sum(failure.part == part for failure in self.failures)
