"""Journeys through the Play page."""

import json
import re
import signal
from typing import Any
from urllib.parse import urlencode

from playwright.sync_api import expect
from store_holder import held

from .conftest import Server, Tab

WIN = "#/play?" + urlencode({"board": "1024 1024 # # / # # # 2 / # # # # / # # # #", "goal": 2048, "seed": 5})
ARROWS = ["ArrowUp", "ArrowRight", "ArrowDown", "ArrowLeft"]


def moves_shown(tab: Tab) -> Any:
    return tab.page.locator(".chip", has_text="Moves").locator("b")


def is_in_step(tab: Tab) -> None:
    """What the page shows is what the server has."""
    expect(tab.page.locator("lab-board:not([data-busy])")).to_be_attached()  # every key has been answered
    state = tab.game()["state"]
    expect(moves_shown(tab)).to_have_text(f"{state['n_moves']:,}")
    assert tab.ranks() == state["ranks"]


def press(tab: Tab, keys: str) -> None:
    for key in keys.split():
        tab.page.keyboard.press(key)


def begin(tab: Tab, address: str = "#/play?board=4x4&seed=7") -> None:
    tab.go(address)
    expect(moves_shown(tab)).to_have_text("0")


def test_play_by_keys(tab: Tab) -> None:
    begin(tab)
    before = tab.ranks()
    press(tab, ARROWS[tab.game()["state"]["legal"][0]])
    expect(tab.page.locator("#live")).to_have_text(re.compile(r"New [24] at row \d column \d\. \d+ empty"))
    expect(moves_shown(tab)).to_have_text("1")
    press(tab, "ArrowDown ArrowRight KeyW KeyA KeyS h j k l")
    expect(tab.page.locator(".chip", has_text="Score").locator("b")).not_to_have_text("0")
    assert tab.ranks() != before
    is_in_step(tab)


def test_the_command_that_does_the_same_names_spawn_and_spawner(tab: Tab) -> None:
    begin(tab, "#/play?" + urlencode({"board": "3x3", "spawn": "2:0.5,4:0.5", "spawner": "worst", "seed": 7}))
    command = "lab2048 play --rules 3x3 --spawn 2:0.5,4:0.5 --spawner worst --seed 7"
    expect(tab.page.locator(".commands code", has_text="lab2048 play")).to_have_text(command)
    assert tab.game()["commands"]["play"] == command


def test_after_the_champion_another_board_has_its_own_best_player(tab: Tab) -> None:
    begin(tab)
    tab.page.get_by_text("Watch the champion").click()
    expect(moves_shown(tab)).not_to_have_text("0")
    begin(tab, "#/play?board=3x3&seed=7")
    expect(tab.page.get_by_role("group", name="Who moves").get_by_text("Expectimax")).to_be_visible()
    press(tab, "Enter")
    expect(moves_shown(tab)).not_to_have_text("0")


def test_no_key_is_lost_when_typing_fast(tab: Tab) -> None:
    """Sixty keys at once: all are made, in order, or could not be."""
    begin(tab)
    letters = "asdw" * 15
    tab.page.evaluate(
        """letters => [...letters].forEach(letter => document.dispatchEvent(new KeyboardEvent("keydown",
            {key: letter, code: "Key" + letter.toUpperCase(), bubbles: true, cancelable: true})))""",
        letters,
    )
    made = tab.server.ask("/api/games", {"rules": {"board": "4x4"}, "seed": 7})["state"]["id"]
    expected = tab.server.ask(f"/api/games/{made}/moves", {"moves": letters})["state"]
    expect(moves_shown(tab)).to_have_text(str(expected["n_moves"]))
    assert tab.ranks() == expected["ranks"]
    is_in_step(tab)


