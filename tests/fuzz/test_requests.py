"""A short run of the request fuzzer, and the requests that once broke something."""

from fuzz.requests import fuzz_requests


def test_random_requests_break_nothing() -> None:
    report = fuzz_requests(400, seed=1)
    assert not report.failures, str(report)
    assert report.n >= 400
    assert report.by_status[200] > 50
