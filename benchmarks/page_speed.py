"""How quick the page is, in Chromium on this machine.

    .venv/bin/python benchmarks/page_speed.py [--keys 200] [--seconds 10] [--starts N] [--json]

- a key to the painted frame: from the time stamp of the key to the first task after the frame that shows its slide
- moves shown: a player at 60 moves a second; how many boards were painted a second, and how far apart frames were
- a hint of the default player, asked for by the page
- the first load: bytes on the wire until the board can be played on, and requests
- usable: from the command to the first board, by a browser that is open already and asks as soon as somebody listens;
  run it twice: the first time may compile kernels and unpack the network, and writes Python's byte code
"""

import argparse
import json
import os
import socket
import statistics
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

from playwright.sync_api import Page, sync_playwright

sys.path.insert(0, str(Path(__file__).parents[1] / "tests"))
from browser.conftest import SIZES, Server, find_chromium

WATCH_KEYS = """() => {
  window.times = [];
  const channel = new MessageChannel();
  let begun = 0;
  channel.port1.onmessage = () => window.times.push(performance.now() - begun);
  addEventListener("keydown", (event) => {
    requestAnimationFrame(() => { begun = event.timeStamp; channel.port2.postMessage(0); });
  }, true);
}"""

WATCH_FRAMES = """seconds => new Promise((done) => {
  const board = document.querySelector("lab-board");
  const gaps = [];
  let shown = "", boards = 0, last = performance.now();
  const end = last + 1000 * seconds;
  const moves = () => Number(document.querySelectorAll(".chip b")[2].textContent.replace(",", ""));
  const first = moves();
  requestAnimationFrame(function frame(now) {
    gaps.push(now - last);
    last = now;
    const ranks = board.ranks.join();
    if (ranks !== shown) boards += 1;
    shown = ranks;
    if (now < end) requestAnimationFrame(frame);
    else done({gaps, boards, moves: moves() - first});
  });
})"""


def quantile(values: list[float], share: float) -> float:
    return sorted(values)[min(len(values) - 1, int(share * len(values)))]


def until(page: Page, words: str, arg: Any = None) -> None:
    """Go on when this JavaScript is true; Playwright's own way is forbidden by the page."""
    while not page.evaluate(words, arg):
        time.sleep(0.002)


def wait_for_board(page: Page) -> None:
    until(page, "document.querySelector('lab-board')?.ranks?.some(rank => rank > 0)")


def first_load(page: Page, server: Server) -> dict[str, Any]:
    session = page.context.new_cdp_session(page)
    sizes: list[float] = []
    session.send("Network.enable")
    session.on("Network.loadingFinished", lambda event: sizes.append(event["encodedDataLength"]))
    begin = time.perf_counter()
    page.context.add_cookies([server.cookie])
    page.goto(server.url)
    wait_for_board(page)
    seconds = time.perf_counter() - begin
    page.wait_for_load_state("load")
    return {"bytes": sum(sizes), "requests": len(sizes), "seconds": seconds}


def is_listening(port: int) -> bool:
    with socket.socket() as probe:
        return probe.connect_ex(("127.0.0.1", port)) == 0


def keys(page: Page, n: int) -> dict[str, float]:
    page.evaluate(WATCH_KEYS)
    names = ["ArrowLeft", "ArrowDown", "ArrowRight", "ArrowDown"]
    for i in range(n):
        page.keyboard.press(names[i % 4])
        until(page, "n => window.times.length > n", i)
        if page.locator(".banner.over").count():
            page.keyboard.press("n")
            until(page, "document.querySelectorAll('.chip b')[2].textContent === '0'")
    times = [float(each) for each in page.evaluate("window.times")]
    return {
        "n": len(times),
        "median_ms": statistics.median(times),
        "p95_ms": quantile(times, 0.95),
        "max_ms": max(times),
    }


