"""Journeys through the other pages: watch, games, design; by keys alone; on a phone."""

import json
import re
from datetime import date
from pathlib import Path
from typing import Any
from urllib.parse import quote

import pytest
from playwright.sync_api import expect

from .conftest import Server, Tab

PAGES = ["play", "watch", "games", "practice", "design", "lab", "studies", "train", "solve"]


def played(server: Server, moves: str = "asdwasdwasdwasdwasdw", seed: int = 7, board: str = "4x4") -> Any:
    """A game that is kept, some moves long."""
    made = server.ask("/api/games", {"rules": {"board": board}, "seed": seed})["state"]["id"]
    return server.ask(f"/api/games/{made}/moves", {"moves": moves})["state"]


def test_watch_four_boards(tab: Tab) -> None:
    tab.remember(watchPlayers=["random", "first", "first:order=as", "greedy"], speed=30)
    tab.go("#/watch")
    tab.page.get_by_role("button", name="Start").click()
    boards = tab.page.locator(".seat-board")
    expect(boards).to_have_count(4)
    for i in range(4):
        expect(boards.nth(i).locator(".facts")).to_have_text(re.compile(r"· [1-9][\d,]* moves"))
    tab.shot("watch-four")
    assert not tab.serious()
    seeds = {boards.nth(i).get_by_text(re.compile("^seed")).inner_text() for i in range(4)}
    assert len(seeds) == 1
    tab.page.keyboard.press("Enter")
    expect(tab.page.get_by_role("button", name="Play", exact=True)).to_be_visible()
    boards.nth(1).get_by_role("link", name="Take over").click()
    expect(tab.page.get_by_role("heading", name="Play")).to_be_attached()
    expect(tab.page.locator(".chip", has_text="Moves").locator("b")).to_have_text(re.compile("[1-9]"))


def test_who_takes_over_makes_the_next_move(tab: Tab) -> None:
    tab.remember(watchPlayers=["random", "greedy"], speed=1)
    tab.go("#/watch")
    tab.page.get_by_role("button", name="Start").click()
    for i in (0, 1):
        expect(tab.page.locator(".seat-board .facts").nth(i)).to_have_text(re.compile(r"· [1-9]\d* moves?"))
    tab.page.get_by_role("link", name="Take over").first.click()
    expect(tab.page.locator(".chip.who")).to_contain_text("You")
    expect(tab.page.locator(".toast")).to_contain_text("1 player on Watch goes on")


def test_boards_are_in_sight_on_a_phone_once_they_play(phone: Tab) -> None:
    phone.remember(watchPlayers=["random", "greedy", "first", "random"], speed=1)
    phone.go("#/watch")
    phone.page.get_by_role("button", name="Start").tap()
    expect(phone.page.locator("lab-board").first).to_be_in_viewport(ratio=1)


def test_watched_games_can_stop_at_the_goal(tab: Tab) -> None:
    tab.remember(watchPlayers=["greedy"], speed=0)
    tab.go("#/watch")
    tab.page.locator("select[name=goal]").select_option("32")
    tab.page.locator("select[name=stop_at_goal]").select_option("true")
    tab.page.get_by_role("button", name="Start").click()
    expect(tab.page.locator(".seat-board .facts")).to_have_text(re.compile("· 32 · over$"))
    tab.shot("watch-goal")
    assert not tab.serious()
    tab.page.reload()
    expect(tab.page.locator("select[name=goal]")).to_have_value("32")
    expect(tab.page.locator("select[name=stop_at_goal]")).to_have_value("true")