def test_swipe(phone: Tab) -> None:
    begin(phone)
    box = phone.page.locator("lab-board").bounding_box()
    assert box
    x, y = box["x"] + box["width"] / 2, box["y"] + box["height"] / 2
    touch = phone.context.new_cdp_session(phone.page)

    def swipe(dx: float, dy: float) -> None:
        touch.send("Input.dispatchTouchEvent", {"type": "touchStart", "touchPoints": [{"x": x, "y": y}]})
        for share in (0.3, 0.6, 1.0):
            point = {"x": x + dx * share, "y": y + dy * share}
            touch.send("Input.dispatchTouchEvent", {"type": "touchMove", "touchPoints": [point]})
        touch.send("Input.dispatchTouchEvent", {"type": "touchEnd", "touchPoints": []})

    total = 0
    for dx, dy in [(-90, 5), (4, 90), (90, 0), (0, -90), (-90, 0)]:
        move = {(-90): 3, 90: 1}.get(dx, 2 if dy > 0 else 0)
        total += move in phone.game()["state"]["legal"]
        swipe(dx, dy)
        expect(moves_shown(phone)).to_have_text(str(total))
    assert total >= 3
    assert phone.game()["moves"] == phone.game()["moves"].strip("?")
    phone.page.get_by_role("button", name=re.compile("^(Up|Down|Left|Right)")).nth(3).tap()  # the bars are buttons
    is_in_step(phone)


def test_undo_across_a_win(tab: Tab) -> None:
    begin(tab, WIN)
    press(tab, "ArrowLeft")
    banner = tab.page.locator(".banner")
    expect(banner).to_contain_text("2048!")
    press(tab, "ArrowRight")  # it does not block
    expect(moves_shown(tab)).to_have_text("2")
    press(tab, "u u")
    expect(moves_shown(tab)).to_have_text("0")
    expect(banner).to_be_empty()
    assert tab.game()["state"]["won"] is False
    press(tab, "y")
    expect(banner).to_contain_text("2048!")
    assert tab.game()["state"]["won"] is True
    is_in_step(tab)


def test_players_change_in_the_middle_of_a_game(tab: Tab) -> None:
    begin(tab)
    press(tab, "ArrowLeft ArrowDown ArrowLeft ArrowUp")
    who = tab.page.get_by_role("group", name="Who moves")
    tab.page.get_by_role("button", name="Choose...").click()
    tab.page.get_by_label("Any player, with its options").fill("first:order=as")
    tab.page.get_by_role("button", name="Use", exact=True).click()
    tab.until("Number(document.querySelectorAll('.chip b')[2].textContent) > 9")
    expect(tab.page.get_by_role("button", name="Pause")).to_be_visible()
    who.get_by_role("button", name="Me", exact=True).click()
    expect(tab.page.get_by_role("button", name="Autoplay")).to_be_visible()
    state = tab.game()["state"]
    move = state["legal"][0]
    press(tab, ARROWS[move])
    expect(moves_shown(tab)).to_have_text(str(state["n_moves"] + 1))
    movers = [who for _, who in tab.game()["state"]["movers"]]
    assert movers == ["human", "first:order=as", "human"]
    expect(tab.page.locator(".moves .ai")).not_to_have_count(0)
    is_in_step(tab)


def test_auto_play_as_fast_as_it_goes_and_take_over(tab: Tab) -> None:
    tab.remember(player="random", speed=0)
    begin(tab, "#/play?board=3x3&seed=3")
    press(tab, "Enter")
    expect(tab.page.locator(".banner.over")).to_contain_text("Game over")
    expect(tab.page.get_by_role("button", name="Autoplay")).to_be_disabled()
    is_in_step(tab)
    tab.page.locator(".banner").get_by_role("button", name="Undo").click()
    expect(tab.page.locator(".banner")).to_be_empty()
    assert tab.game()["state"]["over"] is False


def test_hints_around_the_board(tab: Tab) -> None:
    begin(tab)
    arrow = tab.page.locator("lab-board .arrow")
    expect(arrow).to_be_hidden()
    press(tab, "t")
    expect(arrow).to_be_visible()
    press(tab, "t")
    expect(tab.page.get_by_role("button", name=re.compile("best, worth"))).to_have_count(1)
    best = tab.page.locator(".values .best").inner_text()
    press(tab, "Space")
    expect(moves_shown(tab)).to_have_text("1")
    last = tab.game()["moves"][-1]
    assert {"w": "Up", "d": "Right", "s": "Down", "a": "Left"}[last] == best
    expect(tab.page.locator(".cmd code").first).to_contain_text("lab2048 hint")


