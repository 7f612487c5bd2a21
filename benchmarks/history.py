"""The speed of every release: measures this version, keeps it in history.json and draws the picture of docs/speed.md.

    python benchmarks/history.py            # some minutes: runs lab2048 bench, replaces the line of this version
    python benchmarks/history.py kernels    # only some benchmarks; the others keep their figures of this version
    python benchmarks/history.py --draw     # only draws
    python benchmarks/history.py --check    # fails if the file or the picture is not as it should be

Run it before a release, on a machine that is otherwise idle if possible.
"""

import argparse
import json
import math
import os
import platform
import re
import statistics
import subprocess
import sys
from collections.abc import Iterator
from datetime import UTC, date, datetime
from html import escape
from importlib.metadata import version
from pathlib import Path
from typing import Any

import lab2048
from lab2048.views.number import number
from lab2048.views.study.chart import FAINT, INK, OURS, PAPER, ticks

TOP = Path(__file__).resolve().parent.parent
VERSION = lab2048.__version__
HISTORY = TOP / "benchmarks" / "history.json"
PICTURE = TOP / "docs" / "pictures" / "speed-history.svg"
# The benchmarks, and the reference loop that limits most of what they measure.
LOOPS = {"kernels": "compute", "search": "compute", "ntuple": "memory"}
TITLES = {
    "compute": "Rules, environments and searches: per 1,000 computations of the reference loop",
    "memory": "N-tuple networks: per 1,000 random reads of the reference loop",
}
FIELDS = {"version", "date", "machine", "python", "numba", "loops", "figures"}
WIDTH, LEFT, RIGHT, STEP, HEAD, FOOT = 970, 330, 90, 22, 34, 34

Release = dict[str, Any]  # a line of the file


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("names", nargs="*", choices=[*LOOPS, []], metavar="NAME", help=f"of {', '.join(LOOPS)}")
    parser.add_argument("--draw", action="store_true", help="only draw the picture")
    parser.add_argument("--check", action="store_true", help="exit with code 1 if the file or the picture is wrong")
    options = parser.parse_args()
    history: list[Release] = json.loads(HISTORY.read_text()) if HISTORY.exists() else []
    if options.check:
        faults = list(find_faults(history))
        print("\n".join(faults) or "history.json and its picture are as they should be")
        sys.exit(bool(faults))
    if not options.draw:
        kept = {
            name: figures for line in history if line["version"] == VERSION for name, figures in line["figures"].items()
        }
        history = [line for line in history if line["version"] != VERSION] + [measure(options.names or [*LOOPS], kept)]
        HISTORY.write_text(to_text(history))
    PICTURE.write_text(draw(history))


def to_text(history: list[Release]) -> str:
    """A JSON list with a line per release."""
    return "[\n" + ",\n".join(json.dumps(line) for line in history) + "\n]\n"


def measure(names: list[str], kept: dict[str, Any]) -> Release:
    """Run benchmarks of this version; those that are not run keep their figures."""
    loops: list[dict[str, float]] = []
    figures = dict(kept)
    for name in names:
        command = [sys.executable, "-m", "lab2048", "bench", name, "--json"]
        done = subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True)
        found = json.loads(done.stdout)["reference_loop"]
        figures[name] = {
            label: {kind: rounded(value) for kind, value in figure.items()}
            for label, figure in found["figures"].items()
        }
        loops.append(found)
    return {
        "version": VERSION,
        "date": datetime.now(UTC).date().isoformat(),
        "machine": machine(),
        "python": platform.python_version(),
        "numba": version("numba"),
        "loops": {kind: rounded(statistics.median(loop[kind] for loop in loops)) for kind in TITLES},
        "figures": {name: figures[name] for name in LOOPS if name in figures},
    }


def rounded(value: float) -> float:
    return float(f"{value:.4g}")


def machine() -> str:
    cpuinfo = Path("/proc/cpuinfo")
    models = re.findall(r"^model name\s*: (.*)$", cpuinfo.read_text(), re.MULTILINE) if cpuinfo.exists() else []
    model = models[0] if models else platform.processor() or platform.machine()
    return f"{model}, {os.cpu_count()} cores, {platform.system()} {platform.machine()}"


