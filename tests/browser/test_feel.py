"""What makes the page feel right: motion, keys, pasting, undo, coming back, links, languages, at three sizes."""

import re
import signal
from typing import Any
from urllib.parse import quote, urlencode

import pytest
from playwright.sync_api import expect

from .conftest import SIZES, Server, Tab

PAIRS = "#/play?" + urlencode({"board": "2 2 4 4 / 8 # # 8 / # # # # / # # # #", "seed": 5})
EVERY = {
    "lines": "2 4 8 16\n32 64 128 256\n2 4 8 16\n32 64 128 128",
    "csv": "2,4,8,16\n32,64,128,256\n2,4,8,16\n32,64,128,128",
    "json": "[[2,4,8,16],[32,64,128,256],[2,4,8,16],[32,64,128,128]]",
    "ranks": "1 2 3 4 5 6 7 8 1 2 3 4 5 6 7 7",
    "digits": "1234567812345677",
    "flat list": "[2,4,8,16,32,64,128,256,2,4,8,16,32,64,128,128]",
    "spreadsheet": "2\t4\t8\t16\n32\t64\t128\t256\n2\t4\t8\t16\n32\t64\t128\t128",
}
FULL = [1, 2, 3, 4, 5, 6, 7, 8, 1, 2, 3, 4, 5, 6, 7, 7]
# At every 5 ms of a slide: is each of the merging tiles, or the merged one, to be seen?
FRAMES = """gap => {
  const board = document.querySelector("lab-board");
  const ranks = [...board.ranks];
  const real = performance.now();
  performance.now = () => real;  // a clock of our own: the machine may be slow
  board.slide(3);  // the turn before
  board.show(ranks);
  performance.now = () => real + gap;  // the pace: time since the last turn
  board.slide(3);
  delete performance.now;
  const shown = (face) => face.dataset.rank !== "0" && Number(getComputedStyle(face).opacity) > 0.99;
  const tiles = [...board.querySelectorAll(".tiles .tile")];
  const animations = document.getAnimations();
  animations.forEach((each) => each.pause());
  const end = Math.max(0, ...animations.map((each) => each.effect.getComputedTiming().endTime));
  const wrong = [];
  for (let ms = 0; ms < end; ms += 5) {
    animations.forEach((each) => (each.currentTime = Math.min(ms, each.effect.getComputedTiming().endTime - 0.01)));
    for (const [merged, old] of [["2", "1"], ["3", "2"], ["4", "3"]]) {
      const whole = tiles.filter((face) => face.dataset.rank === merged && shown(face)).length > 0;
      const parts = tiles.filter((face) => face.dataset.rank === old && shown(face)).length;
      if (!whole && parts < 2) wrong.push([ms, merged, parts]);
    }
  }
  return { end, n: animations.length, wrong };
}"""


def moves_shown(tab: Tab) -> Any:
    return tab.page.locator(".chip", has_text="Moves").locator("b")


def begin(tab: Tab, address: str = "#/play?board=4x4&seed=7") -> None:
    tab.go(address)
    expect(moves_shown(tab)).to_have_text("0")


def paste(tab: Tab, text: str) -> None:
    tab.page.evaluate(
        """text => {
          const clipboardData = new DataTransfer();
          clipboardData.setData("text", text);
          document.body.dispatchEvent(new ClipboardEvent("paste", {clipboardData, bubbles: true, cancelable: true}));
        }""",
        text,
    )


@pytest.mark.parametrize("per_second", [1, 4, 8, 15, 30])
def test_a_merging_tile_is_seen_in_every_frame_and_slides_shorten_with_the_pace(tab: Tab, per_second: int) -> None:
    begin(tab, PAIRS)
    seen = tab.page.evaluate(FRAMES, 1000 / per_second)
    assert seen["n"] > 0
    assert seen["wrong"] == []
    assert seen["end"] <= 1000 / per_second + 0.01


