"""`lab2048 doctor`: check this machine and its settings."""

import os
import sys

import typer

from lab2048.cli.commands.system.config import survey
from lab2048.cli.options import JsonOption
from lab2048.cli.output import print_json
from lab2048.cli.progress import working
from lab2048.cli.settings import Settings
from lab2048.views.wrap import columns_of, folded


def doctor(context: typer.Context, as_json: JsonOption = False) -> None:
    """Check versions, cores, memory, caches, store, disk and settings, and say how to fix problems.

    Exits with code 0 if there are no problems, else 1.

    Example: lab2048 doctor
    """
    from lab2048.arena.diagnostics import GOOD, NOTE, PROBLEM, Finding, diagnose
    from lab2048.views.number import count

    def settings() -> Finding:
        root = context.find_root().command
        found = Settings.read(root)
        found.export("store")
        found.export("cluster")
        # A common key sets several options: it is reported once.
        marked = dict.fromkeys(f"{row.setting}: {row.problem}" for row in survey(root, found).values() if row.problem)
        wrong = [*map(str, found.refused), *marked]
        if wrong:
            advice = "fix it: until then, commands that use it do not run; lab2048 config show marks it"
            return Finding("settings", PROBLEM, "; ".join(wrong), advice)
        files = [str(path) for _, path, is_there in found.files if is_there]
        unknown = found.unknown_variables()
        if unknown:
            advice = f"unset {' '.join(unknown)}; lab2048 config show --all lists all settings"
            return Finding("settings", NOTE, f"unknown: {', '.join(unknown)}", advice)
        return Finding("settings", GOOD, ", ".join(files) or "no file")

    def terminal() -> Finding:
        kind, encoding = os.environ.get("TERM", "none"), sys.stdout.encoding or "unknown"
        if "utf" not in encoding.lower():
            return Finding(
                "terminal", NOTE, f"{kind}, {encoding}", "set LANG=C.UTF-8, or some characters are shown as ?"
            )
        return Finding("terminal", GOOD, f"{kind}, {encoding}")

    first = settings()  # the cache folder may be set
    with working("checking", only_terminal=True):
        findings = [first, *diagnose(terminal)]
    n_problems = sum(finding.state == PROBLEM for finding in findings)
    if as_json:
        print_json("doctor-1", {"is_healthy": not n_problems, "findings": [vars(finding) for finding in findings]})
    else:
        marks = {GOOD: "  ", NOTE: "- ", PROBLEM: "! "}
        for finding in findings:
            columns = columns_of(sys.stdout)
            print(folded(f"{marks[finding.state]}{finding.name:<14} {finding.found}", columns, " " * 17))
            if finding.advice:
                print(folded(f"{'':<17}> {finding.advice}", columns, " " * 19))
        n_notes = sum(finding.state == NOTE for finding in findings)
        problems = count(n_problems, "problem") if n_problems else "no problems"
        print(f"{problems}, {count(n_notes, 'note') if n_notes else 'no notes'}")
    if n_problems:
        raise typer.Exit(1)