def find_faults(history: list[Release]) -> Iterator[str]:
    """Say what is wrong with the file or the picture."""
    if HISTORY.read_text() != to_text(history):
        yield "history.json does not have one line per release"
    versions = [line.get("version") for line in history]
    if len(set(versions)) != len(versions):
        yield f"a version has two lines: {versions}"
    heads = re.findall(r"^## (\S+?)(, not released)?$", (TOP / "CHANGELOG.md").read_text(), re.MULTILINE)
    for released in {name for name, mark in heads if not mark} - set(versions):
        yield f"{released} was released and has no line: run python benchmarks/history.py with it"
    faults = [fault for line in history for fault in find_line_faults(line)]
    yield from faults
    if not faults and PICTURE.read_text() != draw(history):
        yield "the picture is not that of history.json: run python benchmarks/history.py --draw"


def find_line_faults(line: Release) -> Iterator[str]:
    name = line.get("version")
    if line.keys() != FIELDS:
        yield f"{name}: expected the fields {sorted(FIELDS)}, found {sorted(line)}"
        return
    date.fromisoformat(line["date"])
    if line["loops"].keys() != TITLES.keys() or not line["figures"].keys() <= LOOPS.keys():
        yield f"{name}: expected loops {sorted(TITLES)} and figures of {sorted(LOOPS)}"
    figures = {label: figure for some in line["figures"].values() for label, figure in some.items()}
    for label, numbers in {"loops": line["loops"], **figures}.items():
        if label != "loops" and numbers.keys() != {"rate", *TITLES}:
            yield f"{name}, {label}: expected rate and both ratios, found {sorted(numbers)}"
        if not all(isinstance(value, float) and 0 < value < math.inf for value in numbers.values()):
            yield f"{name}, {label}: expected positive numbers, found {numbers}"


def draw(history: list[Release]) -> str:
    """Draw a dot per figure and release, as SVG; the last release is filled and has its value beside it."""
    parts: list[str] = []
    y = 8
    for loop, title in TITLES.items():
        panel, y = draw_panel(history, loop, title, y)
        parts += panel
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{WIDTH}" height="{y}" viewBox="0 0 {WIDTH} {y}" '
        f'font-family="sans-serif" font-size="12" fill="{INK}">\n<title>Speed of each release</title>\n'
        f'<rect width="{WIDTH}" height="{y}" fill="{PAPER}"/>\n' + "\n".join(parts) + "\n</svg>\n"
    )


def draw_panel(history: list[Release], loop: str, title: str, top: int) -> tuple[list[str], int]:
    """Draw the figures that are compared with one loop; return where the next panel begins."""
    rows: dict[str, list[tuple[Release, dict[str, float]]]] = {}
    for line in history:
        for name, figures in line["figures"].items():
            for label, figure in figures.items() if LOOPS[name] == loop else ():
                rows.setdefault(label, []).append((line, figure))
    values = [1000 * figure[loop] for row in rows.values() for _, figure in row]
    low, high = math.floor(math.log10(min(values))), math.ceil(math.log10(max(values)))
    bottom = top + HEAD + STEP * len(rows)

    def across(value: float) -> float:
        return round(LEFT + (WIDTH - LEFT - RIGHT) * (math.log10(value) - low) / (high - low), 1)

    parts = [f'<text x="16" y="{top + 16}" font-weight="bold">{escape(title)}</text>']
    for tick in ticks(10.0**low, 10.0**high, is_log=True):
        x = across(tick)
        parts.append(f'<line x1="{x}" x2="{x}" y1="{top + HEAD - 8}" y2="{bottom}" stroke="{FAINT}"/>')
        parts.append(f'<text x="{x}" y="{bottom + 16}" text-anchor="middle">{tick:,g}</text>')
    for i, (label, row) in enumerate(rows.items()):
        y = top + HEAD + STEP * i + 8
        parts.append(f'<text x="{LEFT - 12}" y="{y + 4}" text-anchor="end">{escape(label)}</text>')
        for line, figure in row:
            is_last = line is history[-1]
            told = f"lab2048 {line['version']}, {line['date']}: {number(figure['rate'])} per CPU second"
            x, fill = across(1000 * figure[loop]), OURS if is_last else PAPER
            parts.append(f'<circle cx="{x}" cy="{y}" r="4.5" fill="{fill}" stroke="{OURS}">')
            parts.append(f"<title>{escape(told)}</title></circle>")
            if is_last:
                parts.append(
                    f'<text x="{WIDTH - 16}" y="{y + 4}" text-anchor="end">{number(1000 * figure[loop])}</text>'
                )
    return parts, bottom + FOOT


if __name__ == "__main__":
    main()
