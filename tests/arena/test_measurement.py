"""Measurements beside the reference loops."""

import numpy as np
import pytest

from lab2048.arena.benchmark import measurement
from lab2048.arena.benchmark.measurement import Loops, Measurements
from lab2048.kernels import reference_loop

WORD = 2**64


@pytest.mark.parametrize("n", [0, 1, 1000])
def test_the_compute_loop_is_as_documented(n):
    word = 1
    for _ in range(n):
        word = (word ^ (word >> 32)) * 0xD6E8FEB86659FD93 % WORD
    assert reference_loop.compute_loop(n) == word


@pytest.mark.parametrize("n_bits", [1, 8])
def test_the_memory_loop_is_as_documented(n_bits):
    table = np.random.default_rng(1).integers(0, WORD, 2**n_bits, np.uint64)
    word, total = 1, 0
    for _ in range(1000):
        word = (word * 6364136223846793005 + 1442695040888963407) % WORD
        total = (total + int(table[word >> (64 - n_bits)])) % WORD
    assert reference_loop.memory_loop(table, n_bits, 1000) == total


@pytest.fixture
def measured(monkeypatch: pytest.MonkeyPatch) -> Measurements:
    """Measurements whose loops run at 100 and 10, then at 200 and 20, and so on."""
    speeds = iter(range(1, 1000))
    monkeypatch.setattr(measurement, "TABLE_BITS", 4)
    monkeypatch.setattr(Measurements, "_measure_loops", lambda _: Loops(100 * (speed := next(speeds) - 1), 10 * speed))
    return Measurements()


def test_a_figure_is_compared_with_the_loops_before_and_after_it(measured):
    assert measured.run("work", lambda: "60", float) == "60"
    assert (measured.rate("work"), measured.ratios("work")) == (60, Loops(60 / 150, 60 / 15))
    assert measured.loops == Loops(150, 15)


def test_work_is_measured_in_turn_after_a_warm_up(measured):
    order = []
    measures = {name: lambda name=name: order.append(name) or float(len(order)) for name in "ab"}
    measured.take_turns(measures, n_rounds=3)
    assert order == list("abababab")
    assert measured.names == ["a", "b"]
    assert measured.rate("a") == 5
    assert measured.ratios("b").compute == pytest.approx(6 / 450)


def test_json_has_all_figures(measured):
    measured.take_turns({"a": lambda: 1.0, "b": lambda: 2.0}, n_rounds=1)
    found = measured.to_json()
    assert found.keys() == {"compute", "memory", "figures"}
    assert found["figures"]["b"] == pytest.approx({"rate": 2, "compute": 2 / 250, "memory": 2 / 25})


def test_the_loops_are_measured(monkeypatch):
    monkeypatch.setattr(measurement, "TABLE_BITS", 4)
    assert min(vars(Measurements().loops).values()) > 0