def test_keys_reach_the_game_after_any_click(tab: Tab) -> None:
    tab.remember(player="random")
    begin(tab)
    slider = tab.page.get_by_role("slider", name="Speed")
    slider.click()
    before = slider.input_value()
    # Left or right is legal on every start, and so is up or down.
    for key in ("ArrowLeft", "ArrowDown", "ArrowRight", "ArrowUp"):
        tab.page.keyboard.press(key)
    tab.until("Number(document.querySelectorAll('.chip b')[2].textContent) >= 2")
    assert slider.input_value() == before
    tab.page.get_by_role("button", name="Choose...").click()
    tab.page.get_by_role("dialog").get_by_role("button", name="Close").click()
    expect(tab.page.get_by_role("dialog")).to_have_count(0)
    tab.page.keyboard.press("Enter")  # starts to play, and does not open the dialog again
    expect(tab.page.get_by_role("button", name="Pause")).to_be_visible()
    expect(tab.page.get_by_role("dialog")).to_have_count(0)
    tab.page.keyboard.press("Enter")
    expect(tab.page.get_by_role("button", name="Autoplay")).to_be_visible()


def test_number_keys_choose_in_the_dialog_of_players(tab: Tab) -> None:
    begin(tab)
    tab.page.get_by_role("button", name="Choose...").click()
    expect(tab.page.get_by_role("dialog")).to_be_visible()
    tab.page.keyboard.press("2")
    expect(tab.page.get_by_role("dialog")).to_have_count(0)
    tab.until("JSON.parse(localStorage.lab2048).player === 'expectimax'")


def test_enter_pauses_on_watch_and_a_reload_keeps_the_boards(tab: Tab) -> None:
    tab.remember(watchPlayers=["random", "greedy"], speed=4)
    tab.go("#/watch")
    tab.page.get_by_role("button", name="Start").click()
    expect(tab.page.locator(".seat-board")).to_have_count(2)
    seeds = tab.page.locator(".seat-board .small").all_inner_texts()
    expect(tab.page.get_by_role("button", name="Pause")).to_be_visible()
    tab.page.keyboard.press("Enter")
    expect(tab.page.locator("main button", has_text=re.compile("^Play"))).to_be_visible()
    tab.page.reload()
    expect(tab.page.locator(".seat-board")).to_have_count(2)
    assert tab.page.locator(".seat-board .small").all_inner_texts() == seeds


def test_boards_that_were_paused_are_paused_after_another_page(tab: Tab) -> None:
    tab.remember(watchPlayers=["random", "greedy"], speed=1)
    tab.go("#/watch")
    tab.page.get_by_role("button", name="Start").click()
    tab.page.get_by_role("button", name="Pause").click()
    play = tab.page.locator("main button", has_text=re.compile("^Play"))
    expect(play).to_be_visible()
    tab.go("#/games")
    expect(tab.page.get_by_role("heading", name="Games", level=1)).to_be_visible()
    expect(tab.page.locator(".toast", has_text="on Watch go on playing")).to_have_count(0)
    tab.go("#/watch")
    expect(tab.page.locator(".seat-board")).to_have_count(2)
    expect(play).to_be_visible()


@pytest.mark.parametrize("form", EVERY)
def test_a_pasted_board_is_taken_as_it_is(tab: Tab, form: str) -> None:
    begin(tab)
    for key in ("ArrowUp", "ArrowLeft"):  # a game without moves is not offered again
        tab.page.keyboard.press(key)
    expect(tab.page.locator(".chip", has_text="Moves").locator("b")).not_to_have_text("0")
    paste(tab, EVERY[form])
    tab.until("ranks => document.querySelector('lab-board').ranks.join() === ranks.join()", FULL)
    tab.page.locator(".toast").get_by_role("button", name="Undo").click()
    tab.until("ranks => document.querySelector('lab-board').ranks.join() !== ranks.join()", FULL)


