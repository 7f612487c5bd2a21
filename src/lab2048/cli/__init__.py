"""The command line: one file a command; the only code that prints or exits."""

from lab2048.cli.app import main

__all__ = ["main"]
