"""Random texts and command lines: those that once went wrong, and some more."""

from fuzz.command_lines import fuzz_command_lines, replay_command_lines
from fuzz.strings import fuzz_strings, replay_strings


def test_texts_that_once_went_wrong_are_refused() -> None:
    report = replay_strings()
    assert report.n > 0
    assert not report.failures, report.failures


def test_random_texts_are_read_or_refused() -> None:
    report = fuzz_strings(10_000, seed=1)
    assert not report.failures, report.failures


def test_command_lines_that_once_went_wrong_are_refused() -> None:
    report = replay_command_lines()
    assert report.n > 0
    assert not report.failures, report.failures


def test_random_command_lines_end_well() -> None:
    report = fuzz_command_lines(500, seed=1)
    assert not report.failures, report.failures
