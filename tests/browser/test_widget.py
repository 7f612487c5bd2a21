"""The widget as a visitor of a website meets it: keys, touch, undo, hint, autoplay."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Page, expect

from lab2048.cli.app import run


@pytest.fixture(scope="module")
def file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("widget") / "game.html"
    assert run(["widget", "--out", str(path)]) == 0
    return path


@pytest.fixture
def widget(browser: Browser, file: Path) -> Iterator[Page]:
    """The widget on a phone; errors in its scripts are failures."""
    context = browser.new_context(viewport={"width": 390, "height": 844}, has_touch=True)
    page, errors = context.new_page(), []
    page.on("pageerror", lambda error: errors.append(str(error)))
    page.on("console", lambda message: errors.append(message.text) if message.type == "error" else None)
    page.on("request", lambda request: errors.append(request.url) if request.url.startswith("http") else None)
    page.goto(file.as_uri())
    expect(page.locator("#auto")).to_be_enabled()
    yield page
    assert errors == []
    context.close()


def ranks(page: Page) -> list[int]:
    found: list[int] = page.evaluate("document.getElementById('board').ranks")
    return found


def score(page: Page) -> int:
    return int(page.inner_text("#score").replace(",", ""))


def test_keys_move_and_undo_takes_back(widget: Page) -> None:
    start = ranks(widget)
    for key in ("ArrowLeft", "ArrowDown", "ArrowRight", "ArrowUp") * 3:
        widget.keyboard.press(key)
    assert ranks(widget) != start
    while widget.locator("#undo").is_enabled():
        widget.click("#undo")
    assert ranks(widget) == start
    assert score(widget) == 0


def test_a_swipe_moves(widget: Page) -> None:
    box = widget.locator("#board").bounding_box()
    assert box is not None
    x, y = box["x"] + box["width"] / 2, box["y"] + box["height"] / 2
    client = widget.context.new_cdp_session(widget)
    start = ranks(widget)
    for dx, dy in ((-120, 0), (0, 120), (120, 0), (0, -120)):
        client.send("Input.dispatchTouchEvent", {"type": "touchStart", "touchPoints": [{"x": x, "y": y}]})
        for part in (0.5, 1):
            point = {"x": x + part * dx, "y": y + part * dy}
            client.send("Input.dispatchTouchEvent", {"type": "touchMove", "touchPoints": [point]})
        client.send("Input.dispatchTouchEvent", {"type": "touchEnd", "touchPoints": []})
    assert ranks(widget) != start


def test_a_hint_points_and_autoplay_plays_on(widget: Page) -> None:
    widget.click("#hint")
    expect(widget.locator("#status")).to_contain_text("would move")
    expect(widget.locator("#board .arrow")).to_be_visible()
    widget.click("#auto")
    expect(widget.locator("#auto")).to_have_text("Pause")
    widget.wait_for_function("Number(document.getElementById('score').textContent.replace(',', '')) > 100")
    widget.keyboard.press("Enter")
    expect(widget.locator("#auto")).to_have_text("Autoplay")
    widget.click("#new")
    assert score(widget) == 0


def test_it_fits_a_phone(widget: Page) -> None:
    assert widget.evaluate("document.documentElement.scrollWidth <= innerWidth")
    box = widget.locator("#board").bounding_box()
    assert box is not None
    assert box["width"] > 340


def test_its_player_is_strong(widget: Page) -> None:
    assert widget.evaluate("widget.playGame(0).highest") >= 512
