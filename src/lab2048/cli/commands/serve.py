"""`lab2048 serve`: serve the page on this machine."""

import contextlib
import errno
import os
import re
import secrets
import signal
import socket
import sys
import threading
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from lab2048.cli.option_types import Readable, Within
from lab2048.cli.options import PlayerFileOption, StoreOption, is_set, load_players, say
from lab2048.cli.rescue import rescue
from lab2048.errors import UsageError
from lab2048.extras import need
from lab2048.library.interrupt import HANGUP, note_signal, signals

if TYPE_CHECKING:
    from lab2048.records.store import Store
    from lab2048.views.web.lazy_app import LazyApp
    from lab2048.views.web.state import Lab

PORT = 2048
LOCAL, EVERYWHERE = "127.0.0.1", "0.0.0.0"
SWITCH_SECONDS = 0.001  # how long a thread holds the GIL: short, so that requests do not wait for a player


def check_token(token: str) -> None:
    """Raise UsageError unless a token is hard to guess and fits into an address and a cookie."""
    if not re.fullmatch(r"[A-Za-z0-9._~-]{8,200}", token):
        raise UsageError("this token cannot be used: expected 8 to 200 letters, digits, - . _ or ~", field="token")


PortOption = Annotated[
    int, typer.Option("--port", "-p", metavar="N", help="Port to listen on (0 = any free one)."), Within(0, 65535)
]

TokenOption = Annotated[
    str | None,
    typer.Option("--token", metavar="TEXT", help="Your own token. Other users cannot see it if you set LAB2048_TOKEN."),
    Readable(check_token),
]


def serve(
    context: typer.Context,
    port: PortOption = PORT,
    lan: Annotated[
        bool, typer.Option("--lan", help="Also allow other devices in your network, with a link that contains a token.")
    ] = False,
    token: TokenOption = None,
    no_token: Annotated[
        bool, typer.Option("--no-token", help="Let every user of this machine in, without a token.")
    ] = False,
    open_: Annotated[
        bool, typer.Option("--open/--no-open", " /--no-browser", help="Open the page in a browser.")
    ] = True,
    store: StoreOption = None,
    player_file: PlayerFileOption = None,
) -> None:
    """Start the page: play, watch, compare, design, train and solve in the browser.

    Only you can open it: the address contains a token, which the browser gets from a file that only you can read.
    With --lan, other devices can open it, too.  Ctrl-C stops it.  Every move is saved, and interrupted jobs can be
    resumed.  A store has one server; --store starts a second one.

    Example: lab2048 serve --port 8000 --no-open
    """
    need("app")
    load_players(player_file)
    if _is_running(store, port if is_set(context, "port") else None, lan=lan, open_browser=open_):
        return
    token = None if no_token else token or secrets.token_urlsafe(16)
    if lan and token is None:
        raise UsageError("--lan needs a token: expected --no-token without --lan", field="no-token")
    listener = _listen(port, lan=lan)
    if listener is None:
        raise UsageError(
            f"port {port} is used by another program: expected a free port, such as --port {port + 1}", field="port"
        )
    with listener:
        _run(listener, token, store, lan=lan, open_browser=open_)


def _is_running(path: Path | None, port: int | None, *, lan: bool, open_browser: bool) -> bool:
    """Return True if the store has a server, after saying where; raise UsageError if another port or --lan is asked."""
    from lab2048.records.database import default_path
    from lab2048.views.web.launch_file import LaunchFile
    from lab2048.views.web.server_lock import ServerLock

    lock = ServerLock(path or default_path())
    if not lock.is_held():
        return False
    running = lock.port()
    if lan or running is None or port not in (None, running):
        raise lock.refusal()
    address = LaunchFile(running).address() or _address(LOCAL, running, None)
    print(f"lab2048 is already running: {address}")
    _open_browser(address, running, wanted=open_browser)
    return True


def _listen(port: int, *, lan: bool) -> socket.socket | None:
    """Return a listening socket, or None if the port is in use."""
    from lab2048.views.web.listener import Listener

    listener = Listener()
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


def _address(host: str, port: int, token: str | None) -> str:
    return f"http://{host}:{port}/" + (f"?token={token}" if token else "")


def _run(
    listener: socket.socket, token: str | None, path: Path | None, *, lan: bool = False, open_browser: bool
) -> None:
    """Serve until Ctrl-C."""
    from lab2048.records.memory import share_arenas
    from lab2048.records.store import Store
    from lab2048.records.store_file import VIEW_SECONDS
    from lab2048.views.web.launch_file import LaunchFile
    from lab2048.views.web.lazy_app import LazyApp
    from lab2048.views.web.server import make_server
    from lab2048.views.web.server_lock import ServerLock

    port = listener.getsockname()[1]
    address = _address(LOCAL, port, token)
    launch = LaunchFile(port)
    sys.setswitchinterval(SWITCH_SECONDS)
    share_arenas()
    code = 0
    with (
        Store.open(path, timeout=VIEW_SECONDS) as store,
        ServerLock(store.path).hold(port),
        contextlib.closing(launch),
    ):
        app = LazyApp(lambda: _open_lab(store), lambda: setattr(server, "should_exit", True))
        server = make_server(app, token=token, lan=lan)
        _Ending(server, app)
        launch.write(address)
        print(f"lab2048 is running at {address}")
        if lan:
            print(f"in your network: {_address(_own_address(), port, token)}")
        print("Press Ctrl-C to stop it; every game is saved.", flush=True)
        _open_browser(address, port, wanted=open_browser)
        ending = signals()
        for number in ending:  # a shell may have set SIGINT to be ignored
            signal.signal(number, server.handle_exit if number == HANGUP else signal.default_int_handler)
        with contextlib.suppress(KeyboardInterrupt):
            server.run(sockets=[listener])
        for number in ending:  # what is left to do takes a moment
            signal.signal(number, signal.SIG_IGN)
        if app.failure:
            raise app.failure
        if app.lab:
            code = rescue(*app.lab.unsaved, store.path)
    print("stopped")
    raise typer.Exit(code)


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


def _open_browser(address: str, port: int, *, wanted: bool) -> None:
    """Open the page in a browser, if there is a display, once the server answers."""
    from lab2048.views.web.launch_file import LaunchFile

    has_screen = (
        os.name != "posix" or sys.platform == "darwin" or any(map(os.environ.get, ("DISPLAY", "WAYLAND_DISPLAY")))
    )
    launch = LaunchFile(port)
    # Without a launch file, the user opens the printed address: an argument of the browser would show the token.
    if wanted and has_screen and launch.address() == address:
        thread = threading.Timer(0.3, _browse, (launch.path.as_uri(),))
        thread.daemon = True
        thread.start()


def _browse(address: str) -> None:
    import webbrowser

    with contextlib.suppress(webbrowser.Error, OSError):
        webbrowser.open(address)


class _Ending:
    """A server that stops all work at Ctrl-C; otherwise event streams and searches would keep it running."""

    def __init__(self, server: Any, app: "LazyApp") -> None:
        """Handle signals before the server does."""
        self._handle, self._app, self._is_ending = server.handle_exit, app, False
        server.handle_exit = self

    def __call__(self, number: int, frame: Any) -> None:
        """Stop the server; another Ctrl-C is ignored, because Uvicorn would then end without saving the games."""
        if not self._is_ending:
            self._is_ending = True
            note_signal(number)
            self._app.close()
            self._handle(number, frame)
