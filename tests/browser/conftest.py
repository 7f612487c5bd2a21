"""A browser, and for every journey a server of its own with nothing in its store.

Chromium is the machine's own (Debian: apt-get install chromium); where there is none the journeys
are left out, and said to be.  With CI=true that is a failure.
"""

import contextlib
import json
import os
import shutil
import signal
import socket
import subprocess
import sys
import time
import urllib.request
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Browser, BrowserContext, Page, expect, sync_playwright

TOP = Path(__file__).parents[2]
SHOTS = TOP / ".screenshots"
# Seconds until a condition counts as never coming true; nothing waits so long where it does.
PATIENCE = 300.0
TOKEN = "token-of-journeys"
expect.set_options(timeout=PATIENCE * 1000)

BROWSERS = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")


def find_chromium() -> str:
    for name in (os.environ.get("LAB2048_CHROMIUM", ""), *BROWSERS):
        if name and (path := shutil.which(name)):
            return path
    reason = "no Chromium on this machine: apt-get install chromium, or set LAB2048_CHROMIUM to its path"
    if os.environ.get("CI") == "true":
        pytest.fail(reason, pytrace=False)
    pytest.skip(reason)


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    for item in items:
        if Path(__file__).parent in item.path.parents:
            item.add_marker(pytest.mark.browser)


# Not longer than the journeys: while it is open, no other test could run a loop of its own.
@pytest.fixture(scope="package")
def browser() -> Iterator[Browser]:
    path = find_chromium()
    with sync_playwright() as playwright:
        # Root may not use the sandbox: containers of CI run as root.
        made = playwright.chromium.launch(executable_path=path, args=["--no-sandbox", "--disable-gpu"])
        yield made
        made.close()


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


@dataclass
class Server:
    """`lab2048 serve` on a port and a folder of its own."""

    home: Path
    port: int = field(default_factory=free_port)
    process: subprocess.Popen[bytes] | None = None
    token: str = TOKEN

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}/"

    @property
    def cookie(self) -> Any:
        """What a browser has that opened the page by its link."""
        return {"name": f"lab2048-{self.port}", "value": self.token, "url": self.url}

    def launch(self) -> None:
        """Only give the command."""
        environment = {name: value for name, value in os.environ.items() if name != "LAB2048_STORE"}
        environment |= {"XDG_DATA_HOME": str(self.home / "data"), "XDG_CONFIG_HOME": str(self.home / "config")}
        environment["LAB2048_TOKEN"] = self.token
        self.log = (self.home / "server.log").open("ab")
        self.process = subprocess.Popen(
            [sys.executable, "-m", "lab2048", "serve", "--port", str(self.port), "--no-open"],
            env=environment, stdout=self.log, stderr=subprocess.STDOUT, cwd=self.home, start_new_session=True,
        )  # fmt: skip

    def start(self) -> None:
        """Give the command, and wait until it answers."""
        self.launch()
        assert self.process is not None
        deadline = time.monotonic() + PATIENCE
        while True:
            with contextlib.suppress(OSError):
                self.ask("/api/status")
                return
            if self.process.poll() is not None or time.monotonic() > deadline:
                raise AssertionError("the server did not start:\n" + (self.home / "server.log").read_text())
            time.sleep(0.02)

    def stop(self, how: int = signal.SIGTERM) -> None:
        if self.process is None:
            return
        if self.process.poll() is None:
            self.process.send_signal(how)
            try:
                self.process.wait(PATIENCE)
            except subprocess.TimeoutExpired:
                os.killpg(self.process.pid, signal.SIGKILL)
                self.process.wait()
        self.process = None
        self.log.close()

    def ask(self, path: str, body: Any = None, method: str | None = None) -> Any:
        """What the API answers, asked without the page."""
        data = None if body is None else json.dumps(body).encode()
        headers = {"Content-Type": "application/json", "Authorization": f"Bearer {self.token}"}
        request = urllib.request.Request(self.url.rstrip("/") + path, data, headers, method=method)
        with urllib.request.urlopen(request, timeout=PATIENCE) as answer:
            return json.load(answer)