def test_a_new_game_keeps_the_old_one(tab: Tab) -> None:
    begin(tab)
    press(tab, "ArrowLeft ArrowDown ArrowLeft ArrowUp ArrowRight")
    tab.until("Number(document.querySelectorAll('.chip b')[2].textContent) >= 3")
    old = tab.game()
    press(tab, "n")
    expect(moves_shown(tab)).to_have_text("0")
    assert tab.game()["state"]["id"] != old["state"]["id"]
    offer = tab.page.locator(".toast", has_text="the old one is saved")
    expect(offer).to_have_count(1)
    offer.get_by_role("button", name="Undo").click()
    expect(moves_shown(tab)).to_have_text(str(old["state"]["n_moves"]))
    assert tab.ranks() == old["state"]["ranks"]
    press(tab, "n")
    expect(moves_shown(tab)).to_have_text("0")
    expect(offer).to_have_count(1)


def test_nothing_is_offered_for_a_game_without_moves(tab: Tab) -> None:
    begin(tab)
    old = tab.game()["state"]["id"]
    press(tab, "n")
    tab.until("old => JSON.parse(localStorage.getItem('lab2048')).game !== old", old)
    expect(tab.page.locator("lab-board[data-busy]")).to_have_count(0)
    assert tab.page.locator(".toast").count() == 0


def test_a_bad_link_keeps_the_game_in_progress(tab: Tab) -> None:
    begin(tab)
    press(tab, "ArrowLeft ArrowDown ArrowLeft ArrowUp ArrowRight")
    tab.until("Number(document.querySelectorAll('.chip b')[2].textContent) >= 3")
    old = tab.game()
    tab.go("#/play?board=hello")
    expect(tab.page.locator(".toast")).to_be_visible()
    expect(moves_shown(tab)).to_have_text(str(old["state"]["n_moves"]))
    assert tab.game()["state"]["id"] == old["state"]["id"]
    assert tab.ranks() == old["state"]["ranks"]
    tab.until("location.hash === '#/play'")


def test_a_hint_is_not_drawn_on_a_board_of_another_shape(tab: Tab) -> None:
    begin(tab, "#/play?board=tri4&seed=1")
    press(tab, "t")
    expect(tab.page.locator("lab-board .arrow")).to_be_visible()
    assert "best" in (tab.page.locator("button.dir").nth(5).get_attribute("class") or "")  # squares have four moves
    tab.page.locator(".bar button", has_text="New").click()
    tab.page.locator("dialog button.thumb", has_text="Pillars").click()
    expect(tab.page.locator("dialog")).to_have_count(0)
    expect(tab.page.locator("button.dir.best")).to_have_count(1)


def test_hexagons(tab: Tab) -> None:
    begin(tab, "#/play?board=hex2&seed=7")
    expect(tab.page.get_by_role("button", name=re.compile("-right|-left|^Up|^Down"))).to_have_count(6)
    press(tab, "q w e a s d")
    tab.until("Number(document.querySelectorAll('.chip b')[2].textContent) >= 3")
    assert len(tab.ranks()) == 19
    is_in_step(tab)


def test_two_tabs_show_one_game(make_tab: Any) -> None:
    one: Tab = make_tab()
    begin(one)
    number = one.game()["state"]["id"]
    two: Tab = make_tab()
    two.go(f"#/play?game={number}")
    expect(moves_shown(two)).to_have_text("0")
    for here, there, keys in [(one, two, "ArrowLeft ArrowDown"), (two, one, "ArrowRight ArrowUp ArrowLeft")]:
        before = here.game()["state"]["n_moves"]
        press(here, keys)
        is_in_step(here)
        assert here.game()["state"]["n_moves"] > before
        there.until("ranks => document.querySelector('lab-board').ranks.join() === ranks.join()", here.ranks())
        is_in_step(there)


