"""The command line: one file a command; the only code that prints or exits."""

import os
import sys


def main() -> None:
    """Run one command and exit with its code: 0, 1 failure, 2 usage, 3 bad board or file, 130 interrupted."""
    try:
        # Imported here, so that Ctrl-C is answered in one line from the first moment on.
        if os.environ.get("LAB2048_LEASH"):
            from lab2048.cli.leash import attach

            attach()
        from lab2048.cli.app import run

        code = run(sys.argv[1:])
    except KeyboardInterrupt:
        code = 130
    sys.exit(code)


__all__ = ["main"]
