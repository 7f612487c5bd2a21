"""Measure work between two reference loops, so that figures from different machines and hours can be compared.

A loop of dependent integer operations shows how fast the processor computes, a loop of random reads how
fast its memory is; docs/speed.md defines both.  They run before and after every piece of work.
"""

import statistics
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, TypeVar

import numpy as np

from lab2048.kernels.reference_loop import compute_loop, memory_loop
from lab2048.models.ntuple.network import huge_array

T = TypeVar("T")

N_ROUNDS = 7
TABLE_BITS = 25  # 256 MB, larger than the caches
N_COMPUTE, N_READS = 10_000_000, 2_000_000  # some 20 milliseconds each


@dataclass(frozen=True)
class Loops:
    """The speed of the reference loops, in steps per CPU second; or ratios to these."""

    compute: float
    memory: float


class Measurements:
    """Rates of named pieces of work, and their ratios to the reference loops measured beside them.

    Rates are per CPU second, because other programs may share the machine.
    """

    def __init__(self) -> None:
        self._table = huge_array(1 << TABLE_BITS, np.uint64)
        self._table[:] = 1  # pages that were never written share one page of zeros
        self._samples: dict[str, list[tuple[float, Loops]]] = {}
        self._measure_loops()  # warm up
        self._loops = [self._measure_loops()]

    def _measure_loops(self) -> Loops:
        begin = time.process_time()
        compute_loop(N_COMPUTE)
        middle = time.process_time()
        memory_loop(self._table, TABLE_BITS, N_READS)
        return Loops(N_COMPUTE / (middle - begin), N_READS / (time.process_time() - middle))

    def run(self, name: str, work: Callable[[], T], rate: Callable[[T], float]) -> T:
        """Do some work once, note its rate and measure the loops again; return its result."""
        result = work()
        before, after = self._loops[-1], self._measure_loops()
        self._loops.append(after)
        beside = Loops((before.compute + after.compute) / 2, (before.memory + after.memory) / 2)
        self._samples.setdefault(name, []).append((rate(result), beside))
        return result

    def take_turns(self, measures: Mapping[str, Callable[[], float]], n_rounds: int = N_ROUNDS) -> None:
        """Measure all in turn, `n_rounds` times after a warm-up round."""
        for measure in measures.values():
            measure()
        for _ in range(n_rounds):
            for name, measure in measures.items():
                self.run(name, measure, float)

    @property
    def names(self) -> list[str]:
        """The names of all measured pieces of work, in order."""
        return list(self._samples)

    def rate(self, name: str) -> float:
        """Return the median rate."""
        return statistics.median(rate for rate, _ in self._samples[name])

    def ratios(self, name: str) -> Loops:
        """Return the median ratios of the rate to those of the loops."""
        samples = self._samples[name]
        return Loops(
            statistics.median(rate / loops.compute for rate, loops in samples),
            statistics.median(rate / loops.memory for rate, loops in samples),
        )

    @property
    def loops(self) -> Loops:
        """The median speed of the loops."""
        return Loops(
            statistics.median(loops.compute for loops in self._loops),
            statistics.median(loops.memory for loops in self._loops),
        )

    def to_json(self) -> dict[str, Any]:
        """Return the speed of the loops; and of all figures the rate and its ratios to the loops."""
        figures = {name: {"rate": self.rate(name), **vars(self.ratios(name))} for name in self.names}
        return {**vars(self.loops), "figures": figures}