def test_import_replay_and_continue(tab: Tab, server: Server, tmp_path: Path) -> None:
    state = played(server)
    with_export = tab.context.request.get(f"{server.url}api/games/{state['id']}/export")
    record = json.loads(with_export.text().splitlines()[0])
    server.ask(f"/api/games/{state['id']}", method="DELETE")
    path = tmp_path / "game.jsonl"
    path.write_text(json.dumps(record) + "\n")
    tab.go("#/games")
    tab.page.get_by_label("File of games").set_input_files(path)
    tab.page.locator(".toast").get_by_role("button", name="Replay").click()
    slider = tab.page.get_by_role("slider", name="Move")
    expect(slider).to_be_visible()
    tab.page.keyboard.press("End")
    expect(slider).to_have_attribute("aria-valuetext", f"move {state['n_moves']} of {state['n_moves']}")
    assert tab.ranks() == state["ranks"]
    tab.page.keyboard.press("Home")
    tab.page.keyboard.press("ArrowRight")
    tab.page.keyboard.press("PageDown")
    expect(slider).to_have_attribute("aria-valuetext", f"move 11 of {state['n_moves']}")
    shown = tab.ranks()
    tab.page.get_by_role("button", name="Continue from here").click()
    expect(tab.page.locator(".chip", has_text="Moves").locator("b")).to_have_text("11")
    assert tab.ranks() == shown


def test_text_that_is_no_game_stays_in_the_dialog(tab: Tab) -> None:
    tab.go("#/games")
    tab.page.get_by_role("button", name="Import").click()
    dialog = tab.page.get_by_role("dialog")
    dialog.get_by_label("Paste them here").fill("garbage")
    dialog.get_by_role("button", name="Import").click()
    expect(dialog.get_by_role("alert")).to_contain_text("Not JSON lines; not a replay: expected one of 2048verse, ")
    expect(dialog.get_by_label("Paste them here")).to_have_value("garbage")
    expect(tab.page.locator("select[name=kind]")).to_have_value("mine")
    dialog.get_by_label("Paste them here").fill(" !d")
    dialog.get_by_role("button", name="Import").click()
    expect(dialog).to_have_count(0)
    expect(tab.page.locator(".toast")).to_contain_text("1 game imported")


def test_review_a_game_and_look_at_its_worst_move(tab: Tab, server: Server) -> None:
    state = played(server, moves="asdw" * 25)
    n = state["n_moves"]
    tab.go(f"#/review/{state['id']}")
    told = tab.page.locator("section.panel", has_text="Value, luck and skill")
    expect(told).to_contain_text("Every move is reviewed by Champion", timeout=60_000)
    expect(told.get_by_role("img", name="Expected result")).to_be_visible()
    expect(tab.page.locator(".ledger").first).to_contain_text("Drift")
    worst = tab.page.locator("button.review-moment").first
    expect(worst).to_contain_text("is better")
    worst.click()
    number = int(worst.locator("b").inner_text())
    slider = tab.page.get_by_role("slider", name="Move")
    expect(slider).to_have_attribute("aria-valuetext", f"move {number - 1} of {n}")
    here = tab.page.locator("section.panel", has_text="This position")
    expect(tab.page.locator(".facts", has_text=f"Next: {number} ")).to_contain_text("is better")
    expect(tab.page.locator("lab-board .arrow")).to_be_visible()
    assert not tab.serious()
    # Another move, and one more: the game itself stays as it is.
    better = here.locator("button.review-value").first
    expect(better).to_be_visible()
    before = tab.ranks()
    better.click()
    expect(here).to_contain_text("What if:")
    expect(here).to_contain_text("Best line on the same dice")
    tab.page.keyboard.press("Escape")
    assert tab.ranks() == before
    # Reloading shows the same move and the same review at once.
    tab.page.reload()
    expect(slider).to_have_attribute("aria-valuetext", f"move {number - 1} of {n}")
    expect(tab.page.locator("button.review-moment").first).to_contain_text("is better")
    expect(tab.page.locator(".review-head")).to_have_text("MoveGradeLossLuck")
    tab.page.keyboard.press("b")
    expect(here).to_contain_text(re.compile("mistake|blunder"))
    tab.shot("review")


