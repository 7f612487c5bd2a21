"""Let the widget play whole games in Chromium: python benchmarks/widget.py --games 100 --ms 40."""

import argparse
import json
import shutil
import sys
import tempfile
from pathlib import Path

from playwright.sync_api import sync_playwright

from lab2048.views.web.widget import make_widget


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--games", type=int, default=100)
    parser.add_argument("--ms", type=float, default=40, help="time of the search for each move")
    options = parser.parse_args()
    chromium = shutil.which("chromium") or shutil.which("google-chrome")
    if chromium is None:
        print("no Chromium on this machine", file=sys.stderr)
        return 1
    errors: list[str] = []
    with tempfile.TemporaryDirectory() as folder, sync_playwright() as playwright:
        file = Path(folder) / "game.html"
        file.write_text(make_widget(None, "The player"), "utf-8")
        page = playwright.chromium.launch(executable_path=chromium, args=["--no-sandbox"]).new_page()
        page.on("pageerror", lambda error: errors.append(str(error)))
        page.on("console", lambda said: errors.append(said.text) if said.type == "error" else None)
        page.goto(file.as_uri())
        page.wait_for_function("window.widget && !document.getElementById('auto').disabled")
        games = []
        for _ in range(options.games):
            game = page.evaluate(f"widget.playGame({options.ms})")
            games.append(game)
            print(json.dumps(game), flush=True)
        n_moves = sum(game["moves"] for game in games)
        print(f"{len(games)} games, {len(errors)} errors, {file.stat().st_size / 1e3:.0f} kB")
        print(f"2048 in {sum(game['highest'] >= 2048 for game in games) / len(games):.0%}")
        print(f"mean {sum(game['score'] for game in games) / len(games):,.0f}, {n_moves:,} moves")
        print(f"mean {sum(game['ms'] for game in games) / n_moves:.1f} ms per move")
        return 1 if errors else 0


if __name__ == "__main__":
    raise SystemExit(main())
