"""Journeys that set long work going: matches, trainings, solves."""

import re

from playwright.sync_api import expect

from .conftest import Server, Tab


def test_run_a_match_and_see_the_chart(tab: Tab) -> None:
    tab.go("#/lab")
    tab.page.get_by_label("Games each").fill("40")
    command = tab.page.locator("form .cmd code")
    expect(command).to_contain_text("lab2048 match random first:order=as")
    expect(command).to_contain_text("--games 40")
    tab.page.get_by_role("button", name="Start").click()
    detail = tab.page.get_by_role("region", name="The match")
    expect(detail).to_contain_text("done")
    expect(detail.locator(".canvas .main-svg").first).to_be_visible()
    detail.get_by_text("Table").click()
    expect(detail.locator("figure table tbody tr")).to_have_count(2)
    tab.shot("lab-match")
    assert not tab.serious()
    for name in ("Rates of tiles", "Distribution", "Differences"):
        detail.get_by_role("button", name=name).click()
        expect(detail.locator(".canvas .main-svg").first).to_be_visible()
    with tab.page.expect_download() as download:
        detail.get_by_role("link", name="Results as CSV").click()
    assert "random" in download.value.path().read_text()


def test_reload_during_a_job(tab: Tab, server: Server) -> None:
    tab.go("#/lab")
    tab.page.get_by_label("Games each").fill("100000")
    tab.page.get_by_role("button", name="Start").click()
    tray = tab.page.locator("#tray")
    expect(tray).to_have_attribute("aria-label", re.compile("random"))
    tab.page.reload()
    expect(tray).to_have_attribute("aria-label", re.compile("random"))
    tray.click()
    dialog = tab.page.get_by_role("dialog")
    dialog.get_by_role("button", name=re.compile("^Stop")).click()
    expect(dialog).to_contain_text("cancelled")
    assert [job["state"] for job in server.ask("/api/jobs")["jobs"]] == ["cancelled"]


def test_train_and_play_the_result(tab: Tab) -> None:
    """Seconds, not the minute that the button offers: what is learnt is another question."""
    tab.go("#/train")
    tab.page.get_by_role("textbox", name="Map").fill("2x3")
    tab.page.get_by_label("Minutes").fill("0.1")
    tab.page.get_by_label("Name").fill("small")
    expect(tab.page.locator("form .cmd code")).to_contain_text("lab2048 train ntuple")
    tab.page.get_by_role("button", name="Start").click()
    detail = tab.page.get_by_role("region", name="The training")
    expect(detail).to_contain_text("done")
    expect(detail.locator(".canvas .main-svg").first).to_be_visible()
    tab.shot("train-done")
    assert not tab.serious()
    detail.get_by_role("button", name="Play with it").click()
    who = tab.page.get_by_role("group", name="Who moves")
    who.get_by_role("button").nth(1).click()
    tab.until("Number(document.querySelectorAll('.chip b')[2].textContent) > 3")
    who.get_by_role("button", name="Me", exact=True).click()
    assert any("weights=small" in who for _, who in tab.game()["state"]["movers"])


def test_solve_and_browse(tab: Tab) -> None:
    tab.go("#/solve")
    expect(tab.page.locator("form [role=status]")).to_contain_text(re.compile("solved here", re.IGNORECASE))
    expect(tab.page.locator("form .cmd code")).to_contain_text("lab2048 solve 2x2")
    tab.page.get_by_role("button", name="Solve", exact=True).click()
    browse = tab.page.get_by_role("region", name="Browse a table")
    expect(browse).to_contain_text("96.3%")
    expect(browse.locator(".values .best")).to_have_count(1)
    before = browse.get_by_role("textbox", name="Position").input_value()
    browse.locator(".spawn").last.click()  # the worst spawn
    expect(browse.get_by_role("textbox", name="Position")).not_to_have_value(before)
    browse.get_by_role("button", name="Back").click()
    expect(browse.get_by_role("textbox", name="Position")).to_have_value(before)
    browse.locator(".hard button").first.click()
    expect(browse.get_by_role("textbox", name="Position")).not_to_have_value(before)
    tab.shot("solve-browse")
    assert not tab.serious()
    browse.get_by_role("button", name="Play it", exact=True).click()
    expect(tab.page.locator(".values")).to_contain_text("%")
