"""The page lets no one in, and nothing that is posted breaks it."""

import json
import socket

import httpx
import pytest
from web_server import serving

from lab2048.views.web.security import MAX_BODY, MAX_IMPORT, POLICY


@pytest.fixture(scope="module")
def web(tmp_path_factory):
    with serving(tmp_path_factory.mktemp("web")) as found:
        yield found


@pytest.mark.parametrize(
    "headers",
    [
        {"host": "evil.example"},
        {"host": "127.0.0.1.evil.example:2048"},
        {"host": ""},
        {"origin": "http://evil.example"},
        {"origin": "null"},
        {"origin": "http://localhost:9"},
        {"sec-fetch-site": "cross-site"},
    ],
)
def test_pages_of_others_are_refused(web, headers):
    for method, path in (("GET", "/api/status"), ("POST", "/api/games"), ("GET", "/api/games")):
        answer = web.client.request(method, path, headers=headers)
        assert answer.status_code == 403
        assert "expected" in answer.json()["error"]


def test_the_own_page_is_answered_under_every_name_of_this_machine(web):
    for name in ("127.0.0.1", "localhost", "[::1]"):
        host = f"{name}:{web.port}"
        answer = web.client.get("/api/status", headers={"host": host, "origin": f"http://{host}"})
        assert answer.status_code == 200


def test_every_answer_says_what_the_browser_may_load(web):
    for path in ("/", "/api/status", "/nothing", "/api/games/999"):
        headers = web.client.get(path).headers
        assert headers["content-security-policy"] == POLICY
        assert headers["x-content-type-options"] == "nosniff"
        assert "access-control-allow-origin" not in headers
    assert POLICY.startswith("default-src 'self'")


@pytest.mark.parametrize("path", ["/static/js/app.js", "/api/openapi.json"])
def test_only_clients_that_accept_gzip_get_it(web, path):
    for encodings, expected in (
        ("gzip", "gzip"),
        ("br, gzip;q=0.5", "gzip"),
        ("br;q=1.0, gzip; q=0", None),
        ("gzip;q=0.000", None),
        ("identity", None),
        ("not-gzip", None),
    ):
        answer = web.client.get(path, headers={"accept-encoding": encodings})
        assert answer.status_code == 200
        assert answer.headers.get("content-encoding") == expected, encodings


@pytest.mark.parametrize("body", [b"[" * 30_000, b'{"seed": 1', b'{"seed": "\xff"}'])
def test_a_body_that_is_not_json_is_refused_in_plain_words(web, body):
    answer = web.client.post("/api/games", content=body, headers={"content-type": "application/json"})
    assert answer.status_code in (400, 422)
    assert "expected" in answer.json()["error"]


def test_a_form_of_another_page_is_no_request(web):
    for kind in ("text/plain", "application/x-www-form-urlencoded", "multipart/form-data; boundary=x"):
        answer = web.client.post("/api/games", content=b"{}", headers={"content-type": kind})
        assert answer.status_code == 415


@pytest.mark.parametrize(
    ("path", "body", "expected"),
    [
        ("/api/games", {"rules": {"board": "10000x10000"}}, "expected 1x2 to 8x8"),
        ("/api/games", {"rules": {"board": "4x4" * 1000}}, "at most 2000"),
        ("/api/games", {"rules": {"board": "4x4", "goal": 7}}, "not a tile"),
        ("/api/games", {"rules": {"board": "4x4", "spawn": "2:2"}}, "probability"),
        ("/api/games", {"rules": {"board": "4x4", "start": 17}}, "expected 0 to 16"),
        ("/api/games", {"seed": 2**60}, "seed"),
        ("/api/games", {"player": "nobody"}, "unknown"),
        ("/api/matches", {"players": ["random"], "games": 10**9}, "100000"),
        ("/api/matches", {"players": ["random"] * 2}, "each player once"),
        ("/api/matches", {"players": [f"first:order={a}" for a in "wasdwasdw"]}, "at most 8"),
        ("/api/matches", {"players": ["human"]}, "is a person"),
        ("/api/trainings", {"name": "../evil"}, "name"),
        ("/api/trainings", {"name": "a", "minutes": 10**9}, "minutes"),
        ("/api/trainings", {"name": "a", "network": "9x99"}, "expected"),
        ("/api/trainings", {"name": "a", "options": {"alpha": 1e9}}, "alpha"),
        ("/api/trainings", {"name": "a", "options": {"out": "/etc/passwd"}}, "unknown"),
        ("/api/solves", {"rules": {"board": "5x5"}}, "too many"),
        ("/api/solves", {"rules": {"board": "3x3"}, "name": "/etc"}, "name"),
        ("/api/hint", {}, "expected game or board"),
        ("/api/hint", {"board": "4x4", "player": "expectimax:depth=50"}, "at most 10"),
        ("/api/hint", {"board": "4x4", "player": "lookahead:depth=9"}, "at most 4"),
        ("/api/hint", {"board": "4x4", "player": "expectimax:depth=9,cut=0"}, "at most 4"),
        ("/api/hint", {"board": "4x4", "player": "montecarlo:rollouts=1000000"}, "at most"),
        ("/api/hint", {"board": "4x4", "player": "montecarlo:rollouts=1000000000"}, "out of range"),
        ("/api/studies", {"name": "no-such"}, "no study"),
    ],
)
def test_what_is_too_much_or_wrong_is_one_clear_line(web, path, body, expected):
    assert expected in web.error("POST", path, body)