def test_the_box_for_a_position_says_what_is_wrong(tab: Tab) -> None:
    begin(tab)
    tab.page.get_by_role("button", name="Paste a position").click()
    dialog = tab.page.get_by_role("dialog")
    dialog.get_by_label("Position").fill("2 3 4")
    dialog.get_by_role("button", name="Play this position").click()
    expect(dialog.locator(".error")).to_contain_text("3 is not a tile")
    dialog.get_by_label("Position").fill(EVERY["lines"])
    dialog.get_by_role("button", name="Play this position").click()
    expect(dialog).to_have_count(0)
    assert tab.ranks() == FULL


def test_a_page_that_opened_without_the_server_goes_on_when_it_is_back(tab: Tab, server: Server) -> None:
    begin(tab)
    server.stop()
    tab.page.evaluate("location.hash = '#/games'")
    banner = tab.page.locator("#offline")
    expect(banner).to_contain_text("does not answer")
    expect(tab.page.locator(".toast")).to_have_count(0)
    tab.page.evaluate("location.hash = '#/play'")
    server.start()
    expect(banner).to_be_hidden()
    expect(tab.page.locator("lab-board")).to_be_visible()
    expect(moves_shown(tab)).to_have_text("0")


def test_a_page_that_was_chosen_while_the_server_was_down_is_shown_when_it_is_back(tab: Tab, server: Server) -> None:
    begin(tab)
    server.stop()
    tab.page.evaluate("location.hash = '#/games'")
    expect(tab.page.locator("#offline")).to_contain_text("does not answer")
    server.start()
    expect(tab.page.get_by_role("heading", name="Games", level=1)).to_be_visible()
    expect(tab.page.locator("#offline")).to_be_hidden()


@pytest.mark.parametrize("address", ["#/watch", "#/play"])
def test_players_that_a_new_server_has_paused_are_shown_as_paused(tab: Tab, server: Server, address: str) -> None:
    tab.remember(watchPlayers=["random", "greedy"], player="random", speed=1)
    tab.go(address)
    begins = "Start" if address == "#/watch" else "Autoplay"
    tab.page.get_by_role("button", name=begins).click()
    pause = tab.page.get_by_role("button", name="Pause")
    expect(pause).to_be_visible()
    moved = "(one) => /(^|· )2( moves|$)/.test(one.textContent)"
    tab.until(f"[...document.querySelectorAll('.facts, .chip b')].some({moved})")
    server.stop(signal.SIGKILL)
    server.start()
    expect(pause).to_have_count(0)


def test_a_refusal_goes_when_another_position_is_taken(tab: Tab) -> None:
    begin(tab)
    paste(tab, "hello")
    expect(tab.page.locator(".toast.is-error")).to_be_visible()
    paste(tab, EVERY["lines"])
    tab.until("document.querySelector('lab-board').ranks.every((rank) => rank > 0)")
    expect(tab.page.locator(".toast.is-error")).to_have_count(0)


def test_a_link_with_a_wrong_seed_is_refused(tab: Tab) -> None:
    tab.go("#/play?board=4x4&seed=abc")
    expect(tab.page.locator(".toast.is-error")).to_contain_text("Seed")


def test_on_a_phone_the_board_is_in_sight_when_the_champion_plays_or_a_hint_is_asked_for(phone: Tab) -> None:
    begin(phone)
    for way in ("Watch the champion", "Ask for a hint"):
        control = phone.page.get_by_role("button", name=way)
        control.scroll_into_view_if_needed()
        phone.page.evaluate("scrollTo(0, 400)")
        control.tap()
        expect(phone.page.get_by_role("application", name="Board")).to_be_in_viewport(ratio=1)


