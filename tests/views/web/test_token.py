"""Requests without the token are refused, and no other user can see the token."""

import os
import stat
import subprocess
import sys
from collections.abc import Iterator
from html import unescape
from pathlib import Path
from urllib.parse import quote

import pytest
from web_server import TOKEN, Web, serving

from lab2048.cli.app import run
from lab2048.views.web.launch_file import LaunchFile
from lab2048.views.web.security import Guard


@pytest.fixture(scope="module")
def web(tmp_path_factory) -> Iterator[Web]:
    with serving(tmp_path_factory.mktemp("web")) as found:
        yield found


def test_without_the_token_nothing_is_answered(web):
    routes = [
        (method, path.replace("{", "").replace("}", ""))
        for path, methods in web.get("/api/openapi.json")["paths"].items()
        for method in methods
    ]
    assert len(routes) > 40
    for method, path in (*routes, ("get", "/"), ("get", "/play"), ("get", "/plotly.js"), ("get", "/api/openapi.json")):
        answer = web.stranger.request(method, path)
        assert answer.status_code == 403, (method, path)
        assert "token" in answer.json()["error"]
    assert web.stranger.post("/api/games", json={"seed": "x" * 60_000}).status_code == 403  # read, then refused
    assert web.stranger.get("/static/icon.svg").status_code == 200


@pytest.mark.parametrize("token", ["-", "wrong", TOKEN[:-1], TOKEN + "x", "é", "\udc80"])
def test_a_wrong_token_is_no_token(web, token):
    quoted = quote(token.encode(errors="replace"))
    assert web.stranger.get(f"/?token={quoted}").status_code == 403
    assert web.stranger.get(f"/api/status?token={quoted}").status_code == 403
    headers = {"authorization": b"Bearer " + token.encode("latin-1", errors="replace")}
    assert web.stranger.get("/api/status", headers=headers).status_code == 403


def test_scripts_send_the_token_as_a_header_or_in_the_address(web):
    headers = {"authorization": f"Bearer {TOKEN}"}
    assert web.stranger.get("/api/status", headers=headers).status_code == 200
    assert web.stranger.get(f"/api/games?limit=1&token={TOKEN}").status_code == 200
    assert web.stranger.get(f"/api/events?once=true&tab=tab-of-tests&token={TOKEN}").status_code == 200


def test_the_link_sets_a_cookie_and_leads_to_an_address_without_the_token(web):
    answer = web.stranger.get(f"/play?board=3x3&token={TOKEN}")
    assert (answer.status_code, answer.headers["location"]) == (303, "/play?board=3x3")
    assert answer.headers["referrer-policy"] == "no-referrer"
    assert answer.headers["cache-control"] == "no-store"
    cookie = answer.headers["set-cookie"]
    assert "HttpOnly" in cookie
    assert "SameSite=Lax" in cookie
    word = cookie.partition(";")[0]
    assert word == f"lab2048-{web.port}={TOKEN}"
    for others in ("{}", 'json={"a": 1}; {}', "lab2048-1=x; {}", f"lab2048-{web.port}=old; {{}}", "a[b]=c,d; {}; e"):
        headers = {"cookie": others.replace("{}", word)}
        assert web.stranger.get("/api/openapi.json", headers=headers).status_code == 200
        assert web.stranger.get("/", headers=headers).status_code == 200
        evil = {**headers, "sec-fetch-site": "cross-site"}
        assert web.stranger.post("/api/games", headers=evil, json={}).status_code == 403


def test_cookies_of_two_servers_do_not_disturb_each_other(web, tmp_path):
    with serving(tmp_path, "another-token") as other:
        words = [
            each.stranger.get(f"/?token={token}").headers["set-cookie"].partition(";")[0]
            for each, token in ((web, TOKEN), (other, "another-token"))
        ]
        for each in (web, other):
            assert each.stranger.get("/api/status", headers={"cookie": "; ".join(words)}).status_code == 200


@pytest.mark.parametrize(
    "path",
    [
        "//evil.com", "/%5Cevil.com", "/\\evil.com", "/%2Fevil.com", "/%2F%2Fevil.com", "///evil.com", "/%09/evil.com",
        "/%5C%5Cevil.com", "/.evil.com", "/@evil.com", "http://evil.com/", "/%0d%0aLocation:%20http://evil.com",
        "/static%5C..%5C/evil.com", "/play%0d%0aX: 1", "/%E2%81%84evil.com", "/nowhere",
    ],
)  # fmt: skip
def test_the_link_leads_nowhere_else(web, path):
    with web.raw(f"GET {path.replace(' ', '%20')}?token={TOKEN} HTTP/1.1\r\nHost: localhost:{web.port}") as said:
        head = said.partition("\r\n\r\n")[0].lower().split("\r\n")
    assert head[0].startswith("http/1.1 303")
    assert "location: /" in head
    assert not any(line.startswith("x:") for line in head)


def test_the_link_leads_to_the_page_that_it_names(web):
    for path, expected in (("/review/12", "/review/12"), ("/play/%5C%0d%0a//x", "/play/%5C%0D%0A//x")):
        with web.raw(f"GET {path}?token={TOKEN} HTTP/1.1\r\nHost: localhost:{web.port}") as said:
            assert f"location: {expected}\r\n" in said