@pytest.mark.parametrize(
    "spec",
    [
        "ntuple:weights=/etc/passwd",
        "ntuple:weights=../../x",
        "ntuple:weights=(/etc/passwd)",
        "optimal:table=/tmp",
        "optimal:table=..",
        "greedy:eval=/etc/evil.toml",
        "greedy:eval=evil.toml",
        "greedy:eval=evil.toml#x",
        "expectimax:eval=(evil.toml)",
    ],
)
def test_no_path_reaches_the_file_system_by_a_player(web, spec):
    said = web.error("POST", "/api/players/check", {"spec": spec})
    assert "unknown" in said or "is not allowed" in said


@pytest.mark.parametrize(
    "path",
    [
        "/static/../app.py",
        "/static/%2e%2e/app.py",
        "/static/..%2fapp.py",
        "/static//etc/passwd",
        "/static/%2fetc%2fpasswd",
        "/static/",
        "/..%2f..%2fetc%2fpasswd",
        "/play/../../etc/passwd",
        "/api/jobs/..%2f..%2fgames.sqlite",
        "/api/tables/..%2f..",
        "/api/trainings/..%2fx",
    ],
)
def test_no_path_reaches_the_file_system_by_an_address(web, path):
    answer = web.client.get(httpx.URL(web.url).copy_with(raw_path=path.encode()))
    assert answer.status_code in (200, 404, 422)
    if answer.status_code == 200:  # the page itself
        assert answer.text.startswith("<!doctype html>")


def test_what_is_no_request_at_all_is_one_line_of_json_too(web):
    for words in ("GET / HTTP/1.1\r\n\r\n", "NONSENSE\r\n\r\n"):
        with socket.create_connection(("127.0.0.1", web.port)) as stream:
            stream.sendall(words.encode())
            head, _, body = b"".join(iter(lambda: stream.recv(4096), b"")).partition(b"\r\n\r\n")
        assert head.split()[1] in (b"400", b"403")
        assert b"content-type: application/json" in head
        assert "expected" in json.loads(body)["error"]


@pytest.mark.parametrize(
    ("path", "body", "said"),
    [
        ("/api/trainings", {"name": "My Net"}, "name 'My Net' is not accepted: expected a name of at most 40 lower"),
        ("/api/trainings", {}, "name is missing"),
        ("/api/matches", {"players": ["random"], "games": 0}, "games 0 is out of range: expected at least 1"),
        ("/api/matches", {"players": ["random"], "games": None}, "games is empty: expected a whole number"),
        ("/api/matches", {"players": ["random"], "games": "many"}, "games 'many' is not understood: expected a whole"),
        ("/api/matches", {"players": []}, "players: 0 of them: expected at least 1"),
        ("/api/matches", {"players": ["x" * 999]}, "players 1 of 999 letters: expected at most 500 letters"),
        ("/api/matches", {"players": ["random"], "colour": 1}, "unknown field 'colour'"),
        ("/api/solves", {"rules": {"board": "2x2"}, "objective": "fun"}, "objective 'fun': expected score or win"),
        ("/api/solves", {"rules": "2x2"}, "rules '2x2' is not understood: expected an object"),
        ("/api/solves", {"rules": {"board": "2x2"}, "exact": 7}, "exact 7 is not understood: expected true or false"),
        ("/api/trainings", {"name": "a", "options": {"alpha": [1]}}, "alpha is not understood: expected"),
    ],
)  # fmt: skip
def test_mistakes_are_told_in_our_own_words(web, path, body, said):
    assert said in web.error("POST", path, body)


def test_an_address_that_leads_nowhere_says_so_on_the_page(web):
    answer = web.client.get("/nosuch", headers={"accept": "text/html,*/*"})
    assert (answer.status_code, answer.text[:15]) == (404, "<!doctype html>")
    assert "nothing at /nosuch" in web.client.get("/nosuch").json()["error"]
    assert "nothing" in web.client.get("/api/nosuch", headers={"accept": "text/html"}).json()["error"]


def test_large_bodies_are_refused_before_they_are_read(web):
    kinds = {"content-type": "application/json"}
    answer = web.client.post("/api/games", content=b" " * (MAX_BODY + 1), headers=kinds)
    assert answer.status_code == 413
    head = f"POST /api/games/import HTTP/1.1\r\nHost: localhost\r\nContent-Length: {100 * 2**20}\r\n\r\n"
    with socket.create_connection(("127.0.0.1", web.port)) as stream:
        stream.sendall(head.encode())  # and not one byte of a hundred million
        said = b"".join(iter(lambda: stream.recv(4096), b"")).decode()
    assert said.startswith("HTTP/1.1 413 ")
    assert "lab2048 games import FILE" in said
    pieces = iter([b"{}"] * 3)
    assert web.client.post("/api/games", content=pieces, headers=kinds).status_code == 411


def test_an_import_of_endless_games_is_refused(web):
    line = json.dumps({"schema": "lab2048/episode-1", "moves": "w" * 400_000}).encode()
    assert len(line) < MAX_IMPORT
    answer = web.client.post("/api/games/import", content=line, headers={"content-type": "application/x-ndjson"})
    assert answer.status_code == 413
    deep = b"[" * 100_000
    answer = web.client.post("/api/games/import", content=deep, headers={"content-type": "application/x-ndjson"})
    assert answer.json()["refused"] == 1


@pytest.mark.parametrize(
    "content", [b"", b"{", b"[]", b"null", b'{"rules": 1}', b"\xff\xfe", b'{"seed": NaN}', b"[" * 50_000]
)
def test_what_is_no_request_is_said_so(web, content):
    answer = web.client.post("/api/games", content=content, headers={"content-type": "application/json"})
    assert 400 <= answer.status_code < 500
    assert answer.json()["error"]


def test_files_are_answered_once(web):
    first = web.client.get("/")
    assert first.headers["cache-control"] == "no-cache"
    again = web.client.get("/", headers={"if-none-match": first.headers["etag"]})
    assert (again.status_code, again.content) == (304, b"")
