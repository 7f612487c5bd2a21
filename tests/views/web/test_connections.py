"""Nobody is locked out by clients that are too many, too slow or not clients at all."""

import contextlib
import json
import socket
import struct
import threading
from collections.abc import Iterator

import pytest
from web_server import TOKEN, Web, serving

from lab2048.views.web import http_protocol, listener
from lab2048.views.web.http_protocol import HttpProtocol
from lab2048.views.web.listener import Listener
from lab2048.views.web.security import MAX_HEADERS
from lab2048.views.web.services import event_bus

HALF = b"GET /api/status HTTP/1.1\r\nHost: localhost\r\nX-Half: "
WHOLE = f"GET /api/status HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer {TOKEN}\r\n\r\n".encode()
SOON, NEVER = 0.1, 3600.0


@pytest.fixture
def web(tmp_path, monkeypatch) -> Iterator[Web]:
    """A server that takes only 127.0.0.1 for its own machine, and 127.0.0.2 for another one."""
    monkeypatch.setattr(HttpProtocol, "_is_local", lambda it: it.client is None or it.client[0] == "127.0.0.1")
    with serving(tmp_path) as found:
        yield found


def connect(web: Web, address: str = "127.0.0.1", data: bytes = b"") -> socket.socket:
    stream = socket.create_connection(("127.0.0.1", web.port), timeout=60, source_address=(address, 0))
    with contextlib.suppress(OSError):  # refused already
        stream.sendall(data)
    return stream


def read(stream: socket.socket) -> tuple[int, dict[str, str]]:
    """The status and the body of the last answer on a connection that the server closes; 0 if it says nothing."""
    said = b""
    with contextlib.suppress(ConnectionError):
        while piece := stream.recv(65536):
            said += piece
    if not said:
        return 0, {}
    head, _, body = said.rpartition(b"\r\n\r\n")
    return int(head.rpartition(b"HTTP/1.1 ")[2].split()[0]), json.loads(body)


def ask(web: Web, address: str) -> bytes:
    """The first line of an answer to a whole request."""
    with connect(web, address, WHOLE) as stream:
        return stream.recv(65536).partition(b"\r\n")[0]


def test_half_sent_requests_of_a_neighbour_lock_nobody_out(web):
    with contextlib.ExitStack() as opened:
        for _ in range(1100):
            opened.enter_context(connect(web, "127.0.0.2", HALF))
        assert web.client.get("/api/status").status_code == 200
        assert ask(web, "127.0.0.3") == b"HTTP/1.1 200 OK"
        assert ask(web, "127.0.0.2") == b"HTTP/1.1 200 OK"  # its own oldest connection makes room


def test_a_flood_of_a_neighbour_is_dropped_before_anything_is_made_ready(web, monkeypatch):
    monkeypatch.setattr(Listener, "_is_local", staticmethod(lambda host: host == "127.0.0.1"))
    monkeypatch.setattr(listener, "ADDRESS_BURST", 20.0)
    monkeypatch.setattr(listener, "ADDRESS_RATE", 0.0)
    made = []
    makes = HttpProtocol.connection_made
    monkeypatch.setattr(HttpProtocol, "connection_made", lambda it, stream: (made.append(it), makes(it, stream)))
    with contextlib.ExitStack() as opened:
        for _ in range(200):
            with contextlib.suppress(ConnectionError):  # dropped already
                opened.enter_context(connect(web, "127.0.0.2", HALF))
        assert ask(web, "127.0.0.3") == b"HTTP/1.1 200 OK"  # connections are taken in the order of arrival
        assert web.client.get("/api/status").status_code == 200
    assert sum(it.client[0] == "127.0.0.2" for it in made) == 20


def test_half_sent_requests_of_many_neighbours_lock_nobody_out(web, monkeypatch):
    monkeypatch.setattr(http_protocol, "MAX_PER_ADDRESS", 5)
    monkeypatch.setattr(http_protocol, "MAX_OTHERS", 20)
    with contextlib.ExitStack() as opened:
        for i in range(100):
            opened.enter_context(connect(web, f"127.0.1.{i}", HALF))
        assert ask(web, "127.0.0.3") == b"HTTP/1.1 200 OK"
        assert web.client.get("/api/status").status_code == 200


def test_half_sent_requests_of_another_user_lock_nobody_out(web, monkeypatch):
    monkeypatch.setattr(http_protocol, "MAX_LOOPBACK", 20)
    with contextlib.ExitStack() as opened:
        for _ in range(100):
            opened.enter_context(connect(web, data=HALF))
        assert ask(web, "127.0.0.1") == b"HTTP/1.1 200 OK"


def test_when_all_connections_are_in_use_the_answer_is_one_line(web, monkeypatch, capfd):
    monkeypatch.setattr(http_protocol, "MAX_PER_ADDRESS", 3)
    with contextlib.ExitStack() as opened:
        for _ in range(3):
            used = opened.enter_context(connect(web, "127.0.0.2", WHOLE))
            assert used.recv(65536).startswith(b"HTTP/1.1 200 OK")
        status, said = read(opened.enter_context(connect(web, "127.0.0.2", WHOLE)))
        assert (status, said["code"]) == (503, "busy")
        assert "\n" not in said["error"]
        assert web.client.get("/api/status").status_code == 200
    assert "".join(capfd.readouterr()) == ""