def frames(page: Page, seconds: float) -> dict[str, float]:
    page.evaluate("location.hash = '#/play?board=4x4&seed=3'")
    until(page, "document.querySelectorAll('.chip b')[2].textContent === '0'")
    page.keyboard.press("Enter")
    until(page, "Number(document.querySelectorAll('.chip b')[2].textContent) > 5")
    seen = page.evaluate(WATCH_FRAMES, seconds)
    page.keyboard.press("Enter")
    gaps = [float(gap) for gap in seen["gaps"][1:]]
    return {
        "moves_per_second": seen["moves"] / seconds,
        "boards_shown_per_second": seen["boards"] / seconds,
        "frame_median_ms": statistics.median(gaps),
        "frame_p95_ms": quantile(gaps, 0.95),
    }


def hints(server: Server, n: int = 50) -> dict[str, float]:
    game = server.ask("/api/games", {"rules": {"board": "4x4"}, "seed": 7})["state"]["id"]
    times = []
    for i in range(n + 5):
        server.ask(f"/api/games/{game}/moves", {"moves": "asdw"[i % 4]})
        begin = time.perf_counter()
        server.ask("/api/hint", {"game": game})
        times.append(1000 * (time.perf_counter() - begin))
    return {"n": n, "median_ms": statistics.median(times[5:]), "p95_ms": quantile(times[5:], 0.95)}


def start(page: Page, server: Server) -> dict[str, Any]:
    """Seconds from the command until somebody listens, and until there is a board."""
    begin = time.perf_counter()
    server.launch()
    while not is_listening(server.port):
        time.sleep(0.005)
    listens = time.perf_counter() - begin
    load = first_load(page, server)
    return {"begin": begin, "listens": listens, "usable": time.perf_counter() - begin, "load": load}


def starts(n: int) -> dict[str, Any]:
    """As `start`, again and again, each with a store and a browser that have seen nothing."""
    found = []
    with tempfile.TemporaryDirectory() as home, sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=find_chromium(), args=["--no-sandbox", "--disable-gpu"])
        for i in range(n):
            folder = Path(home) / str(i)
            folder.mkdir()
            server = Server(folder)
            found.append(start(browser.new_context(viewport=SIZES["desk"]).new_page(), server)["usable"])
            server.stop()
        browser.close()
    return {"usable_seconds": {"n": n, "least": min(found), "median": statistics.median(found), "most": max(found)}}


def measure(n_keys: int, seconds: float) -> dict[str, Any]:
    with tempfile.TemporaryDirectory() as home, sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=find_chromium(), args=["--no-sandbox", "--disable-gpu"])
        page = browser.new_context(viewport=SIZES["desk"]).new_page()
        page.set_default_timeout(120_000)
        page.add_init_script("localStorage.lab2048 ??= JSON.stringify({speed: 60, player: 'ntuple'})")
        server = Server(Path(home))
        begun = start(page, server)
        while not server.ask("/api/status")["ready"]:
            time.sleep(0.05)
        result = {
            "listens_seconds": begun["listens"],
            "usable_seconds": begun["usable"],
            "players_ready_seconds": time.perf_counter() - begun["begin"],
            "first_load": begun["load"],
            "key_to_frame": keys(page, n_keys),
            "at_60_a_second": frames(page, seconds),
            "hint": hints(server),
        }
        browser.close()
        server.stop()
    return result


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--keys", type=int, default=200)
    parser.add_argument("--seconds", type=float, default=10.0)
    parser.add_argument("--starts", type=int, default=0, help="only start the server, so many times")
    parser.add_argument("--json", action="store_true")
    words = parser.parse_args()
    os.environ.pop("PYTHONDONTWRITEBYTECODE", None)  # it would have every start compile what a user's has compiled
    result = starts(words.starts) if words.starts else measure(words.keys, words.seconds)
    if words.json:
        print(json.dumps(result))
        return
    for name, value in result.items():
        parts = value.items() if isinstance(value, dict) else [("", value)]
        print(f"{name:<24}" + "   ".join(f"{key} {number:,.4g}".strip() for key, number in parts))


if __name__ == "__main__":
    main()
