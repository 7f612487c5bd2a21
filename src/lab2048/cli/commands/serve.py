"""`lab2048 serve`: serve the page on this machine."""

import contextlib
import errno
import json
import os
import secrets
import signal
import socket
import sys
import threading
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from lab2048.cli.option_types import Within
from lab2048.cli.options import PlayerFileOption, StoreOption, load_players, say
from lab2048.errors import UsageError
from lab2048.extras import need

if TYPE_CHECKING:
    from lab2048.records.store import Store
    from lab2048.views.web.lazy_app import LazyApp
    from lab2048.views.web.state import Lab

PORT = 2048
LOCAL, EVERYWHERE = "127.0.0.1", "0.0.0.0"
SWITCH_SECONDS = 0.001  # how long a thread holds the GIL: short, so that requests do not wait for a player

PortOption = Annotated[
    int, typer.Option("--port", "-p", metavar="N", help="Port to listen on (0 = any free one)."), Within(0, 65535)
]


def serve(
    port: PortOption = PORT,
    lan: Annotated[
        bool, typer.Option("--lan", help="Also allow other devices in your network, with a link that contains a token.")
    ] = False,
    open_: Annotated[
        bool, typer.Option("--open/--no-open", " /--no-browser", help="Open the page in a browser.")
    ] = True,
    store: StoreOption = None,
    player_file: PlayerFileOption = None,
) -> None:
    """Start the page: play, watch, compare, design, train and solve in the browser.

    Only this machine can open it, unless --lan is given.  Ctrl-C stops it.  Every move is saved, and
    interrupted jobs can be resumed.

    Example: lab2048 serve --port 8000 --no-open
    """
    need("app")
    load_players(player_file)
    token = secrets.token_urlsafe(16) if lan else None
    listener = _listen(port, lan=lan)
    if listener is None:
        address = f"http://{LOCAL}:{port}/"
        if _is_ours(address) and not lan:
            print(f"lab2048 is already running: {address}")
            _open_browser(address, wanted=open_)
            return
        raise UsageError(
            f"port {port} is used by another program: expected a free port, such as --port {port + 1}", field="port"
        )
    with listener:
        _run(listener, token, store, open_browser=open_)


def _listen(port: int, *, lan: bool) -> socket.socket | None:
    """Return a listening socket, or None if the port is in use."""
    listener = socket.socket(socket.AF_INET, socket.SOCK_STREAM)
    if os.name == "posix":  # on other systems two programs could listen
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        listener.bind((EVERYWHERE if lan else LOCAL, port))
        listener.listen(128)
    except OSError as error:
        listener.close()
        if error.errno in (errno.EADDRINUSE, getattr(errno, "WSAEADDRINUSE", errno.EADDRINUSE)):
            return None
        raise UsageError(
            f"port {port} cannot be used ({error.strerror}): expected another one, such as --port 8000", field="port"
        ) from None
    return listener


def _is_ours(address: str) -> bool:
    """Return True if lab2048 answers at this address."""
    import urllib.request

    try:
        with urllib.request.urlopen(f"{address}api/status", timeout=3) as answer:
            return str(json.load(answer).get("program", "")).startswith("lab2048")
    except (OSError, ValueError, AttributeError):
        return False


def _run(listener: socket.socket, token: str | None, path: Path | None, *, open_browser: bool) -> None:
    """Serve until Ctrl-C."""
    import uvicorn

    from lab2048.records.store import Store
    from lab2048.views.web.http_protocol import HttpProtocol
    from lab2048.views.web.lazy_app import LazyApp, guarded

    port = listener.getsockname()[1]
    address = f"http://{LOCAL}:{port}/" + (f"?token={token}" if token else "")
    sys.setswitchinterval(SWITCH_SECONDS)
    with Store.open(path) as store:
        app = LazyApp(lambda: _open_lab(store), lambda: setattr(server, "should_exit", True))
        config = uvicorn.Config(
            guarded(app, token=token), log_level="error", access_log=False, timeout_graceful_shutdown=5,
            lifespan="on", server_header=False, ws="none", timeout_keep_alive=60, http=HttpProtocol,
        )  # fmt: skip
        server = uvicorn.Server(config)
        _Ending(server, app)
        print(f"lab2048 is running at {address}")
        if token:
            print(f"in your network: http://{_own_address()}:{port}/?token={token}")
        print("Press Ctrl-C to stop it; every game is saved.", flush=True)
        _open_browser(address, wanted=open_browser)
        for number in (signal.SIGINT, signal.SIGTERM):  # a shell may have set SIGINT to be ignored
            signal.signal(number, signal.default_int_handler)
        with contextlib.suppress(KeyboardInterrupt):
            server.run(sockets=[listener])
        if app.failure:
            raise app.failure
    print("stopped")


def _open_lab(store: "Store") -> "Lab":
    """Create the application and report interrupted jobs."""
    from lab2048.views.web.state import Lab

    lab = Lab(store)
    lab.jobs.load()
    for id_ in lab.jobs.interrupted():
        say(f"{id_} was interrupted when lab2048 last stopped; you can resume it on the page")
    return lab


def _own_address() -> str:
    """Return the address of this machine in its network, without sending anything."""
    with contextlib.suppress(OSError), socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as probe:
        probe.connect(("192.0.2.1", 9))
        return str(probe.getsockname()[0])
    return socket.gethostname()


def _open_browser(address: str, *, wanted: bool) -> None:
    """Open the page in a browser, if there is a display, once the server answers."""
    has_screen = (
        os.name != "posix" or sys.platform == "darwin" or any(map(os.environ.get, ("DISPLAY", "WAYLAND_DISPLAY")))
    )
    if wanted and has_screen:
        thread = threading.Timer(0.3, _browse, (address,))
        thread.daemon = True
        thread.start()


def _browse(address: str) -> None:
    import webbrowser

    with contextlib.suppress(webbrowser.Error, OSError):
        webbrowser.open(address)


class _Ending:
    """A server that closes event streams at Ctrl-C; otherwise they would keep it running."""

    def __init__(self, server: Any, app: "LazyApp") -> None:
        """Handle signals before the server does."""
        self._handle, self._app = server.handle_exit, app
        server.handle_exit = self

    def __call__(self, number: int, frame: Any) -> None:
        """Close the event streams, then stop the server."""
        self._app.close()
        self._handle(number, frame)
