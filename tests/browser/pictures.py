"""The pictures of docs/pictures: a game of the shipped network taken over, the same as a film, and four players."""

import io
import os
import subprocess
import sys
import tempfile
from pathlib import Path

from PIL import Image
from playwright.sync_api import Browser, sync_playwright

from browser.conftest import SIZES, TOP, Server, Tab, find_chromium

FOLDER = TOP / "docs" / "pictures"
SEED = "7"
N_FRAMES, FRAME_MS, LAST_FRAME_MS = 32, 350, 2500
FILM_SIZE, N_COLOURS = (800, 500), 200  # of the film: it must stay small enough for a README


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


def show_film(tab: Tab) -> None:
    """Some moves of the champion from there on, each with the values of all moves."""
    frames = []
    for _ in range(N_FRAMES):
        tab.page.locator("lab-board > svg:not([hidden])").first.wait_for()  # the hint for this board has come
        tab.until("document.getAnimations().every(each => each.playState !== 'running')")
        picture = (
            Image.open(io.BytesIO(tab.page.screenshot())).convert("RGB").resize(FILM_SIZE, Image.Resampling.LANCZOS)
        )
        frames.append(picture)
        before = tab.page.evaluate("document.querySelector('lab-board').ranks.join()")
        tab.page.keyboard.press("Space")
        tab.until(f"document.querySelector('lab-board').ranks.join() !== '{before}'")
    # One palette for all frames, so that what does not move is stored once.
    palette = frames[0].quantize(N_COLOURS, Image.Quantize.FASTOCTREE)
    first, *rest = (frame.quantize(palette=palette, dither=Image.Dither.NONE) for frame in frames)
    durations = [FRAME_MS] * (N_FRAMES - 1) + [LAST_FRAME_MS]
    first.save(FOLDER / "play.gif", save_all=True, append_images=rest, duration=durations, loop=0, optimize=True)


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
            tab = Tab(browser.new_context(viewport=SIZES["desk"]), server)
            show_play(tab, server)
            show_film(tab)
            show_watch(Tab(browser.new_context(viewport=SIZES["desk"]), server))
        finally:
            server.stop()
            browser.close()


if __name__ == "__main__":
    main()
