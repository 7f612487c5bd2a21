"""The command line: one file per command; the only code that prints or exits."""

import os
import sys

# These commands only describe players: without Numba they start much faster.
_NO_KERNELS = ("__complete", "players", "completion")


def main() -> None:
    """Run one command and exit with its code; docs/cli.md lists the exit codes."""
    try:
        if sys.argv[1:2] and sys.argv[1] in _NO_KERNELS:
            os.environ["LAB2048_NO_JIT"] = "1"
        # Imported here, so that Ctrl-C during start-up ends without a traceback.
        if os.environ.get("LAB2048_PARENT_WATCH"):
            from lab2048.jobs.process import watch_parent

            watch_parent()
        from lab2048.cli.app import run
        from lab2048.library import interrupt

        interrupt.is_command = True
        code = run(sys.argv[1:])
    except KeyboardInterrupt:
        code = 130
    # `python -m` ends by SIGINT instead of an exit code if a KeyboardInterrupt has ever passed through exec() of
    # a string, as libraries call it while they are imported.  Another exec() makes CPython forget it.
    exec("")
    sys.exit(code)


__all__ = ["main"]
