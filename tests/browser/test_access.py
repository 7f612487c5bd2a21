"""The launch file and the link with the token open the page; without a token the page says what to do."""

from typing import Any

import pytest
from playwright.sync_api import Browser, expect

from .conftest import TOKEN, Server


@pytest.fixture
def page(browser: Browser, server: Server) -> Any:
    """A browser that has never seen the server."""
    context = browser.new_context()
    yield context.new_page()
    context.close()


def test_the_launch_file_opens_the_page(page: Any, server: Server) -> None:
    (launch,) = server.home.rglob("lab2048-open-*.html")
    page.goto(launch.as_uri())
    expect(page.locator("lab-board")).to_be_visible()
    expect(page.locator("#dot .dot")).to_have_attribute("data-state", "open")  # the event stream
    assert page.url == server.url
    assert TOKEN not in page.evaluate("document.cookie + document.referrer + JSON.stringify(history.state)")
    page.goto(f"{server.url}api/openapi.json")
    expect(page.locator("body")).to_contain_text('"openapi"')


def test_the_link_keeps_its_place_on_the_page(page: Any, server: Server) -> None:
    page.goto(f"{server.url}?token={TOKEN}#/design")
    expect(page.get_by_role("heading", name="Design", exact=False).first).to_be_visible()
    expect(page.locator(".facts-list dd").first).to_be_visible()  # so the drawing is there
    assert page.url == f"{server.url}#/design"
    page.get_by_role("button", name="Clear").click()
    assert page.url.startswith(f"{server.url}#/design?board=4x4&")


def test_without_a_token_the_page_asks_for_it(page: Any, server: Server) -> None:
    answer = page.goto(server.url)
    assert answer.status == 403
    page.get_by_label("Or paste the token").fill(TOKEN)
    page.get_by_role("button", name="Open").click()
    expect(page.locator("lab-board")).to_be_visible()
    assert TOKEN not in page.url


def test_a_tab_notices_that_the_server_has_another_token(page: Any, server: Server) -> None:
    page.goto(f"{server.url}?token={TOKEN}")
    expect(page.locator("#dot .dot")).to_have_attribute("data-state", "open")
    server.stop()
    server.token = "token-of-tomorrow"
    server.start()
    expect(page.get_by_role("heading", name="lab2048 needs its token")).to_be_visible()
    page.get_by_label("Or paste the token").fill(server.token)
    page.get_by_role("button", name="Open").click()
    expect(page.locator("lab-board")).to_be_visible()
