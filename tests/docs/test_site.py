"""The documentation site: it builds without warnings and without a network, and its search finds words."""

import functools
import json
import re
import subprocess
import sys
import threading
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest
import snowballstemmer
from browser.conftest import find_chromium
from playwright.sync_api import expect, sync_playwright

import lab2048
from lab2048.cli.app import COMMANDS

TOP = Path(__file__).parents[2]
DOCS = TOP / "docs"
# Sphinx reads settings, docstrings and pages; a program that asks the network would fail.
NO_NETWORK = "import socket\ndef no(*_): raise OSError('no network')\nsocket.socket.connect = no\n"
BUILD = "import sys; from sphinx.cmd.build import main; sys.exit(main(sys.argv[1:]))"


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The site as script/docs builds it."""
    flags = re.findall(r"-m sphinx (.*) -b html", (TOP / "script" / "docs").read_text())[0].split()
    assert {"--fail-on-warning", "--nitpicky"} <= set(flags)
    out = tmp_path_factory.mktemp("site")
    command = [sys.executable, "-c", NO_NETWORK + BUILD, *flags, "-b", "html", "-d", str(out / "doctrees"), str(DOCS)]
    done = subprocess.run([*command, str(out / "html")], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return out / "html"


@pytest.fixture(scope="module")
def index(site: Path) -> dict[str, Any]:
    text = (site / "searchindex.js").read_text().removeprefix("Search.setIndex(").removesuffix(")")
    found: dict[str, Any] = json.loads(text)
    return found


def pages_with(index: dict[str, Any], words: str) -> set[str]:
    """The pages that have all of these words, in text or titles: what the search of the site finds."""
    stem = snowballstemmer.stemmer("english").stemWord
    found = set(range(len(index["docnames"])))
    for word in words.lower().split():
        numbers: set[int] = set()
        for terms in (index["terms"], index["titleterms"]):
            pages = terms.get(stem(word), [])
            numbers |= set(pages if isinstance(pages, list) else [pages])
        found &= numbers
    return {index["docnames"][number] for number in found}


@pytest.mark.parametrize(
    ("words", "page"),
    [
        ("undo", "boards"),
        ("C51", "players/c51"),
        ("65536", "boards"),
        ("custom board", "boards"),
        ("MatchResult", "reference/library"),
        ("--estimate", "reference/commands"),
    ],
)
def test_search_finds(index: dict[str, Any], words: str, page: str) -> None:
    assert page in pages_with(index, words.strip("-"))


def test_every_public_name_and_command_is_in_the_reference(site: Path) -> None:
    library = (site / "reference" / "library.html").read_text()
    assert [name for name in lab2048.__all__ if f'id="lab2048.{name}"' not in library] == []
    commands = (site / "reference" / "commands.html").read_text()
    assert [name for name in COMMANDS if f"<h3>{name}<" not in commands] == []


def test_pictures_of_results_are_shown(site: Path) -> None:
    for path in (DOCS / "results").glob("*.svg"):
        assert (site / "_images" / path.name).exists(), path.name


def test_the_site_loads_nothing_from_elsewhere(site: Path) -> None:
    for path in site.rglob("*.html"):
        loaded = re.findall(r'<(?:script|img|link|iframe)[^>]*(?:src|href)="(https?://[^"]*)"', path.read_text())
        assert not loaded, path.name


def test_no_internal_link_is_dead(site: Path) -> None:
    anchors = {path: set(re.findall(r' (?:id|name)="([^"]+)"', path.read_text())) for path in site.rglob("*.html")}
    for path in anchors:
        for link in re.findall(r'<a [^>]*href="([^"]*)"', path.read_text()):
            if re.match(r"[a-z]+:", link):
                continue
            name, _, anchor = link.partition("#")
            target = (path.parent / name).resolve() if name else path
            assert target.exists(), f"{path.relative_to(site)}: {link}"
            assert not anchor or target not in anchors or anchor in anchors[target], f"{path.relative_to(site)}: {link}"


@pytest.mark.browser
def test_search_in_a_browser_finds_tiles(site: Path) -> None:
    """Sphinx's own search ignores numbers, in the index and in what is typed."""
    path = find_chromium()
    handler = functools.partial(SilentHandler, directory=str(site))
    with ThreadingHTTPServer(("127.0.0.1", 0), handler) as server, sync_playwright() as playwright:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        browser = playwright.chromium.launch(executable_path=path, args=["--no-sandbox", "--disable-gpu"])
        page = browser.new_page()
        page.goto(f"http://127.0.0.1:{server.server_port}/search.html?q=65536")
        expect(page.locator("ul.search > li > a", has_text="Boards and rules").first).to_be_visible()
        browser.close()
        server.shutdown()


class SilentHandler(SimpleHTTPRequestHandler):
    def log_message(self, format: str, *args: object) -> None: ...  # noqa: A002 - the name of the base class
