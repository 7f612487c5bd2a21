"""Journeys that set long work going: matches, trainings, solves."""

import re
from importlib.util import find_spec

import pytest
from playwright.sync_api import expect

from .conftest import Server, Tab


def test_run_a_match_and_see_the_chart(tab: Tab) -> None:
    tab.go("#/lab")
    tab.page.get_by_label("Games per player").fill("40")
    command = tab.page.locator("form .cmd code")
    expect(command).to_contain_text("lab2048 match random greedy")
    expect(command).to_contain_text("--games 40")
    tab.page.get_by_role("button", name="Start", exact=True).click()
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


def test_a_first_match_is_listed_with_the_names_of_its_players(tab: Tab) -> None:
    tab.go("#/lab")
    tab.page.get_by_label("Games per player").fill("2")
    tab.page.get_by_role("button", name="Start a first match").click()  # has the focus when the list is drawn
    title = "Random, Greedy on 4x4, 2 games"
    expect(tab.page.get_by_role("table", name="Matches").get_by_role("link", name=title)).to_be_visible()
    detail = tab.page.get_by_role("region", name="The match")
    expect(detail.locator(".xtick").first).to_have_text("Random")
    detail.get_by_text("Table", exact=True).click()
    expect(detail.get_by_role("cell", name="Greedy")).to_be_visible()


def test_minutes_are_refused_in_one_way(tab: Tab) -> None:
    tab.go("#/train")
    minutes = tab.page.get_by_label("Minutes")
    minutes.fill("0")
    expect(tab.page.locator("form .error")).to_contain_text("more than 0")
    minutes.fill("0.05")
    expect(tab.page.locator("form .cmd code")).to_contain_text("--minutes 0.05")
    assert minutes.evaluate("(field) => field.checkValidity()")


def test_reload_during_a_job(tab: Tab, server: Server) -> None:
    tab.go("#/lab")
    tab.page.get_by_label("Games per player").fill("100000")
    tab.page.get_by_role("button", name="Start", exact=True).click()
    tray = tab.page.locator("#tray")
    expect(tray).to_have_attribute("aria-label", re.compile("Random"))
    tab.page.reload()
    expect(tray).to_have_attribute("aria-label", re.compile("Random"))
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
    tab.page.get_by_text("Patterns of the network").click()
    picture = tab.page.get_by_role("img", name=re.compile("^The patterns of the network .* on 2x3 and their"))
    tab.until("document.querySelector('.patterns img').naturalWidth > 100")
    expect(picture).to_be_visible()
    tab.page.get_by_role("button", name="Start").click()
    detail = tab.page.get_by_role("region", name="The training")
    expect(detail).to_contain_text("done")
    expect(detail.locator(".canvas .main-svg").first).to_be_visible()
    detail.get_by_role("button", name="Keep the last checkpoint").click()
    expect(detail.locator("tbody tr", has_text="@1")).to_contain_text("kept")
    tab.shot("train-done")
    assert not tab.serious()
    detail.get_by_role("button", name="Play with checkpoint 1").click()
    who = tab.page.get_by_role("group", name="Who moves")
    expect(who.get_by_role("button").nth(1)).to_have_text("small@1")
    who.get_by_role("button").nth(1).click()
    tab.until("Number(document.querySelectorAll('.chip b')[2].textContent) > 3")
    who.get_by_role("button", name="Me", exact=True).click()
    assert any("weights=small@1" in who for _, who in tab.game()["state"]["movers"])
    assert tab.game()["state"]["rules"]["goal"] == 128  # the largest tile on six cells
    tab.page.get_by_role("button", name="Choose...").click()
    dialog = tab.page.get_by_role("dialog")
    expect(dialog.get_by_role("button", name="small trained here")).to_be_visible()
    expect(dialog.get_by_role("button", name="Close")).to_be_in_viewport(ratio=1)