def test_a_replay_from_elsewhere_is_pasted_and_reviewed(tab: Tab) -> None:
    tab.go("#/review")
    expect(tab.page.get_by_label("Paste it here")).to_be_visible()
    # There is nothing to review yet: the button asks for it.
    tab.until("(document.querySelector('#page button.main').click(), document.activeElement.name === 'replay')")
    tab.page.get_by_label("Paste it here").fill(" !d")
    tab.page.get_by_role("button", name="Review", exact=True).click()
    expect(tab.page.get_by_role("slider", name="Move")).to_have_attribute("aria-valuetext", "move 0 of 1")
    tab.go("#/review")
    tab.page.get_by_label("Paste it here").fill("4x4-x_000000")
    tab.page.get_by_role("button", name="Review", exact=True).click()
    expect(tab.page.locator(".toast")).to_contain_text("the first board is impossible")


def test_a_shield_says_why_it_moved(tab: Tab) -> None:
    tab.remember(watchPlayers=["shield:warm_up=0"], speed=2)
    tab.go("#/watch")
    tab.page.get_by_role("button", name="Start").click()
    board = tab.page.locator(".seat-board")
    expect(board.locator(".note")).to_contain_text("Safe: ")
    tab.shot("watch-note")
    tab.page.keyboard.press("Enter")
    expect(tab.page.get_by_role("button", name="Play", exact=True)).to_be_visible()
    board.get_by_role("link", name="Take over").click()
    note = tab.page.locator("section.note")
    expect(note).to_contain_text("random proposes")
    expect(note.locator("tbody tr[aria-selected=true]")).to_have_count(1)
    tab.shot("play-note")
    tab.go(f"#/review/{tab.game()['state']['id']}?turn=1")
    expect(note).to_contain_text("random proposes")
    assert not tab.serious()
    tab.page.keyboard.press("Home")
    expect(note).to_be_hidden()


def test_delete_and_undo(tab: Tab, server: Server) -> None:
    numbers = [played(server, seed=seed)["id"] for seed in (1, 2)]
    tab.go("#/games")
    rows = tab.page.locator("tbody tr")
    expect(rows).to_have_count(2)
    tab.page.get_by_role("button", name=f"Delete game {numbers[0]}").click()
    expect(rows).to_have_count(1)
    tab.page.locator(".toast").get_by_role("button", name="Undo").click()
    expect(rows).to_have_count(2)
    tab.page.get_by_role("button", name=f"Continue game {numbers[0]}").click()
    expect(tab.page.locator(".seed")).to_have_text("seed 1")


def test_design_a_board_with_bricks_and_play_it(tab: Tab) -> None:
    tab.go("#/design")
    tab.page.get_by_label("Rows").select_option("3")
    tab.page.get_by_label("Columns").select_option("3")
    cells = tab.page.locator(".paint")
    expect(cells).to_have_count(9)
    cells.nth(4).click()
    expect(tab.page.locator(".map")).to_have_text("###|#x#|###")
    expect(cells.nth(4)).to_have_accessible_name("row 2 column 2: brick")
    expect(tab.page.locator("lab-board td[data-cell]").nth(4)).to_have_text("brick")
    tab.page.get_by_role("button", name="Tile", exact=True).click()
    cells.nth(0).click()
    expect(tab.page.locator(".map")).to_have_text("2##|#x#|###")
    expect(tab.page.locator(".facts-list")).to_contain_text("8, 7 of them empty")
    expect(tab.page.locator(".verdict")).to_contain_text(re.compile("solved here", re.IGNORECASE))
    tab.page.keyboard.press("u")
    expect(tab.page.locator(".map")).to_have_text("###|#x#|###")
    tab.page.get_by_role("button", name="Play it").click()
    expect(tab.page.locator("main.play lab-board .place.brick")).to_have_count(1)
    state = tab.game()["state"]
    assert state["rules"]["board"] == "###|#x#|###"
    tab.page.keyboard.press(["ArrowUp", "ArrowRight", "ArrowDown", "ArrowLeft"][state["legal"][0]])
    expect(tab.page.locator(".chip", has_text="Moves").locator("b")).to_have_text("1")


