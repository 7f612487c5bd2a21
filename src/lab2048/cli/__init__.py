"""The command line: one file a command; the only code that prints or exits."""

import os
import sys

# These tell of players and play nothing: without the compiler they answer in a fraction of the time.
_NO_KERNELS = ("__complete", "players", "completion")


def main() -> None:
    """Run one command and exit with its code, as docs/cli.md lists them: 0 is done, 130 interrupted."""
    try:
        if sys.argv[1:2] and sys.argv[1] in _NO_KERNELS:
            os.environ["LAB2048_NO_JIT"] = "1"
        # Imported here, so that Ctrl-C is answered in one line from the first moment on.
        if os.environ.get("LAB2048_PARENT_WATCH"):
            from lab2048.jobs.process import watch_parent

            watch_parent()
        from lab2048.cli.app import run

        code = run(sys.argv[1:])
    except KeyboardInterrupt:
        code = 130
    sys.exit(code)


__all__ = ["main"]
