"""The learning curve of docs/tutorials/reinforcement-learning.md: runs the code of that page and draws the picture.

    nice python benchmarks/ppo_curve.py    # a few minutes

Also prints what a random player scores, and the CPU time.
"""

import os
import re
import tempfile
import time
from html import escape
from pathlib import Path

import numpy as np
import torch

import lab2048 as lab
from lab2048.views.study.chart import FAINT, INK, PAPER, ticks

DOCS = Path(__file__).resolve().parent.parent / "docs"
PAGE = DOCS / "tutorials" / "reinforcement-learning.md"
PICTURE = DOCS / "pictures" / "ppo-learning-curve.svg"
N_POINTS = 100
WIDTH, HEIGHT, LEFT, TOP, RIGHT, BOTTOM = 760, 340, 70, 40, 30, 50
LINE, RANDOM = "#0072b2", "#d55e00"


def main() -> None:
    torch.set_num_threads(1)
    baseline = lab.match(["random"], rules="3x3", games=1000, seed=1).mean("random")
    print(f"random player: mean score of 1000 games {baseline:,.0f}", flush=True)
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        known: dict[str, object] = {}
        for block in re.findall(r"```python\n(.*?)```", PAGE.read_text(), re.DOTALL):
            before = time.process_time()
            exec(block, known)
            print(f"({time.process_time() - before:.0f} CPU seconds)", flush=True)
        games = np.genfromtxt("ppo.monitor.csv", delimiter=",", names=True, skip_header=1)
        os.chdir(DOCS)
    parts = np.array_split(np.arange(len(games)), N_POINTS)
    steps = games["l"].cumsum()
    points = [(float(steps[part].mean()), float(games["score"][part].mean())) for part in parts]
    PICTURE.write_text(draw(points, baseline))


def draw(points: list[tuple[float, float]], baseline: float) -> str:
    """Draw the curve (steps, mean score) and a line for the random player as SVG."""
    end, most = points[-1][0], 1.05 * max(score for _, score in points)

    def at(steps: float, score: float) -> tuple[float, float]:
        across, down = (WIDTH - LEFT - RIGHT) * steps / end, (HEIGHT - TOP - BOTTOM) * (1 - score / most)
        return round(LEFT + across, 1), round(TOP + down, 1)

    title = "MaskablePPO on 3x3: mean score of the games that ended, by steps"
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{WIDTH}" height="{HEIGHT}" viewBox="0 0 {WIDTH} {HEIGHT}" '
        f'font-family="sans-serif" font-size="12" fill="{INK}">',
        f"<title>{escape(title)}</title>",
        f'<rect width="{WIDTH}" height="{HEIGHT}" fill="{PAPER}"/>',
        f'<text x="{LEFT}" y="22" font-weight="bold">{escape(title)}</text>',
    ]
    for tick in ticks(0.0, most, is_log=False):
        (x, y), (x2, _) = at(0, tick), at(end, tick)
        parts.append(f'<line x1="{x}" x2="{x2}" y1="{y}" y2="{y}" stroke="{FAINT}"/>')
        parts.append(f'<text x="{LEFT - 8}" y="{y + 4}" text-anchor="end">{tick:,.0f}</text>')
    for tick in ticks(0.0, end, is_log=False):
        x, y = at(tick, 0)
        parts.append(f'<text x="{x}" y="{y + 20}" text-anchor="middle">{tick / 1e6:g}</text>')
    parts.append(f'<text x="{WIDTH - RIGHT}" y="{HEIGHT - 10}" text-anchor="end">million steps</text>')
    (x, y), (x2, _) = at(0, baseline), at(end, baseline)
    parts.append(
        f'<line x1="{x}" x2="{x2}" y1="{y}" y2="{y}" stroke="{RANDOM}" stroke-width="2" stroke-dasharray="6 4"/>'
    )
    parts.append(f'<text x="{x2}" y="{y - 6}" text-anchor="end">random player: {baseline:,.0f}</text>')
    path = " ".join(f"{x},{y}" for x, y in (at(*point) for point in points))
    parts.append(f'<polyline points="{path}" fill="none" stroke="{LINE}" stroke-width="2"/>')
    return "\n".join([*parts, "</svg>"]) + "\n"


if __name__ == "__main__":
    main()
