"""Journeys through Practice, Puzzles and Race: by keys, by touch, and with what is saved."""

import re
import sqlite3
from typing import Any
from urllib.parse import quote

import pytest
from playwright.sync_api import expect

from .conftest import Server, Tab

TRAP = "A A A A / A A A A / 4 32 16 8 / 4 # # 2"  # left is the best move, up a mistake
TRAP_PAGE = "#/practice/snake8-64?position=" + quote(TRAP)


def figure(tab: Tab, name: str) -> Any:
    return tab.page.locator(".review-figures div", has_text=name).locator("b")


def make_due(server: Server) -> None:
    """Let every puzzle be due, as if time had passed."""
    (store,) = server.home.rglob("games.sqlite")
    with sqlite3.connect(store, timeout=30) as database:
        database.execute("UPDATE puzzles SET due = '2020-01-01T00:00:00+00:00'")
    database.close()


def test_choose_a_formation_and_drill_it_by_keys(tab: Tab) -> None:
    tab.go("#/practice")
    expect(tab.page.locator(".formation")).to_have_count(6)
    tab.shot("practice-list")
    assert not tab.serious()
    tab.page.get_by_role("link", name=re.compile("snake8-64")).click()
    words = tab.page.locator(".practice-words")
    expect(words).to_have_text("Your move.")
    tab.page.goto(tab.server.url + TRAP_PAGE)
    tab.page.reload()
    expect(words).to_have_text("Your move.")
    tab.page.keyboard.press("ArrowUp")
    expect(words).to_have_text("Up: 91.42%, mistake. Left keeps 99.31%.")
    expect(tab.page.locator(".review-value")).to_have_count(3)
    expect(figure(tab, "streak")).to_have_text("0")
    tab.shot("practice")
    assert not tab.serious()
    tab.page.keyboard.press("u")
    expect(words).to_have_text("The arrow shows the best move.")
    assert tab.ranks() == [2, 5, 4, 3, 2, 0, 0, 1]
    tab.page.keyboard.press("ArrowLeft")
    expect(words).to_have_text("Left: 99.31%, best.")
    expect(figure(tab, "streak")).to_have_text("1")
    tab.page.reload()
    expect(figure(tab, "streak")).to_have_text("1")


def test_a_link_opens_the_position_and_nonsense_is_told(tab: Tab) -> None:
    tab.go(TRAP_PAGE)
    expect(tab.page.locator(".practice-words")).to_have_text("Your move.")
    assert tab.ranks() == [2, 5, 4, 3, 2, 0, 0, 1]
    tab.go("#/practice/nothing")
    expect(tab.page.get_by_role("alert")).to_contain_text("There is no formation nothing.")
    tab.go("#/practice/L3-256")
    expect(tab.page.get_by_role("alert")).to_contain_text("lab2048 endgame build L3-256")
    tab.go("#/practice/snake8-64?position=4x4")
    expect(tab.page.locator(".toast")).to_contain_text("is no position of snake8-64")


def test_a_mistake_returns_in_practice_and_among_the_puzzles(tab: Tab, server: Server) -> None:
    tab.go(TRAP_PAGE)
    words = tab.page.locator(".practice-words")
    expect(words).to_have_text("Your move.")
    tab.page.keyboard.press("ArrowRight")
    expect(words).to_have_text(re.compile("blunder"))
    make_due(server)
    tab.page.keyboard.press("n")
    expect(words).to_have_text("From your notebook: find a good move.")
    assert tab.ranks() == [2, 5, 4, 3, 2, 0, 0, 1]
    tab.go("#/puzzles")
    status = tab.page.get_by_role("status").filter(has_text="Find the good move.")
    expect(status).to_be_visible()
    tab.page.keyboard.press("ArrowUp")
    expect(tab.page.get_by_text("Wrong: left is the best move.")).to_be_visible()
    expect(tab.page.locator(".review-value")).to_have_count(3)
    tab.shot("puzzles")
    assert not tab.serious()
    make_due(server)
    tab.page.keyboard.press("n")
    expect(status).to_be_visible()
    tab.page.keyboard.press("ArrowLeft")
    expect(tab.page.get_by_text("Correct: left.")).to_be_visible()
    expect(figure(tab, "solved")).to_have_text("1 / 2")
    tab.page.keyboard.press("n")
    expect(tab.page.get_by_text("Nothing is due now.")).to_be_visible()


