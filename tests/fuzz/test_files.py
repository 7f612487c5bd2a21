"""Damaged files of every kind: what once went wrong, and some more."""

import pytest

from fuzz.files import fuzz_files, replay_corpus

pytest.importorskip("torch")
pytest.importorskip("optuna")


def test_damaged_files_that_once_did_harm_are_refused() -> None:
    report = replay_corpus()
    assert report.n_cases > 0
    assert not report.problems, str(report)


def test_damaged_files_are_refused_or_read() -> None:
    report = fuzz_files(80, seed=1)
    assert not report.problems, str(report)
