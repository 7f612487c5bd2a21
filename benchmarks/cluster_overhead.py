"""Compare a match on one node of a cluster with the same match without one: python benchmarks/cluster_overhead.py

Both use two workers, in turn, and a new process each time, so that both have to load networks.  Prints the seconds of
playing, which is what grows with the number of games, apart from those until the first game: connecting, starting
workers and loading kernels there.  On a busy machine compare the CPU seconds, of the process and of the workers
together.
"""

import argparse
import json
import os
import statistics
import subprocess
import sys
import time

from cluster_training import cpu_of_workers

from lab2048.arena.match import Match
from lab2048.library.match import MatchRunner
from lab2048.rules import Rules

MATCHES = (("ntuple:depth=1", 20_000), ("expectimax", 200))
N_WORKERS = 2


def measure(player: str, n_games: int, where: str | None) -> dict[str, float]:
    match = Match(Rules.from_text("4x4"), [player], 1, n_games)
    begin = time.monotonic()
    with MatchRunner(match, N_WORKERS, cluster=where, progress=False) as runner:
        ready, cpu = time.monotonic(), time.process_time() + sum(cpu_of_workers().values())
        runner.play()
        played, cpu_after = time.monotonic(), time.process_time() + sum(cpu_of_workers().values())
    return {"start": ready - begin, "play": played - ready, "cpu": cpu_after - cpu}


def measure_in_new_process(player: str, n_games: int, where: str | None) -> dict[str, float]:
    command = [sys.executable, __file__, "--one", player, str(n_games), where or ""]
    found: dict[str, float] = json.loads(subprocess.run(command, check=True, capture_output=True, text=True).stdout)
    return found


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--repeat", type=int, default=3)
    parser.add_argument("--share", type=float, default=1.0, help="share of the games, for a quick look")
    parser.add_argument("--only", choices=[player for player, _ in MATCHES], help="one of the two matches")
    parser.add_argument(
        "--one", nargs=3, metavar=("PLAYER", "GAMES", "CLUSTER"), help="one measurement, in this process"
    )
    words = parser.parse_args()
    if words.one:
        player, games, where = words.one
        print(json.dumps(measure(player, int(games), where or None)))
        return 0
    for player, n_games in MATCHES:
        if words.only not in (None, player):
            continue
        found: dict[str, list[dict[str, float]]] = {"here": [], "cluster": []}
        for _ in range(words.repeat):
            for name, where in (("here", None), ("cluster", "local")):
                found[name].append(measure_in_new_process(player, int(n_games * words.share), where))
        medians = {
            name: {what: round(statistics.median(run[what] for run in runs), 2) for what in runs[0]}
            for name, runs in found.items()
        }
        over = {what: round(medians["cluster"][what] / medians["here"][what] - 1, 3) for what in ("play", "cpu")}
        facts = {"player": player, "games": int(n_games * words.share), **medians, "overhead": over}
        print(json.dumps(facts | {"load": round(os.getloadavg()[0], 1)}), flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