@pytest.fixture
def server(tmp_path: Path) -> Iterator[Server]:
    made = Server(tmp_path)
    made.start()
    yield made
    made.stop()


# What the console may say: a server that is stopped on purpose does not answer.
HARMLESS = (
    "net::ERR_CONNECTION_REFUSED",
    "net::ERR_INCOMPLETE_CHUNKED_ENCODING",
    "net::ERR_EMPTY_RESPONSE",
    "net::ERR_CONNECTION_RESET",
    "Failed to load resource",
)


class Tab:
    """A page of the browser that remembers what went wrong in it."""

    def __init__(self, context: BrowserContext, server: Server) -> None:
        self.context, self.server = context, server
        context.add_cookies([server.cookie])
        self.page: Page = context.new_page()
        self.page.set_default_timeout(PATIENCE * 1000)
        self.wrong: list[str] = []
        self.page.on("pageerror", lambda error: self.wrong.append(str(error)))
        self.page.on("console", self._hear)

    def _hear(self, message: Any) -> None:
        if message.type == "error" and not any(words in message.text for words in HARMLESS):
            self.wrong.append(message.text)

    def go(self, address: str = "#/play") -> Page:
        self.page.goto(self.server.url + address)
        return self.page

    def remember(self, **prefs: Any) -> None:
        """What the browser remembers from an earlier visit; before the first `go`."""
        words = json.dumps(json.dumps(prefs))
        self.page.add_init_script(
            f"if (!sessionStorage.told) {{ sessionStorage.told = 1; localStorage.setItem('lab2048', {words}) }}"
        )

    def until(self, words: str, arg: Any = None) -> None:
        """Go on when this JavaScript is true; the page forbids what Playwright itself would do."""
        deadline = time.monotonic() + PATIENCE
        while not self.page.evaluate(words, arg):
            assert time.monotonic() < deadline, f"never true: {words}"
            self.page.wait_for_timeout(20)

    def game(self) -> Any:
        """The state of the game that the page shows, as the server has it."""
        number = self.page.evaluate("JSON.parse(localStorage.getItem('lab2048')).game")
        return self.server.ask(f"/api/games/{number}")

    def ranks(self) -> list[int]:
        """The board as it is shown."""
        return list(self.page.evaluate("document.querySelector('lab-board').ranks"))

    def serious(self) -> list[tuple[str, list[str]]]:
        """What axe finds wrong on the page as it is, if it matters.

        A panel that fades in has its contrast only at the end.
        """
        is_still = "one => one.playState !== 'running' || one.effect.getComputedTiming().endTime === Infinity"
        self.until(f"document.getAnimations().every({is_still})")
        found = Axe().run(self.page).response["violations"]
        return [
            (each["id"], [node["html"][:160] for node in each["nodes"]][:4])
            for each in found
            if each["impact"] in ("serious", "critical")
        ]

    def shot(self, name: str) -> None:
        """A picture to look at."""
        SHOTS.mkdir(exist_ok=True)
        self.page.screenshot(path=SHOTS / f"{name}.png", full_page=True)


SIZES = {
    "desk": {"width": 1280, "height": 800},
    "large": {"width": 1440, "height": 900},
    "laptop": {"width": 1280, "height": 720},
    "phone": {"width": 390, "height": 844},
}


@pytest.fixture
def make_tab(browser: Browser, server: Server) -> Iterator[Any]:
    contexts: list[BrowserContext] = []
    tabs: list[Tab] = []

    def make(size: str = "desk", **options: Any) -> Tab:
        touch = {"has_touch": True, "is_mobile": True} if size == "phone" else {}
        context = browser.new_context(viewport=SIZES[size], **touch, **options)
        contexts.append(context)
        tabs.append(Tab(context, server))
        return tabs[-1]

    yield make
    wrong = [line for tab in tabs for line in tab.wrong]
    for context in contexts:
        context.close()
    assert not wrong, wrong


@pytest.fixture
def tab(make_tab: Any) -> Tab:
    made: Tab = make_tab()
    return made


@pytest.fixture
def phone(make_tab: Any) -> Tab:
    made: Tab = make_tab("phone")
    return made
