"""How pages look, for people and for those who hear them: screenshots to look at, and axe."""

from collections.abc import Iterator
from typing import Any

import pytest
from playwright.sync_api import expect

from .conftest import SIZES, Server, Tab
from .test_pages import PAGES, played

SETTLED = {
    "play": ".values .best",
    "watch": ".seat",
    "games": "tbody tr",
    "review": ".milestones, .facts",
    "design": ".facts-list dd",
    "practice": "lab-board.mini",
    "lab": "form .cmd:not([hidden])",
    "studies": ".card",
    "train": "form .cmd:not([hidden])",
    "solve": "form .cmd:not([hidden])",
}


@pytest.fixture(scope="module")
def shown_server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    """One server for all pictures: looking changes nothing."""
    made = Server(tmp_path_factory.mktemp("shown"))
    made.start()
    yield made
    made.stop()


@pytest.fixture
def server(shown_server: Server) -> Server:
    return shown_server


def visit(tab: Tab, server: Server, name: str) -> None:
    """A page with something on it."""
    state = played(server, moves="asaswasdsaasdsasasdassasdasaswas" * 3)
    tab.remember(game=state["id"], hints="all")
    tab.go(f"#/{name}" + (f"/{state['id']}?turn=20" if name == "review" else ""))
    expect(tab.page.locator(SETTLED[name]).first).to_be_visible()


@pytest.mark.parametrize("size", ["desk", "phone"])
@pytest.mark.parametrize("name", [*PAGES, "review"])
def test_page_is_accessible_and_has_its_picture_taken(make_tab: Any, server: Server, name: str, size: str) -> None:
    tab: Tab = make_tab(size)
    visit(tab, server, name)
    for scheme in ("light", "dark"):
        tab.page.emulate_media(color_scheme=scheme)
        tab.shot(f"{name}-{size}-{scheme}")
        assert not tab.serious()


def test_dialogs_are_accessible(tab: Tab, server: Server) -> None:
    visit(tab, server, "play")
    for name in ("Help: keys", "Settings", "Choose...", "Other rules"):
        tab.page.get_by_role("button", name=name).click()
        expect(tab.page.get_by_role("dialog")).to_be_visible()
        assert not tab.serious(), name
        tab.page.keyboard.press("Escape")
        expect(tab.page.get_by_role("dialog")).to_have_count(0)


@pytest.mark.parametrize("size", ["desk", "phone"])
def test_numbers_of_a_long_game_are_whole(make_tab: Any, server: Server, size: str) -> None:
    tab: Tab = make_tab(size)
    made = server.ask("/api/games", {"rules": {"board": "65536 32768 # # / # # # #"}, "seed": 123456})
    tab.remember(game=made["state"]["id"])
    tab.go()
    tab.until("document.querySelectorAll('.chip b').length === 5")
    cut = "[...document.querySelectorAll('.chip b')].filter(b => b.scrollWidth > b.clientWidth).map(b => b.textContent)"
    assert not tab.page.evaluate(cut)
    tab.page.evaluate("[...document.querySelectorAll('.chip b')].slice(0, 2).forEach(b => b.textContent = '3,932,156')")
    assert "3,932,156" not in tab.page.evaluate(cut)
    assert tab.page.evaluate("document.documentElement.scrollWidth") <= SIZES[size]["width"]
