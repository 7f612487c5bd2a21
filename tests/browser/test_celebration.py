"""What a good game earns: a panel that leads on, points that rise, a word for a new tile, and sounds."""

from typing import Any
from urllib.parse import urlencode

import pytest
from playwright.sync_api import expect

from .conftest import Tab
from .test_feel import begin, moves_shown

WIN = "#/play?" + urlencode({"board": "1024 1024 # # / # # # # / # # # # / # # # #", "seed": 7})


@pytest.mark.parametrize("motion", ["reduce", "no-preference"])
def test_a_win_celebrates_and_leads_on(make_tab: Any, motion: str) -> None:
    tab: Tab = make_tab(reduced_motion=motion)
    begin(tab, WIN)
    tab.page.keyboard.press("ArrowLeft")
    panel = tab.page.locator(".banner.won")
    expect(panel).to_contain_text("2048! You win.")
    assert panel.locator(".confetti").is_visible() == (motion == "no-preference")
    for name in ("Review", "Share", "New game"):
        expect(panel.get_by_role("button", name=name)).to_be_visible()
    assert not tab.serious()
    panel.get_by_role("button", name="Keep playing").click()
    expect(panel).to_have_count(0)
    tab.page.keyboard.press("ArrowRight")
    expect(moves_shown(tab)).to_have_text("2")


def test_a_new_highest_tile_and_points_are_seen(tab: Tab) -> None:
    tab.page.add_init_script(
        """new MutationObserver((all) => {
          const made = all.flatMap(({ addedNodes }) => [...addedNodes]);
          seen.push(...made.filter((one) => /^(rise|milestone)$/.test(one.className)).map((one) => one.textContent));
        }).observe(document, { childList: true, subtree: true });
        globalThis.seen = [];"""
    )
    begin(tab, "#/play?" + urlencode({"board": "64 64 # # / # # # # / # # # # / # # # #", "seed": 5}))
    tab.page.keyboard.press("ArrowLeft")
    tab.until("seen.includes('+128') && seen.includes('128')")


@pytest.mark.parametrize("choice", ["Off", "On"])
def test_sounds_are_heard_only_where_they_are_wanted(tab: Tab, choice: str) -> None:
    tab.page.add_init_script(
        """globalThis.notes = 0;
        globalThis.AudioContext = class {
          currentTime = 0;
          #node = () => new Proxy({}, { get: (_, name) => (name === "connect" ? (to) => to : Object.assign(() => {}, {
            setValueAtTime() {}, linearRampToValueAtTime() {}, exponentialRampToValueAtTime() {} })) });
          createOscillator() { notes += 1; return this.#node(); }
          createGain() { return this.#node(); }
        };"""
    )
    begin(tab)
    tab.page.get_by_role("button", name="Settings").click()
    dialog = tab.page.get_by_role("dialog")
    sound = dialog.get_by_role("group", name="Sound")
    expect(sound.get_by_role("button", name="Off")).to_have_attribute("aria-pressed", "true")
    sound.get_by_role("button", name=choice, exact=True).click()
    dialog.get_by_role("button", name="Close").click()
    for key in ("ArrowUp", "ArrowLeft"):
        tab.page.keyboard.press(key)
    expect(moves_shown(tab)).not_to_have_text("0")
    expect(tab.page.locator("lab-board:not([data-busy])")).to_be_attached()
    assert (tab.page.evaluate("notes") > 0) == (choice == "On")
