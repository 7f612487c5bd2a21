"""How soon the page shows the graph of a review, in Chromium on this machine, and how much memory the server takes.

    .venv/bin/python benchmarks/review_page.py [--moves 10000] [--rounds 3]

A game of at least so many moves is played by ntuple:depth=1 and imported.  Each round opens it with nothing kept,
which starts its review: seconds until the first graph, and until the review is done, with the server's CPU seconds.
"""

import argparse
import json
import sys
import tempfile
import time
from pathlib import Path

import psutil
from playwright.sync_api import sync_playwright

sys.path.insert(0, str(Path(__file__).parents[1] / "tests"))
from browser.conftest import SIZES, Server, find_chromium

from lab2048.arena.episode import play_episode
from lab2048.players import fit_player
from lab2048.records.episode import Episode
from lab2048.rules import Rules

PLAYER = "ntuple:depth=1"


def long_game(n_moves: int) -> Episode:
    """The first game of at least so many moves."""
    rules, seed = Rules.from_text("4x4"), 1
    while True:
        found = play_episode(fit_player(PLAYER, rules), PLAYER, rules, seed)
        if len(found.moves) >= n_moves:
            return found
        seed += 1


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0] if __doc__ else None)
    parser.add_argument("--moves", type=int, default=10_000)
    parser.add_argument("--rounds", type=int, default=3)
    options = parser.parse_args()
    episode = long_game(options.moves)
    with tempfile.TemporaryDirectory() as folder, sync_playwright() as playwright:
        server = Server(Path(folder))
        server.start()
        browser = playwright.chromium.launch(executable_path=find_chromium(), args=["--no-sandbox", "--disable-gpu"])
        try:
            while not server.ask("/api/status")["ready"]:
                time.sleep(0.1)
            assert server.process is not None
            process = psutil.Process(server.process.pid)
            context = browser.new_context(viewport=SIZES["large"])
            context.add_cookies([server.cookie])
            page = context.new_page()
            page.set_default_timeout(600_000)
            for n in range(options.rounds):
                line = json.dumps(episode.to_json())
                answer = context.request.post(
                    server.url + "api/games/import",
                    data=line,
                    headers={"content-type": "application/x-ndjson", "authorization": f"Bearer {server.token}"},
                )
                assert answer.ok, answer.text()
                (id_,) = answer.json()["ids"]
                before = sum(process.cpu_times()[:2])
                begin = time.perf_counter()
                page.goto(f"{server.url}#/review/{id_}")
                page.wait_for_selector(".review-graph .value-line", state="attached")
                first, spent = time.perf_counter() - begin, sum(process.cpu_times()[:2]) - before
                while server.ask(f"/api/games/{id_}/review?known=x")["state"] == "running":
                    time.sleep(0.2)
                whole, memory = time.perf_counter() - begin, process.memory_info().rss
                print(
                    f"round {n + 1}: {len(episode.moves):,} moves, first graph {first:.2f} s ({spent:.2f} CPU s), "
                    f"done {whole:.1f} s, memory {memory / 1e6:.0f} MB",
                    flush=True,
                )
                server.ask(f"/api/games/{id_}", method="DELETE")
                page.goto("about:blank")
        finally:
            browser.close()
            server.stop()


if __name__ == "__main__":
    main()