def test_another_kind_of_board_can_be_undone_in_a_drawing(tab: Tab) -> None:
    tab.go("#/design?board=" + quote("x 2 / # #"))
    expect(tab.page.locator(".map")).to_have_text("x2|##")
    tab.page.get_by_role("button", name="Triangles").click()
    expect(tab.page.locator(".map")).to_have_text("tri3")
    tab.page.get_by_role("button", name="Undo").click()
    expect(tab.page.locator(".map")).to_have_text("x2|##")
    expect(tab.page.get_by_role("button", name="Squares")).to_have_attribute("aria-pressed", "true")
    expect(tab.page.get_by_label("Rows")).to_have_value("2")
    tab.page.get_by_role("button", name="Redo").click()
    expect(tab.page.locator(".map")).to_have_text("tri3")


def test_a_drawing_survives_a_reload(tab: Tab) -> None:
    tab.go("#/design?board=3x3")
    tab.page.locator(".paint").nth(4).click()
    expect(tab.page.locator(".map")).to_have_text("###|#x#|###")
    tab.page.reload()
    expect(tab.page.locator(".map")).to_have_text("###|#x#|###")
    tab.page.get_by_role("link", name="Games").first.click()
    tab.page.get_by_role("link", name="Design").first.click()
    expect(tab.page.locator(".map")).to_have_text("###|#x#|###")


def test_a_link_to_a_moment_brings_the_whole_game(tab: Tab, make_tab: Any) -> None:
    begin(tab)
    for key in ["ArrowLeft", "ArrowDown", "ArrowRight", "ArrowDown"] * 6:
        tab.page.keyboard.press(key)
    expect(tab.page.locator("lab-board:not([data-busy])")).to_be_attached()
    state = tab.game()["state"]
    tab.page.get_by_role("button", name="Share").first.click()
    found = tab.page.get_by_role("dialog").locator("[data-link]")
    expect(found.nth(1)).to_be_attached()
    links = found.evaluate_all("all => all.map(each => each.dataset.link)")
    other: Tab = make_tab()
    for link, n_moves in ((links[1], state["n_moves"]), (links[0], 0)):
        other.page.goto("about:blank")
        other.page.goto(link)
        expect(moves_shown(other)).to_have_text(str(n_moves))
        assert other.ranks() == state["ranks"]


def test_a_game_that_does_not_exist_says_so(tab: Tab) -> None:
    tab.go("#/play?game=99999")
    expect(tab.page.get_by_role("alert").filter(has_text="There is no game 99999.")).to_be_visible()
    tab.page.get_by_role("alert").get_by_role("link", name="Play").click()
    expect(tab.page.locator("lab-board")).to_be_visible()


def test_the_page_speaks_german_where_the_browser_does(make_tab: Any) -> None:
    tab: Tab = make_tab(locale="de-DE")
    tab.go()
    expect(tab.page.get_by_role("link", name="Spielen").first).to_be_visible()
    expect(tab.page.get_by_role("button", name="Neu", exact=False).first).to_be_visible()
    assert tab.page.evaluate("document.documentElement.lang") == "de"
    tab.page.get_by_role("button", name="Einstellungen").click()
    tab.page.get_by_role("button", name="English").click()
    expect(tab.page.get_by_role("link", name="Play").first).to_be_visible()


def test_the_reason_of_a_hint_is_german(make_tab: Any) -> None:
    tab: Tab = make_tab(locale="de-DE")
    tab.remember(hints="best")
    tab.go("#/play?board=" + quote("2 2 4 4 / 8 # # # / # # # # / # # # #"))
    expect(tab.page.locator(".why")).to_contain_text("leere Felder")
    expect(tab.page.locator(".why")).to_contain_text(re.compile("ergibt|ohne Verschmelzung"))