def test_pause_a_training_and_go_on(tab: Tab) -> None:
    tab.go("#/train")
    tab.page.get_by_role("textbox", name="Map").fill("2x3")
    tab.page.locator("select[name=network]").select_option("rows")
    tab.page.get_by_label("Minutes").fill("30")
    tab.page.get_by_role("button", name="Start").click()
    detail = tab.page.get_by_role("region", name="The training")
    expect(detail.locator(".canvas .main-svg").first).to_be_visible()
    delete = detail.locator("button", has_text="Delete").first
    for _ in range(2):
        expect(delete).to_be_hidden()
        detail.get_by_role("button", name=re.compile("^Pause")).click()
        expect(detail).to_contain_text("paused")
        expect(delete).to_be_visible()
        detail.get_by_role("button", name=re.compile("^Resume")).click()


@pytest.mark.skipif(find_spec("torch") is None, reason="deep networks need torch")
def test_a_deep_training_says_what_it_takes(tab: Tab) -> None:
    tab.go("#/train")
    writes = tab.page.locator("form [role=status]")
    tab.page.locator("select[name=network]").select_option("best")
    expect(writes).to_contain_text("Writes at most 1.63 GB at its end")
    tab.page.get_by_label("Minutes").fill("60")
    expect(writes).to_contain_text("Writes at most 1.63 GB every 5 minutes, up to 3.26 GB in a long training")
    tab.page.locator("select[name=method]").select_option("afterstate")
    expect(writes).to_contain_text("up to 20 checkpoints")
    expect(tab.page.locator("form .cmd code")).to_contain_text("lab2048 train afterstate")
    tab.page.get_by_text("Advanced options").click()
    expect(tab.page.get_by_label("crowd")).to_have_accessible_description("Games played in parallel")
    tab.page.get_by_label("crowd").fill("0")
    expect(tab.page.locator("form .error")).to_have_text("Crowd 0 is out of range: expected 1 to 65536")
    tab.page.get_by_label("crowd").fill("")
    tab.page.get_by_label("Name").fill("My Net")
    expect(tab.page.locator("form .error")).to_contain_text(
        "Name 'My Net' is not accepted: expected a name of at most 40"
    )
    tab.shot("train-deep")
    assert not tab.serious()


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
    expect(browse.locator("figure .main-svg").first).to_be_visible()  # boards by layer
    browse.locator(".hard button").first.click()
    expect(browse.get_by_role("textbox", name="Position")).not_to_have_value(before)
    tab.shot("solve-browse")
    assert not tab.serious()
    browse.get_by_role("button", name="Play it", exact=True).click()
    expect(tab.page.locator(".values")).to_contain_text("%")


def test_every_move_of_a_table_can_be_followed_and_says_what_it_costs(tab: Tab) -> None:
    tab.go("#/solve")
    tab.page.get_by_role("button", name="Solve 2x2 to 16").click()
    browse = tab.page.get_by_role("region", name="Browse a table")
    browse.get_by_role("textbox", name="Position").fill("2 4 / 4 2")
    browse.get_by_role("textbox", name="Position").press("Enter")
    browse.get_by_role("textbox", name="Position").fill("4 4 / 2 .")
    browse.get_by_role("textbox", name="Position").press("Enter")
    worse = browse.get_by_role("button", name=re.compile("costs"))
    expect(worse.first).to_be_visible()
    worse.first.click()
    expect(worse.first).to_have_attribute("aria-pressed", "true")
    name = worse.first.inner_text()
    expect(browse).to_contain_text(re.compile(f"Spawns after {name}", re.IGNORECASE))
    expect(browse.locator(".spawn").first).to_be_visible()


def test_a_long_solve_shows_its_layers_and_can_be_stopped(tab: Tab) -> None:
    tab.go("#/solve?board=3x4&goal=512")
    expect(tab.page.locator("form .cmd code")).to_contain_text("lab2048 solve 3x4")
    expect(tab.page.locator("form [role=status]")).to_contain_text("be solved here")  # the estimate
    tab.page.locator("form").get_by_role("button", name=re.compile("^Solve")).click()
    solve = tab.page.get_by_role("region", name="The solve")
    expect(solve.locator("figure .main-svg").first).to_be_visible()
    tab.shot("solve-running")
    solve.get_by_role("button", name=re.compile("^Stop")).click()
    expect(solve).to_contain_text("cancelled")