def test_design_hexagons_by_keys(tab: Tab) -> None:
    tab.go("#/design")
    tab.page.get_by_role("button", name="Hexagons").click()
    expect(tab.page.locator(".paint")).to_have_count(19)
    tab.page.locator(".paint").first.focus()
    for key in ("ArrowDown", "x", "ArrowRight", "Space"):
        tab.page.keyboard.press(key)
    expect(tab.page.locator(".map")).to_have_text(re.compile(r"^hex2:.*x.*x"))
    tab.page.keyboard.press("Control+z")
    tab.page.keyboard.press("Control+z")
    expect(tab.page.locator(".map")).to_have_text("hex2")


def test_by_keys_alone(tab: Tab) -> None:
    tab.go("#/play?board=4x4&seed=7")
    page = tab.page
    expect(page.locator(".chip", has_text="Moves").locator("b")).to_have_text("0")
    page.keyboard.press("Tab")
    expect(page.get_by_role("link", name="To the page")).to_be_focused()
    page.keyboard.press("Enter")
    expect(page.locator("main")).to_be_focused()
    page.keyboard.press("?")
    dialog = page.get_by_role("dialog")
    expect(dialog).to_contain_text("the best move, once")
    page.keyboard.press("Escape")
    expect(dialog).to_have_count(0)
    page.keyboard.press("ArrowLeft")
    page.keyboard.press("ArrowDown")
    expect(page.locator(".chip", has_text="Moves").locator("b")).to_have_text(re.compile("[12]"))
    page.keyboard.press("`")
    expect(page.locator("#live")).to_have_text(re.compile("row 1 column 1: "))
    page.keyboard.press("ArrowRight")
    expect(page.locator("#live")).to_have_text(re.compile("row 1 column 2: "))
    page.keyboard.press("`")
    page.get_by_role("link", name="Games").first.focus()
    page.keyboard.press("Enter")
    expect(page.get_by_role("heading", name="Games")).to_be_visible()
    page.get_by_role("button", name="Settings").focus()
    page.keyboard.press("Enter")
    expect(dialog).to_contain_text("Light or dark")
    page.keyboard.press("Escape")
    expect(page.get_by_role("button", name="Settings")).to_be_focused()


@pytest.mark.parametrize(
    ("address", "words", "way"),
    [
        ("#/nosuch", "There is no page nosuch here.", "Play"),
        ("nosuch", "There is no page nosuch here.", "Play"),
        ("#/review/abc", "There is no game abc.", "All games"),
        ("#/review/77", "There is no game 77.", "All games"),
        ("#/solve/nosuch", "There is no table nosuch.", "All tables"),
        ("#/train/nosuch", "There is no training nosuch.", "All trainings"),
        ("#/lab/nosuch", "There is no match nosuch.", "All matches"),
    ],
)
def test_what_is_not_there_says_so_and_shows_a_way_back(tab: Tab, address: str, words: str, way: str) -> None:
    tab.go(address)
    lost = tab.page.get_by_role("alert").filter(has_text=words)
    expect(lost).to_be_visible()
    expect(tab.page.locator(".toast")).to_have_count(0)
    assert not tab.serious()
    lost.get_by_role("link", name=way).click()
    expect(lost).to_have_count(0)


@pytest.mark.parametrize("size", ["desk", "phone"])
def test_no_figure_is_cut(make_tab: Any, size: str) -> None:
    tab: Tab = make_tab(size)
    tab.go("#/play?seed=888888&board=" + quote("65536 65536 . ./. . . ./. . . ./. . . 2"))
    chips = tab.page.locator(".chip b")
    expect(tab.page.locator(".seed")).to_have_text("seed 888888")
    tab.page.keyboard.press("ArrowLeft")
    expect(chips.first).to_have_text("131,072")
    cut = "all => all.filter(each => each.scrollWidth > each.clientWidth).map(each => each.textContent)"
    assert chips.evaluate_all(cut) == []