def test_german_has_no_english_left_in_a_review_and_a_match(make_tab: Any, server: Server) -> None:
    made = server.ask("/api/games", {"rules": {"board": "4x4"}, "seed": 7})["state"]["id"]
    server.ask(f"/api/games/{made}/moves", {"moves": "asdwasdw"})
    match = server.ask("/api/matches", {"players": ["random"], "rules": {"board": "2x2"}, "games": 10, "seed": 1})
    tab: Tab = make_tab(locale="de")
    tab.go(f"#/review/{made}?turn=1")
    expect(tab.page.locator("main")).to_contain_text(re.compile(r"auf Zeile \d Spalte \d"))
    tab.go(f"#/lab/{match['id']}")
    matches = tab.page.get_by_role("region", name="Vergleiche")
    expect(matches).to_contain_text("10 von 10 Partien")
    expect(matches).to_contain_text("fertig")
    expect(tab.page.locator("figcaption").first).to_have_text("Mittlere Punktzahl")


@pytest.mark.parametrize("size", ["large", "laptop", "phone"])
def test_other_rules_open_in_sight(make_tab: Any, size: str) -> None:
    tab: Tab = make_tab(size)
    begin(tab)
    tab.page.get_by_role("button", name="New", exact=True).click()
    dialog = tab.page.get_by_role("dialog")
    dialog.get_by_text("Other rules").click()
    expect(dialog.locator(".rules select").first).to_be_in_viewport(ratio=1)
    # A click fails where something covers the button.
    dialog.get_by_role("button", name="Play", exact=True).click(timeout=5000)
    expect(dialog).to_have_count(0)


def test_an_error_goes_with_its_page_and_a_newer_one_replaces_it(tab: Tab) -> None:
    tab.go("#/games")
    errors = tab.page.locator(".toast.is-error")
    for _ in range(2):
        tab.page.evaluate("import('/static/js/dom.js').then(({ complain }) => complain(new Error('no')))")
        expect(errors).to_have_count(1)
    tab.page.get_by_role("link", name="Design").first.click()
    expect(errors).to_have_count(0)
    tab.wrong.clear()  # the errors that were made here


def test_a_refused_match_says_so_once(tab: Tab) -> None:
    tab.go("#/lab")
    tab.page.get_by_label("First seed").fill("")
    tab.page.route("**/api/matches", lambda route: route.fulfill(status=400, json={"error": "no match today"}))
    tab.page.get_by_role("button", name="Start", exact=True).click()
    expect(tab.page.locator("form .error")).to_have_text("No match today")
    expect(tab.page.locator(".toast")).to_have_count(0)


@pytest.mark.parametrize("size", ["large", "laptop", "phone"])
def test_the_board_is_the_largest_thing_and_new_is_in_sight(make_tab: Any, size: str) -> None:
    tab: Tab = make_tab(size)
    tab.go()
    board = tab.page.locator("lab-board")
    expect(board).to_be_visible()
    expect(tab.page.get_by_role("button", name="New", exact=True)).to_be_in_viewport(ratio=1)
    expect(tab.page.get_by_role("heading", level=1)).to_be_in_viewport()
    side = board.bounding_box()
    assert side
    assert side["width"] >= min(0.6 * SIZES[size]["height"], 0.8 * SIZES[size]["width"])
    assert tab.page.evaluate("document.documentElement.scrollWidth") <= SIZES[size]["width"]
    new = tab.page.get_by_role("button", name="New", exact=True)
    new.tap() if size == "phone" else new.click()
    dialog = tab.page.get_by_role("dialog")
    expect(dialog.locator(".thumb")).to_have_count(10)
    assert not tab.serious()
    hexagons = dialog.get_by_role("button", name=re.compile("^Hexagons"))
    hexagons.tap() if size == "phone" else hexagons.click()
    tab.until("document.querySelector('lab-board').ranks.length === 19")
    expect(tab.page.locator(".moves")).to_contain_text(re.compile("press (?=.*Q)(?=.*W)(?=.*E)"))
    tab.shot(f"feel-{size}")