def test_who_solves_what_does_not_fit_is_told_before(tab: Tab) -> None:
    tab.go("#/solve?board=4x4&goal=2048")
    expect(tab.page.locator("form [role=status]")).to_contain_text("Cannot be solved here")
    expect(tab.page.get_by_role("button", name="Solve anyway")).to_be_enabled()
    tab.page.get_by_role("textbox", name="Map").fill("9x9")
    expect(tab.page.locator("form .error")).to_have_text("Board 9x9 is out of range: expected 1x2 to 8x8")
    expect(tab.page.get_by_role("button", name="Solve", exact=True)).to_be_disabled()


def test_the_clock_of_a_job_goes_on_before_its_first_news(tab: Tab) -> None:
    tab.go("#/lab")
    made = """async () => {
      const { jobLine } = await import("/static/js/joblist.js");
      const state = { state: "running", message: "", progress: null, seconds: 0 };
      const job = { id: "solve-9", kind: "solve", title: "2x2", request: {}, ...state };
      const line = jobLine(job);
      await new Promise((done) => setTimeout(done, 1200));
      document.querySelector("main").append(line);
    }"""
    tab.page.evaluate(made)
    expect(tab.page.locator(".job", has_text="2x2")).to_contain_text(re.compile("getting ready, [3-9] s"))


def test_solve_a_design(tab: Tab) -> None:
    tab.go("#/design?board=2x2&goal=16")
    expect(tab.page.locator(".facts-list")).to_contain_text("4, all empty")
    tab.page.get_by_role("button", name="Solve it").click()
    dialog = tab.page.get_by_role("dialog")
    expect(dialog).to_contain_text("Can be solved here")
    dialog.get_by_role("button", name="Solve it").click()
    browse = tab.page.get_by_role("region", name="Browse a table")
    expect(browse).to_contain_text("96.3%")
    tab.go("#/design?board=2x2&goal=16")
    tab.page.get_by_role("button", name="Solve it").click()
    dialog.get_by_role("button", name="Solve it").click()  # it is solved: no second time
    expect(browse).to_contain_text("96.3%")


def test_run_a_study(tab: Tab) -> None:
    """The result is a page with tables and a chart; two games give no verdict."""
    tab.go("#/studies")
    tab.page.get_by_role("link", name=re.compile("^Lookahead on one thread")).click()
    tab.page.get_by_role("button", name="Seconds").click()
    report = tab.page.get_by_role("region", name="The report")
    expect(report).to_contain_text("No results of this size yet")
    tab.page.get_by_role("button", name=re.compile("^Run Lookahead on one thread")).click()
    expect(tab.page.locator(".job")).to_contain_text("done")
    expect(tab.page.locator(".job").get_by_role("link", name="Report")).to_be_visible()
    expect(tab.page.locator(".job")).not_to_contain_text("lab2048")
    expect(report.get_by_role("region", name="1 step", exact=True)).to_contain_text("not comparable")
    expect(report).to_contain_text("figures measured")
    tab.until("document.querySelector('.study-chart').naturalWidth > 100")
    expect(report.locator(".cmd code")).to_contain_text("lab2048 study report 000-threads --tiny --html")
    tab.shot("study")
    assert not tab.serious()
    tab.page.get_by_role("link", name="All studies").click()
    expect(tab.page.get_by_role("link", name=re.compile("^Lookahead on one thread"))).to_contain_text("done")


def test_compare_two_matches_that_are_kept(tab: Tab, server: Server) -> None:
    for seed in (1, 2):
        match = {"players": ["random", "first:order=as"], "rules": {"board": "3x3"}, "games": 20, "seed": seed}
        server.ask("/api/matches", match)
    tab.go("#/lab")
    for number in (1, 2):
        tab.page.get_by_role("checkbox", name=f"Compare match-{number}").check()
    comparison = tab.page.get_by_role("region", name="Comparison")
    expect(comparison.locator("figure .main-svg").first).to_be_visible()
    comparison.get_by_text("Table").click()
    expect(comparison.locator("tbody tr")).to_have_count(4)
    tab.shot("lab-compare")
    assert not tab.serious()
    with tab.page.expect_download() as download:
        comparison.get_by_role("link", name="CSV").click()
    assert "match-2" in download.value.path().read_text()
