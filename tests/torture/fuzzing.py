"""Fuzz everything that reads: texts, command lines, files and requests."""

import random

from torture.report import Report

PART = "fuzz"
# Shares of the inputs: a text takes a tenth of a millisecond, a request some, a command line one, a file thirty.
_SHARES = {"strings": 0.945, "command lines": 0.03, "requests": 0.02, "files": 0.005}


def fuzz(n: int, rng: random.Random, report: Report) -> None:
    """Read n inputs, most of them texts."""
    from fuzz.command_lines import fuzz_command_lines
    from fuzz.files import fuzz_files
    from fuzz.requests import fuzz_requests
    from fuzz.strings import fuzz_strings

    seed = rng.getrandbits(32)
    count = {what: max(1, round(share * n)) for what, share in _SHARES.items()}
    for what, do in (("strings", fuzz_strings), ("command lines", fuzz_command_lines), ("requests", fuzz_requests)):
        with report.trying(PART, f"{what}, seed {seed}"):
            found = do(count[what], seed)
            report.count(PART, what, found.n)
            for failure in found.failures:
                report.fail(PART, f"{what}, seed {seed}", failure)
    with report.trying(PART, f"files, seed {seed}"):
        files = fuzz_files(count["files"], seed)
        report.count(PART, "files", files.n_cases)
        for case in files.problems:
            report.fail(PART, f"files, seed {seed}", str(case))