def test_public_files_do_not_make_a_client_known(web, monkeypatch):
    monkeypatch.setattr(http_protocol, "MAX_PER_ADDRESS", 3)
    public = WHOLE.replace(b"/api/status", b"/static/icon.svg").replace(TOKEN.encode(), b"none")
    with contextlib.ExitStack() as opened:
        for _ in range(5):
            kept = opened.enter_context(connect(web, "127.0.0.2", public))
            assert kept.recv(65536).startswith(b"HTTP/1.1 200 OK")
        assert ask(web, "127.0.0.2") == b"HTTP/1.1 200 OK"


@pytest.mark.parametrize("data", [b"", HALF, b"GET"])
def test_a_request_that_is_never_complete_is_given_up(web, monkeypatch, data):
    monkeypatch.setattr(http_protocol, "HEAD_SECONDS", SOON)
    with connect(web, data=data) as stream:
        assert read(stream)[0] == 408


def test_the_time_for_a_head_also_runs_after_an_answer(web, monkeypatch):
    monkeypatch.setattr(http_protocol, "HEAD_SECONDS", SOON)
    with connect(web, data=WHOLE + HALF) as stream:  # both at once
        assert read(stream)[0] == 408
    with connect(web, data=WHOLE) as stream:
        assert stream.recv(65536).startswith(b"HTTP/1.1 200 OK")
        stream.sendall(HALF)
        assert read(stream)[0] == 408


def test_a_body_that_never_comes_is_given_up(web, monkeypatch, capfd):
    monkeypatch.setattr(http_protocol, "BODY_SECONDS", SOON)
    head = f"POST /api/games HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer {TOKEN}\r\n"
    with connect(web, data=f"{head}Content-Type: application/json\r\nContent-Length: 99\r\n\r\n{{".encode()) as stream:
        assert read(stream)[0] == 408
    assert web.client.get("/api/status").status_code == 200
    assert "".join(capfd.readouterr()) == ""


def test_who_reads_nothing_is_disconnected(web, monkeypatch):
    monkeypatch.setattr(http_protocol, "STALL_SECONDS", SOON)
    lost = threading.Event()
    loses = HttpProtocol.connection_lost
    monkeypatch.setattr(HttpProtocol, "connection_lost", lambda it, error: (loses(it, error), lost.set()))
    request = WHOLE.replace(b"/api/status", b"/plotly.js")  # megabytes
    with connect(web, data=request * 20) as stream:
        assert lost.wait(60)
        stream.setblocking(False)


def test_who_reads_slowly_gets_everything(web, monkeypatch):
    monkeypatch.setattr(http_protocol, "STALL_SECONDS", SOON)
    request = WHOLE.replace(b"/api/status", b"/plotly.js").replace(b"\r\n\r\n", b"\r\nConnection: close\r\n\r\n")
    pause = threading.Event()
    with connect(web, data=request) as stream:
        n = 0
        while piece := stream.recv(2**18):
            n += len(piece)
            pause.wait(SOON / 10)  # nobody sets it: this client is slow
    assert n > 2**21


def test_requests_in_a_row_are_answered_in_a_row(web):
    with connect(web, data=WHOLE * 50 + WHOLE.replace(b"\r\n\r\n", b"\r\nConnection: close\r\n\r\n")) as stream:
        said = b"".join(iter(lambda: stream.recv(65536), b""))
    assert said.count(b"HTTP/1.1 200 OK") == 51


def test_who_leaves_in_the_middle_leaves_nothing_in_the_log(web, capfd):
    import_ = f"POST /api/games/import HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer {TOKEN}\r\n"
    unfinished = f"{import_}Content-Type: application/x-ndjson\r\nContent-Length: 99\r\n\r\n{{}}".encode()
    for data in (WHOLE + b"\0nonsense\r\n\r\n", unfinished, HALF, WHOLE):
        for _ in range(10):
            with connect(web, data=data) as stream:
                stream.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))  # reset
            with connect(web, data=data) as stream:
                stream.shutdown(socket.SHUT_WR)
            assert web.client.get("/api/status").status_code == 200
    assert "".join(capfd.readouterr()) == ""


def test_heads_have_a_limit(web):
    with connect(web, data=HALF + b"x" * 100_000) as stream:
        assert read(stream)[0] == 400
    headers = {f"x-{i}": "x" for i in range(MAX_HEADERS)}
    answer = web.client.get("/api/status", headers=headers)
    assert (answer.status_code, answer.json()["code"]) == (431, "too_large")


def test_one_tab_too_many_is_one_line(web, monkeypatch, capfd):
    monkeypatch.setattr(event_bus, "MAX_TABS", 2)
    with web.events() as first, web.events() as second:
        next(first), next(second)
        for _ in range(3):
            answer = web.client.get("/api/events?tab=one-too-many")
            assert (answer.status_code, answer.json()["code"]) == (503, "busy")
    assert "".join(capfd.readouterr()) == ""


def test_a_tab_that_leaves_makes_room(web, monkeypatch):
    monkeypatch.setattr(event_bus, "MAX_TABS", 1)
    left = threading.Event()
    discard = event_bus.Bus.listen

    @contextlib.contextmanager
    def listen(bus, *words):
        with discard(bus, *words) as tab:
            yield tab
        left.set()

    monkeypatch.setattr(event_bus.Bus, "listen", listen)
    with web.events() as events:
        next(events)
    assert left.wait(60)
    with web.events() as events:
        assert next(events)


def test_an_error_that_nobody_expects_is_one_line_in_the_log(web, monkeypatch, capfd):
    monkeypatch.setattr(web.lab, "status", lambda: 1 // 0)
    assert web.client.get("/api/status").status_code == 500
    said = "".join(capfd.readouterr())
    assert said.startswith("internal error: ZeroDivisionError")
    assert len(said.splitlines()) == 1