def test_without_puzzles_the_page_says_where_they_come_from(tab: Tab) -> None:
    tab.go("#/puzzles")
    expect(tab.page.get_by_text("There are no puzzles yet")).to_be_visible()
    tab.page.locator("aside").get_by_role("link", name="Practice").click()
    expect(tab.page.get_by_role("heading", name="Practice")).to_be_visible()
    tab.go("#/puzzles")
    tab.page.get_by_role("button", name="Choose a game").click()
    expect(tab.page.get_by_role("heading", name="Games")).to_be_visible()


def test_a_hostile_spawner_is_set_by_the_slider_and_remembered(tab: Tab) -> None:
    tab.remember(practiceLevel="start")
    tab.go("#/practice/snake8-64")
    words = tab.page.locator(".practice-words")
    expect(words).to_have_text("Your move.")
    tab.page.get_by_role("slider", name="Spawner").fill("100")
    expect(tab.page.get_by_text("always the worst tile")).to_be_visible()
    tab.page.reload()
    expect(tab.page.get_by_role("slider", name="Spawner")).to_have_value("100")
    with tab.page.expect_request("**/api/practice/snake8-64/move") as sent:
        tab.page.locator(".dir.can").first.click()
    assert sent.value.post_data_json["worst"] == 1


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_practice_by_touch(make_tab: Any, scheme: str) -> None:
    phone = make_tab("phone", color_scheme=scheme)
    phone.go(TRAP_PAGE)
    words = phone.page.locator(".practice-words")
    expect(words).to_have_text("Your move.")
    phone.page.locator(".dir.w").tap()
    expect(words).to_have_text("Left: 99.31%, best.")
    assert phone.page.evaluate("document.documentElement.scrollWidth") == 390
    phone.shot(f"practice-phone-{scheme}")
    assert not phone.serious()
    phone.page.get_by_role("button", name="Hard").tap()
    expect(words).to_have_text("Your move.")


def test_race_your_own_game(tab: Tab, server: Server) -> None:
    state = server.ask("/api/games", {"rules": {"board": "4x4"}, "seed": 7})["state"]
    moves = "asdwasdwasdwasdwasdw"
    ghost = server.ask(f"/api/games/{state['id']}/moves", {"moves": moves})["state"]
    tab.go(f"#/race/{state['id']}")
    words = tab.page.locator("p.facts")
    expect(words).to_have_text(re.compile("^Move 0"))
    for letter in moves[:8]:
        tab.page.keyboard.press(letter)
    expect(words).to_have_text(re.compile(r"^Move [1-9].*\(\+0\)$"))
    assert ghost["n_moves"] > 0
    tab.shot("race")
    assert not tab.serious()
    boards = tab.page.evaluate("[...document.querySelectorAll('lab-board')].map((each) => each.ranks)")
    assert boards[0] == boards[1]  # the same moves on the same dice
    tab.page.get_by_role("link", name="Play on alone").click()
    expect(tab.page.locator(".chip", has_text="Moves").locator("b")).to_have_text(re.compile("[1-9]"))


def test_a_race_against_a_game_that_does_not_exist_is_told_once(tab: Tab) -> None:
    tab.go("#/race/99999")
    expect(tab.page.get_by_text("There is no game 99999")).to_have_count(1)
    expect(tab.page.locator(".toast")).to_have_count(0)


def test_a_race_without_a_game_is_told(tab: Tab) -> None:
    tab.go("#/race/99999")
    expect(tab.page.get_by_role("alert").filter(has_text="There is no game 99999.")).to_be_visible()


def test_the_button_of_the_board_of_the_day_stays_while_the_champion_plays(tab: Tab) -> None:
    answer = {"date": "2026-11-19", "seed": 1, "mine": None, "champion": None}
    tab.page.route("**/api/daily", lambda route: route.fulfill(json=answer))
    tab.go("#/race")
    tab.page.get_by_role("button", name="Play the board of the day").focus()
    for _ in range(2):
        with tab.page.expect_response("**/api/daily"):
            pass
    tab.page.wait_for_timeout(100)
    assert tab.page.evaluate("document.activeElement.textContent") == "Play the board of the day"


def test_the_board_of_the_day(tab: Tab) -> None:
    tab.go("#/race")
    expect(tab.page.get_by_text("Everyone gets the same tiles on")).to_be_visible()
    tab.page.get_by_role("button", name="Play the board of the day").click()
    expect(tab.page.get_by_role("application", name="Board")).to_be_visible()