def test_a_game_that_another_tab_deletes_says_so_and_a_new_one_can_be_started(make_tab: Any) -> None:
    one: Tab = make_tab()
    one.remember(player="random", speed=4)
    begin(one)
    number = one.game()["state"]["id"]
    press(one, "ArrowLeft ArrowDown")  # a game without a saved move is not listed
    one.until("Number(document.querySelectorAll('.chip b')[2].textContent) >= 1")
    press(one, "Enter")
    expect(one.page.get_by_role("button", name="Pause")).to_be_visible()
    two: Tab = make_tab()
    two.go("#/games")
    two.page.locator("select[name=kind]").select_option("play")
    two.page.get_by_role("row").filter(has_text=str(number)).get_by_role("button", name="Delete").click()
    banner = one.page.locator(".banner.deleted")
    expect(banner).to_contain_text("This game was deleted")
    expect(one.page.get_by_role("button", name="Autoplay")).to_be_disabled()
    shown = one.ranks()
    press(one, " ".join(ARROWS))
    assert one.ranks() == shown
    # Undone in the other tab, it can be played again here; deleted again, another one can.
    two.page.locator(".toast").get_by_role("button", name="Undo").click()
    expect(banner).to_have_count(0)
    expect(one.page.get_by_role("button", name="Autoplay")).to_be_enabled()
    one.server.ask(f"/api/games/{number}", method="DELETE")
    banner.get_by_role("button", name="New game").click()
    expect(one.page.locator(".banner")).to_be_empty()
    expect(moves_shown(one)).to_have_text("0")
    assert one.game()["state"]["id"] != number
    is_in_step(one)


def test_hints_wait_for_the_player_without_an_error(make_tab: Any, server: Server) -> None:
    """The page is opened before the players are ready; the browser would log every refused request as an error."""
    server.stop()
    tab: Tab = make_tab()
    tab.remember(hints="all", player="ntuple")
    refused: list[str] = []
    tab.page.on("response", lambda answer: refused.append(answer.url) if answer.status >= 400 else None)
    server.start()
    begin(tab)
    press(tab, "Enter")  # also before the player is ready: it plays when it is
    expect(tab.page.locator(".values .best")).to_be_visible()
    tab.until("Number(document.querySelectorAll('.chip b')[2].textContent) > 1")
    assert refused == []


def test_a_refusal_that_the_news_overtakes_is_not_the_end(tab: Tab) -> None:
    """The player gets ready while the answer that it is not is on its way."""
    tab.remember(player="random", hints="off")
    events: list[Any] = []
    answers: list[Any] = []
    tab.page.route("**/api/events*", lambda route: events.append(route))
    tab.page.route("**/api/ready*", lambda route: answers.append(route))
    begin(tab)
    press(tab, "Enter")
    while not answers:
        tab.page.wait_for_timeout(10)
    tab.page.unroute("**/api/events*")
    for route in events:
        route.continue_()
    tab.until("import('/static/js/stream.js').then(({ stream }) => stream.status?.ready)")
    answers[0].fulfill(json={"ready": False, "doing": "Preparing"})
    tab.until("Number(document.querySelectorAll('.chip b')[2].textContent) > 1")


def test_a_random_player_gives_no_hints(tab: Tab) -> None:
    tab.remember(player="random", hints="best")
    begin(tab)
    expect(tab.page.locator("aside")).to_contain_text("Champion, depth")
    expect(tab.page.locator("aside")).to_contain_text("Best move:")


def test_hints_show_one_quantity_and_name_it(tab: Tab) -> None:
    tab.remember(hints="all", player="ntuple:depth=1")
    begin(tab)
    expect(tab.page.locator(".quantity")).to_have_text("Expected further score")
    id_ = tab.game()["state"]["id"]
    values = tab.server.ask("/api/hint", {"game": id_, "player": "ntuple:depth=1"})["values"]
    texts = tab.page.locator(".values .n").all_inner_texts()
    shown = [float(re.sub(r"[^0-9.]", "", text)) for text in texts]
    assert len(shown) == len(values) > 1
    assert all(abs(a - each["value"]) < 1 for a, each in zip(shown, values, strict=True))  # also of worse moves


def test_a_board_of_triangles_is_one_of_the_presets_and_has_one_frame(tab: Tab) -> None:
    begin(tab)
    tab.page.get_by_role("button", name="Other rules").click()
    presets = tab.page.locator("dialog select[name=preset]")
    expect(presets).to_have_value("4x4")
    presets.select_option("tri3")
    tab.page.locator("dialog").get_by_role("button", name="Play").click()
    expect(tab.page.locator("lab-board svg.frame polygon")).to_have_count(9)
    frame = tab.page.locator("lab-board svg.frame polygon").first
    assert frame.evaluate("polygon => getComputedStyle(polygon).strokeLinejoin") == "round"
    assert len(tab.ranks()) == 9
    tab.shot("triangles")