def test_a_lost_game_leads_on(tab: Tab) -> None:
    tab.remember(player="random", speed=0)
    begin(tab, "#/play?board=2x2&seed=3")
    tab.page.keyboard.press("Enter")
    panel = tab.page.locator(".banner.over")
    expect(panel).to_contain_text("Game over")
    assert not tab.serious()
    seed = tab.page.locator(".seed").inner_text()
    panel.get_by_role("button", name="Same seed").click()
    expect(moves_shown(tab)).to_have_text("0")
    expect(tab.page.locator(".seed")).to_have_text(seed)
    expect(tab.page.locator(".banner")).to_be_empty()


def test_a_deleted_training_comes_back(tab: Tab, server: Server) -> None:
    body = {
        "name": "small",
        "method": "ntuple",
        "network": "rows",
        "minutes": 0.02,
        "rules": {"board": "2x3"},
        "options": {},
    }
    server.ask("/api/trainings", body)
    tab.go("#/train/small")
    detail = tab.page.get_by_role("region", name="The training")
    expect(detail).to_contain_text("done")
    detail.get_by_role("button", name="Delete", exact=True).click()
    expect(tab.page.get_by_text("None yet. A network learns by playing")).to_be_visible()  # the list has come again
    expect(detail).to_be_hidden()
    tab.page.locator(".toast").get_by_role("button", name="Undo").click()
    expect(detail).to_be_visible()
    assert [each["name"] for each in server.ask("/api/trainings")["trainings"]] == ["small"]


def test_a_deleted_table_and_a_forgotten_match_come_back(tab: Tab, server: Server) -> None:
    match = {"players": ["random"], "rules": {"board": "2x2"}, "games": 1, "seed": 1}
    title = re.compile("^Random on 2x2, 1 game$")
    server.ask("/api/matches", match)
    tab.go("#/lab")
    detail = tab.page.get_by_role("region", name="The match")
    detail.get_by_role("button", name=re.compile("^Forget")).click()
    table = tab.page.get_by_role("table", name="Matches")
    expect(table).to_have_count(0)
    tab.page.locator(".toast").get_by_role("button", name="Undo").click()
    expect(table.get_by_role("link", name=title)).to_be_visible()
    tab.go("#/solve")
    tab.page.get_by_role("button", name="Solve 2x2 to 16").click()
    row = tab.page.get_by_role("table", name="Tables").locator("tbody tr")
    expect(row).to_have_count(1)
    row.get_by_role("button", name=re.compile("^Delete")).click()
    expect(row).to_have_count(0)
    tab.page.locator(".toast", has_text="deleted").get_by_role("button", name="Undo").click()
    expect(row).to_have_count(1)
    expect(tab.page.get_by_role("region", name="Browse a table")).to_contain_text("96.3%")


def test_my_best_is_of_games_that_i_played_alone(tab: Tab, server: Server) -> None:
    made = server.ask("/api/games", {"rules": {"board": "4x4"}, "seed": 7})["state"]["id"]
    mine = server.ask(f"/api/games/{made}/moves", {"moves": "asdw" * 8})["state"]["score"]
    match = {"players": ["greedy"], "rules": {"board": "4x4"}, "games": 1, "seed": 1}
    server.ask("/api/matches", match)
    tab.go("#/lab")
    expect(tab.page.get_by_role("region", name="The match")).to_contain_text("done")
    begin(tab)
    expect(tab.page.locator(".chip", has_text="My best").locator("b")).to_have_text(f"{mine:,}")


def test_design_offers_no_goal_that_cannot_be_reached(tab: Tab) -> None:
    tab.go("#/design?board=2x2")
    expect(tab.page.locator(".facts-list")).to_contain_text("4, all empty")
    tab.until("document.querySelector('select[name=goal]').value === '32'")
    offered = tab.page.locator("select[name=goal] option:not([disabled])").evaluate_all(
        "all => all.map((one) => one.value)"
    )
    assert max(int(tile) for tile in offered) == 32
