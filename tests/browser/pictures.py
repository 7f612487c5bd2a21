"""The pictures of docs/pictures: a game of the shipped network taken over, and four players at work."""

import os
import subprocess
import sys
import tempfile
from pathlib import Path

from playwright.sync_api import Browser, sync_playwright

from browser.conftest import SIZES, TOP, Server, Tab, find_chromium

FOLDER = TOP / "docs" / "pictures"
SEED = "7"


def play_a_game(home: Path) -> None:
    """Keep a game of the shipped network in the store of the server."""
    environment = {**os.environ, "XDG_DATA_HOME": str(home / "data")}
    match = ["match", "ntuple:depth=1", "--games", "1", "--seed", SEED]
    subprocess.run([sys.executable, "-m", "lab2048", *match], env=environment, check=True, stdout=subprocess.DEVNULL)


def take(tab: Tab, name: str) -> None:
    FOLDER.mkdir(exist_ok=True)
    tab.page.screenshot(path=FOLDER / f"{name}.png")


def show_play(tab: Tab, server: Server) -> None:
    """Taken over when nine tenths of it were played, with the values of all moves."""
    [game] = server.ask("/api/games")["games"]
    tab.remember(hints="all")
    tab.go(f"#/review/{game['id']}?turn={game['n_moves'] * 9 // 10}")
    tab.page.get_by_role("button", name="Continue from here").click()
    tab.page.locator(".values .best").first.wait_for()
    take(tab, "play")


def show_watch(tab: Tab) -> None:
    """Four players on one seed, once the slowest has made some hundred moves."""
    tab.remember(watchPlayers=["ntuple", "expectimax", "montecarlo", "greedy"], speed=60)
    tab.go("#/watch")
    tab.page.get_by_label("Seed", exact=True).fill(SEED)
    tab.page.get_by_role("button", name="Start").click()
    tab.until("document.querySelectorAll('.seat-board').length === 4")
    tab.until("[...document.querySelectorAll('lab-board')].every(board => board.ranks.some(rank => rank >= 8))")
    take(tab, "watch")


def main() -> None:
    with tempfile.TemporaryDirectory() as folder, sync_playwright() as playwright:
        play_a_game(Path(folder))
        browser: Browser = playwright.chromium.launch(executable_path=find_chromium(), args=["--no-sandbox"])
        server = Server(Path(folder))
        server.start()
        try:
            show_play(Tab(browser.new_context(viewport=SIZES["desk"]), server), server)
            show_watch(Tab(browser.new_context(viewport=SIZES["desk"]), server))
        finally:
            server.stop()
            browser.close()


if __name__ == "__main__":
    main()