def test_a_person_without_the_token_is_told_what_to_do(web):
    answer = web.stranger.get("/", headers={"accept": "text/html,*/*"})
    assert (answer.status_code, answer.headers["cache-control"]) == (403, "no-store")
    assert "Open the link that lab2048 printed" in answer.text
    assert TOKEN not in answer.text


def test_websockets_are_not_answered(web):
    upgrade = "Upgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Version: 13\r\nSec-WebSocket-Key: x"
    with web.raw(f"GET /api/events HTTP/1.1\r\nHost: localhost:{web.port}\r\n{upgrade}") as said:
        assert said.startswith("HTTP/1.1 403")


def test_tokens_are_compared_in_constant_time(monkeypatch):
    compared = []
    monkeypatch.setattr("secrets.compare_digest", lambda *both: compared.append(both))
    Guard(None, token="secret")._knows("guess")  # type: ignore[arg-type]
    assert compared == [(b"guess", b"secret")]


def test_without_a_token_this_machine_is_let_in(tmp_path):
    with serving(tmp_path, None) as open_web:
        assert open_web.stranger.get("/api/status").status_code == 200
        assert open_web.stranger.get("/", headers={"host": "192.168.1.5:2048"}).status_code == 403


def test_other_machines_are_let_in_with_lan_and_the_token(tmp_path, web):
    host = {"host": "192.168.1.5:2048"}
    assert web.client.get("/api/status", headers=host).status_code == 403
    with serving(tmp_path, lan=True) as open_web:
        assert open_web.stranger.get("/api/status", headers=host).status_code == 403
        assert open_web.client.get("/api/status", headers=host).status_code == 200
        assert open_web.client.get("/api/status", headers={"host": "evil.example"}).status_code == 403


def test_the_launch_file_is_private(tmp_path, monkeypatch):
    monkeypatch.setattr("lab2048.views.web.launch_file._folder", lambda: tmp_path / "new")
    launch = LaunchFile(2048)
    assert launch.address() is None
    trap = tmp_path / "trap"
    for _ in range(2):
        assert launch.write("http://127.0.0.1:2048/?token=a&b")
        assert stat.S_IMODE(launch.path.stat().st_mode) == 0o600
        assert "url=http://127.0.0.1:2048/?token=a&b" in unescape(launch.path.read_text())
        assert launch.address() == "http://127.0.0.1:2048/?token=a&b"
        launch.path.unlink()
        launch.path.symlink_to(trap)  # is replaced, not followed
    assert launch.write("x")
    assert not trap.exists()
    launch.close()
    launch.close()
    assert not launch.path.exists()
    monkeypatch.setattr("lab2048.views.web.launch_file._folder", lambda: Path(os.devnull) / "x")
    assert not LaunchFile(2048).write("x")


BROWSER = """#!/bin/sh
cp "$(echo "$1" | sed 's,^file://,,')" {folder}/opened
echo "$@" > {folder}/arguments
"""


@pytest.mark.skipif(os.name != "posix", reason="a browser that is a shell script")
def test_the_browser_gets_the_token_by_the_launch_file(tmp_path):
    browser = tmp_path / "browser"
    browser.write_text(BROWSER.format(folder=tmp_path))
    browser.chmod(0o700)
    os.mkfifo(tmp_path / "arguments")
    environment = {**os.environ, "DISPLAY": ":0", "BROWSER": str(browser), "PYTHONUNBUFFERED": "1"}
    words = [sys.executable, "-m", "lab2048", "serve", "--port", "0"]
    with subprocess.Popen(words, env=environment, stdout=subprocess.PIPE, text=True) as server:
        try:
            assert server.stdout is not None
            address = server.stdout.readline().split()[-1]
            arguments = (tmp_path / "arguments").read_text()  # waits for the browser
        finally:
            server.terminate()
            assert server.wait(60) == 0
    token = address.partition("token=")[2]
    assert len(token) > 20
    assert arguments.startswith("file://")
    assert token not in arguments
    assert f"url={address}" in (tmp_path / "opened").read_text()
    assert not Path(arguments.strip().removeprefix("file://")).exists()


@pytest.mark.parametrize("token", ["short", "with space", "slash/slash", "semi;colon", "ünïcode-token"])
def test_an_own_token_must_be_usable(token, capsys):
    assert run(["serve", "--token", token, "--port", "0", "--no-open"]) == 2
    said = capsys.readouterr().err
    assert "expected 8 to 200 letters" in said
    assert token not in said


def test_an_own_token_is_not_shown_with_the_settings(monkeypatch, capsys):
    monkeypatch.setenv("LAB2048_TOKEN", "my-own-token")
    assert run(["config", "show", "--all"]) == 0
    said = "".join(capsys.readouterr())
    assert "LAB2048_TOKEN" in said
    assert "my-own-token" not in said
    monkeypatch.setenv("LAB2048_TOKEN", "my own token")
    assert run(["serve", "--port", "0", "--no-open"]) == 2
    said = "".join(capsys.readouterr())
    assert "set by LAB2048_TOKEN" in said
    assert "my own token" not in said


def test_the_network_is_never_let_in_without_a_token(capsys):
    assert run(["serve", "--lan", "--no-token"]) == 2
    assert "needs a token" in capsys.readouterr().err
