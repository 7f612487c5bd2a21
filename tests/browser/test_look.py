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


# Phones, tablets, halves of screens, and the widths at which the layout changes.
WIDTHS = (320, 360, 390, 640, 641, 667, 768, 844, 900, 901, 1000, 1001, 1024, 1044, 1200, 1280)
TOO_WIDE = """() => [document.documentElement, ...document.querySelectorAll("header *, main .panel *, .bar *")]
  .filter((one) => !one.closest(".table, .cmd, .unseen, .canvas, lab-board"))
  .filter((one) => one.getBoundingClientRect().right > innerWidth + 1 || one.getBoundingClientRect().left < -1
    || (one === document.documentElement && one.scrollWidth > innerWidth))
  .map((one) => one.tagName + "." + one.className)"""


@pytest.mark.parametrize("language", ["en", "de"])
def test_no_page_is_wider_than_the_window(make_tab: Any, server: Server, language: str) -> None:
    match = {"players": ["random"], "rules": {"board": "2x2"}, "games": 1, "seed": 1}
    server.ask("/api/matches", match)  # the header shows its job
    server.ask("/api/games", {"rules": {"board": "512 512 . . / . . . . / . . . . / 2 . . ."}})
    game = played(server, moves="asaswasdsaasdsasasdassasdasaswas")["id"]
    tab: Tab = make_tab(locale=language)
    found = {}
    for address in (*PAGES, f"review/{game}", f"race/{game}", "race", "puzzles"):
        tab.go(f"#/{address}")
        expect(tab.page.locator("#tray")).to_be_visible()
        expect(tab.page.locator(f"main.{address.split('/')[0]} :is(h1, lab-board)").first).to_be_visible()
        for width in WIDTHS:
            tab.page.set_viewport_size({"width": width, "height": 800})
            if wide := tab.page.evaluate(TOO_WIDE):
                found[address, width] = wide[:3]
    assert not found


@pytest.mark.parametrize("size", [(844, 390), (667, 375)])
def test_the_board_fits_a_phone_held_sideways(make_tab: Any, server: Server, size: tuple[int, int]) -> None:
    tab: Tab = make_tab()
    tab.page.set_viewport_size({"width": size[0], "height": size[1]})
    visit(tab, server, "play")
    expect(tab.page.get_by_role("application", name="Board")).to_be_in_viewport(ratio=1)
    expect(tab.page.get_by_role("button", name="New", exact=True)).to_be_in_viewport(ratio=1)
    expect(tab.page.get_by_role("button", name="More")).to_be_in_viewport(ratio=1)


def test_a_race_shows_both_boards_on_a_phone(make_tab: Any, server: Server) -> None:
    tab: Tab = make_tab("phone")
    tab.go(f"#/race/{played(server)['id']}")
    for board in (0, 1):
        expect(tab.page.locator("lab-board").nth(board)).to_be_in_viewport(ratio=1)


def test_a_long_board_leaves_room_in_the_list_of_games(make_tab: Any, server: Server) -> None:
    board = "512 512 . . / . . . . / . . . . / 2 . . ."
    state = played(server, moves="d", board=board)
    tab: Tab = make_tab("phone", locale="de")
    tab.go("#/games")
    row = tab.page.get_by_role("row").filter(has=tab.page.get_by_role("link", name=str(state["id"]), exact=True))
    expect(row.locator(".clip").first).to_have_attribute("title", state["rules"]["board"])
    for part in ("td:nth-child(6)", "td:nth-child(7)", "td:nth-child(8)", "button:last-child"):
        box = row.locator(part).bounding_box()
        assert box is not None
        assert box["x"] + box["width"] <= SIZES["phone"]["width"]
    words = "(all) => all.map((one) => getComputedStyle(one, '::before').content)"
    labels = row.locator("td:nth-child(7), td:nth-child(8)").evaluate_all(words)
    assert labels == ['"Höchste "', '"Züge "']


def test_dialogs_are_accessible(tab: Tab, server: Server) -> None:
    visit(tab, server, "play")
    for name in ("Help: keys", "Settings", "Choose...", "Other rules"):
        tab.page.get_by_role("button", name=name).click()
        expect(tab.page.get_by_role("dialog")).to_be_visible()
        assert not tab.serious(), name
        tab.page.keyboard.press("Escape")
        expect(tab.page.get_by_role("dialog")).to_have_count(0)


@pytest.mark.parametrize("language", ["en", "de"])
def test_no_choice_of_the_settings_is_cut_on_a_phone(make_tab: Any, server: Server, language: str) -> None:
    tab: Tab = make_tab("phone", locale=language)
    visit(tab, server, "play")
    tab.page.locator("#settings").tap()
    choices = tab.page.get_by_role("dialog").locator(".seg button")
    expect(choices.first).to_be_visible()
    assert choices.evaluate_all("all => all.filter((one) => one.scrollWidth > one.clientWidth).length") == 0


@pytest.mark.parametrize("language", ["en", "de"])
@pytest.mark.parametrize("width", [320, 360, 390, 430])
def test_no_button_below_the_board_is_cut(make_tab: Any, server: Server, language: str, width: int) -> None:
    tab: Tab = make_tab("phone", locale=language)
    tab.page.set_viewport_size({"width": width, "height": 844})
    visit(tab, server, "play")
    cut = "all => all.filter((one) => one.scrollWidth > one.clientWidth).map((one) => one.textContent)"
    assert tab.page.locator(".play .bar .button").evaluate_all(cut) == []


@pytest.mark.parametrize("size", ["laptop", "phone"])
def test_who_moves_is_whole(make_tab: Any, server: Server, size: str) -> None:
    tab: Tab = make_tab(size)
    visit(tab, server, "play")
    who = tab.page.locator(".chip.who b")
    who.evaluate("(one) => (one.textContent = 'Champion')")
    assert who.evaluate("(one) => one.scrollWidth <= one.clientWidth")


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


def test_the_first_load_is_small(tab: Tab) -> None:
    """Bytes on the wire until the board can be played on; later pages load what they need."""
    session = tab.context.new_cdp_session(tab.page)
    sizes: list[float] = []
    session.send("Network.enable")
    session.on("Network.loadingFinished", lambda event: sizes.append(event["encodedDataLength"]))
    tab.go("")
    tab.until("document.querySelector('lab-board')?.ranks?.some((rank) => rank > 0)")
    tab.page.wait_for_load_state("load")
    assert 50_000 < sum(sizes) <= 100_000
