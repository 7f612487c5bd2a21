"""Which ingredient of a deep learner gives what: trainings of 500 games, three seeds each, and trials of each.

    python benchmarks/deep.py [--episodes 500] [--seeds 1 2 3] [--trial-games 200] [--log deep.jsonl] [--rows NAME ...]

A row is a training, by the options of `lab2048 train`.  All play ten games at once: the number of gradients is what
the options say, for each game or each move, so that this changes the time that it takes and little else.  Figures
are those of the mean weights on games of their own seeds, with the mask or the shield of the training; the spread is
over trainings.  Trainings that the log has already are not made again.
"""

import argparse
import json
import statistics
import time
from pathlib import Path
from typing import Any

from lab2048.cli.train_deep import METHODS, method_class
from lab2048.learning.config import PRESET_003
from lab2048.rules import Rules

AT_ONCE = {"crowd": 10, "trial_every": 0}
DOCUMENT = PRESET_003 | AT_ONCE
# Document 003's network with more to learn from: a gradient for every ten moves, not for every game.
MORE = DOCUMENT | {"per_game": 0.0, "ratio": 0.1, "average": 0.99, "clip": 1.0}
ONEHOT = {"reading": "onehot"}
SUPPORT = {"least": 0.0, "most": 20_000.0, "support": "symlog"}
ALL = MORE | ONEHOT | SUPPORT | {"ahead": 5}
ROWS: dict[str, tuple[str, dict[str, Any]]] = {
    # The ingredients of the document, at its number of gradients.
    "greedy: merge, none": ("c51", DOCUMENT),
    "reward: ordered, none": ("c51", DOCUMENT | {"reward": "ordered"}),
    "mask: merge, safe": ("c51", DOCUMENT | {"strategy": "safe"}),
    "naive: ordered, safe": ("c51", DOCUMENT | {"reward": "ordered", "strategy": "safe"}),
    "shield: merge, reverse-shield": ("c51", DOCUMENT | {"strategy": "reverse-shield"}),
    "shielded: ordered, reverse-shield": ("c51", DOCUMENT | {"reward": "ordered", "strategy": "reverse-shield"}),
    # How a network reads and learns, without a strategy.
    "gradients": ("c51", MORE),
    "gradients, one-hot": ("c51", MORE | ONEHOT),
    "gradients, support": ("c51", MORE | SUPPORT),
    "gradients, 5 rewards ahead": ("c51", MORE | {"ahead": 5}),
    "all four": ("c51", ALL),
    "all but one-hot": ("c51", ALL | {"reading": "tiles"}),
    "all but the support": ("c51", ALL | {"least": -1.0, "most": 2048.0, "support": "linear"}),
    "all but n steps: 1 reward ahead": ("c51", ALL | {"ahead": 1}),
    "all, turned boards": ("c51", ALL | {"turn": True}),
    # Both.
    "all, mask": ("c51", ALL | {"strategy": "safe"}),
    "all, shield": ("c51", ALL | {"strategy": "reverse-shield"}),
    # Other methods at the same budget of games.
    "dqn: all, turned boards": ("dqn", ALL | {"turn": True}),
    "returns": ("returns", {**AT_ONCE, "network": "mlp", "widths": "128", "batch": 64}),
    "returns as document 000 reads": (
        "returns",
        {**AT_ONCE, "network": "mlp", "widths": "128", "batch": 64, "reading": "tiles", "support": "linear"},
    ),
    "afterstate": ("afterstate", {**AT_ONCE, "window": 16}),
}
FIGURES = ("mean", "tile_sum", "length")
TILES = (256, 512, 1024, 2048)
PAIRS = (64, 128, 256)


def measure(name: str, seed: int, n_games: int, n_trial: int) -> dict[str, Any]:
    """Train once, and try what came of it."""
    method, options = ROWS[name]
    begin = time.process_time()
    training = method_class(method)(METHODS[method][1](**options, seed=seed), Rules.from_text("4x4"), 1)
    for _ in training.run(n_games=n_games):
        pass
    spent = time.process_time() - begin
    trial = training.trial(n_trial)
    tiles = {tile: trial.share(tile) for tile in TILES}
    found = {"name": name, "seed": seed, "episodes": training.n_games, "n": n_trial, "cpu_seconds": round(spent, 1)}
    found |= {"moves": training.n_moves, "gradients": training.adam.n_steps, "max_tile": trial.max_tile}
    found |= {figure: getattr(trial, figure) for figure in FIGURES}
    return found | {"tiles": tiles, "pairs": {tile: trial.pairs.get(tile, 0.0) for tile in PAIRS}}


def spread(numbers: list[float], form: str) -> str:
    """The mean of some trainings and how far apart they are (standard deviation)."""
    middle = statistics.fmean(numbers)
    return f"{middle:{form}} ± {statistics.stdev(numbers):{form}}" if len(numbers) > 1 else f"{middle:{form}}"


def table(found: list[dict[str, Any]]) -> str:
    """The rows as Markdown."""
    tiles, pairs = " | ".join(map(str, TILES)), ", ".join(map(str, PAIRS))
    lines = [f"| training | gradients | mean score | sum of tiles | {tiles} | pairs of {pairs} a game |"]
    lines.append("|---" * (5 + len(TILES)) + "|")
    for name in ROWS:
        runs = [run for run in found if run["name"] == name]
        if not runs:
            continue
        rates = [f"{statistics.fmean(run['tiles'][str(tile)] for run in runs):.1%}" for tile in TILES]
        lined = [f"{statistics.fmean(run['pairs'][str(tile)] for run in runs):.2g}" for tile in PAIRS]
        cells = [name, f"{statistics.fmean(run['gradients'] for run in runs):,.0f}"]
        cells += [spread([run["mean"] for run in runs], ",.0f"), spread([run["tile_sum"] for run in runs], ",.0f")]
        lines.append("| " + " | ".join([*cells, *rates, ", ".join(lined)]) + " |")
    return "\n".join(lines)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--episodes", type=int, default=500)
    parser.add_argument("--seeds", type=int, nargs="+", default=[1, 2, 3])
    parser.add_argument("--trial-games", type=int, default=200)
    parser.add_argument("--log", type=Path, default=Path("deep.jsonl"))
    parser.add_argument("--rows", nargs="+", default=list(ROWS), choices=list(ROWS), metavar="NAME")
    options = parser.parse_args()
    found = [json.loads(line) for line in options.log.read_text().splitlines()] if options.log.exists() else []
    done = {(run["name"], run["seed"]) for run in found}
    for seed in options.seeds:
        for name in options.rows:
            if (name, seed) in done:
                continue
            line = json.dumps(measure(name, seed, options.episodes, options.trial_games))
            found.append(json.loads(line))
            with options.log.open("a") as log:
                log.write(line + "\n")
    print(table(found))


if __name__ == "__main__":
    main()