def test_settings_stay(tab: Tab) -> None:
    tab.go("#/play")
    tab.page.get_by_role("button", name="Settings").click()
    tab.page.get_by_role("button", name="Dark", exact=True).click()
    tab.page.get_by_role("button", name="Colour-blind").click()
    tab.page.get_by_role("button", name="Close").click()
    tab.page.reload()
    root = tab.page.locator("html")
    expect(root).to_have_attribute("data-theme", "dark")
    expect(root).to_have_attribute("data-tiles", "colourblind")
    assert tab.page.evaluate("getComputedStyle(document.body).backgroundColor") == "rgb(23, 22, 19)"


@pytest.mark.parametrize("motion", ["reduce", "no-preference"])
def test_motion_only_where_it_is_wanted(make_tab: Any, motion: str) -> None:
    tab: Tab = make_tab(reduced_motion=motion)
    tab.go("#/play?board=4x4&seed=7")
    expect(tab.page.locator(".chip", has_text="Moves").locator("b")).to_have_text("0")
    move = tab.game()["state"]["legal"][0]
    running = tab.page.evaluate(
        "move => { document.querySelector('lab-board').slide(move); return document.getAnimations().length; }",
        move,
    )
    assert (running > 0) == (motion == "no-preference")


def test_the_phone(phone: Tab, server: Server) -> None:
    played(server)
    page = phone.page
    phone.go("#/play")
    bar = page.get_by_role("navigation", name="Pages, below")
    expect(bar).to_be_visible()
    expect(page.get_by_role("navigation", name="Pages", exact=True)).to_be_hidden()
    expect(page.get_by_role("button", name="Undo").first).to_be_in_viewport()
    for name in ("Games", "Design", "Lab", "Play"):
        bar.get_by_role("link", name=name).tap()
        expect(page).to_have_title(f"{name} - lab2048")
        expect(bar.locator("[aria-current=page]")).to_have_text(name)
        phone.until("document.documentElement.scrollWidth <= 390")
    for name in ("Watch", "Studies", "Train", "Solve"):
        bar.get_by_role("button", name="More").tap()
        page.get_by_role("dialog").get_by_role("link", name=name).tap()
        expect(page).to_have_title(f"{name} - lab2048")
        expect(bar.locator("[aria-current=page]")).to_have_text("More")
        phone.until("document.documentElement.scrollWidth <= 390")


@pytest.mark.parametrize("board", ["hex2", "tri8"])
def test_the_words_of_a_board_do_not_widen_the_page(phone: Tab, board: str) -> None:
    phone.go(f"#/play?board={board}")
    expect(phone.page.locator("lab-board td[data-cell]").first).to_be_attached()
    phone.until("document.documentElement.scrollWidth <= 390")


def test_a_game_on_the_board_of_the_day_says_so(make_tab: Any, server: Server) -> None:
    tab = make_tab(locale="en-GB")
    day = date.fromisoformat(server.ask("/api/daily")["date"])
    tab.go("#/race")
    tab.page.get_by_role("button", name="Play the board of the day").click()
    words = f"Board of the day, {day.day} {day:%B %Y}: 4x4, goal 2048"
    expect(tab.page.get_by_text(words)).to_be_visible()
    tab.page.reload()
    expect(tab.page.get_by_text(words)).to_be_visible()


def test_lists_without_entries_say_so(tab: Tab) -> None:
    for name in ("games", "lab", "train", "solve"):
        tab.go(f"#/{name}")
        expect(tab.page.get_by_text(re.compile("^(No games|None) yet")).first).to_be_visible()