def test_a_server_that_dies_loses_nothing(tab: Tab, server: Server) -> None:
    begin(tab)
    press(tab, "ArrowLeft ArrowDown ArrowLeft ArrowUp ArrowRight")
    tab.until("Number(document.querySelectorAll('.chip b')[2].textContent) >= 3")
    before = tab.game()["state"]
    server.stop(signal.SIGKILL)
    expect(tab.page.locator("#dot .dot")).not_to_have_attribute("data-state", "open")
    server.start()
    expect(tab.page.get_by_role("button", name=re.compile("^Connected"))).to_be_visible()
    after = tab.game()["state"]
    assert (after["ranks"], after["score"], after["n_moves"]) == (before["ranks"], before["score"], before["n_moves"])
    press(tab, ARROWS[after["legal"][0]])
    expect(moves_shown(tab)).to_have_text(str(before["n_moves"] + 1))
    is_in_step(tab)


def test_moves_that_cannot_be_saved_are_marked_until_they_are(tab: Tab, make_tab: Any, server: Server) -> None:
    begin(tab)
    press(tab, "ArrowDown ArrowRight ArrowLeft")
    is_in_step(tab)
    phone = make_tab("phone")
    phone.remember(game=tab.game()["state"]["id"])
    notice = tab.page.locator("#unsaved")
    label = tab.page.locator(".chip span", has_text="Not saved yet")
    with held(server.home / "data" / "lab2048" / "games.sqlite"):
        expect(notice).to_be_hidden()
        press(tab, "ArrowDown ArrowRight ArrowUp ArrowLeft")
        expect(label).to_be_visible()
        expect(notice).to_contain_text("Not saved yet: 1 game.")
        expect(notice).to_contain_text("is locked by another program")
        phone.go()
        expect(phone.page.locator("#unsaved")).to_be_visible()
        assert tab.serious() == phone.serious() == []
        tab.shot("not-saved-desk")
        phone.shot("not-saved-phone")
        with tab.page.expect_download() as download:
            notice.get_by_role("link", name="Download").click()
        [line] = download.value.path().read_text().splitlines()
        assert len(json.loads(line)["moves"]) == tab.game()["state"]["n_moves"]
    expect(notice).to_be_hidden()
    expect(label).to_be_hidden()
    is_in_step(tab)


def test_the_modes_of_expectimax_are_buttons_and_go_on_in_the_background(tab: Tab) -> None:
    begin(tab)
    mode = tab.page.get_by_role("group", name="Expectimax plays").get_by_role("button", name="Fast")
    mode.click()
    expect(mode).to_have_attribute("aria-pressed", "true")
    game = "/api/games/${JSON.parse(localStorage.lab2048).game}"
    # The button is pressed at once, and the server is told.
    tab.until(f"async () => (await (await fetch(`{game}`)).json()).state.auto?.player === 'expectimax:mode=fast'")
    tab.page.get_by_role("link", name="Games").first.click()
    expect(tab.page.get_by_role("heading", name="Games", level=1)).to_be_visible()
    before = tab.game()["state"]["n_moves"]
    tab.until(f"async (n) => (await (await fetch(`{game}`)).json()).state.n_moves > n + 3", before)
    tab.page.get_by_role("link", name="Play").first.click()
    expect(mode).to_have_attribute("aria-pressed", "true")
    tab.page.get_by_role("button", name="Pause").first.click()
    expect(mode).to_have_attribute("aria-pressed", "false")


def test_boards_on_watch_go_on_in_the_background(tab: Tab) -> None:
    tab.remember(watchPlayers=["random"], speed=4)
    tab.go("#/watch")
    tab.page.get_by_role("group", name="Add expectimax").get_by_role("button", name="Optimal").click()
    tab.page.get_by_role("button", name="Start").click()
    expect(tab.page.locator(".seat-board")).to_have_count(2)
    tab.page.get_by_role("link", name="Design").first.click()
    expect(tab.page.locator(".toast", has_text="2 players on Watch go on playing")).to_be_visible()
    tab.page.get_by_role("link", name="Watch").first.click()
    expect(tab.page.locator(".seat-board")).to_have_count(2)
    expect(tab.page.locator(".seat-board h2").nth(1)).to_have_text("Expectimax, optimal")
