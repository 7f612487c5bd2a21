"""Scripts that tests run in a Python of their own."""

import sys
import textwrap
from pathlib import Path


def child(script: str, *arguments: object) -> list[str]:
    """Return the command that runs a script; it can import the tests' helpers."""
    prelude = f"import sys; sys.path.insert(0, {str(Path(__file__).parent)!r})\n"
    return [sys.executable, "-c", prelude + textwrap.dedent(script), *map(str, arguments)]
