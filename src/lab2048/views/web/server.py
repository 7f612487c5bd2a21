"""The web server: uvicorn with the guard, the time limits and the connection limits of this program."""

import contextlib
from typing import TYPE_CHECKING

from lab2048.views.web.http_protocol import MAX_LOOPBACK, MAX_OTHERS, HttpProtocol
from lab2048.views.web.lazy_app import LazyApp
from lab2048.views.web.security import Guard

if TYPE_CHECKING:
    import uvicorn

KEEP_ALIVE_SECONDS = 60
SHUTDOWN_SECONDS = 1  # for requests; searches and event streams are stopped before
_OTHER_FILES = 1000  # that may be open besides connections: the store, tables, pipes of jobs


def make_server(app: LazyApp, *, token: str | None = None, lan: bool = False) -> "uvicorn.Server":
    """Return a server that asks for `token`, unless it is None; with `lan`, other machines may use it."""
    import uvicorn

    _allow_open_files(MAX_LOOPBACK + MAX_OTHERS + _OTHER_FILES)
    config = uvicorn.Config(
        Guard(app, token=token, lan=lan),
        http=HttpProtocol,
        ws="none",
        lifespan="on",
        log_level="error",
        access_log=False,
        server_header=False,
        proxy_headers=False,
        timeout_keep_alive=KEEP_ALIVE_SECONDS,
        timeout_graceful_shutdown=SHUTDOWN_SECONDS,
    )
    return uvicorn.Server(config)


def _allow_open_files(n: int) -> None:
    """Raise the limit of open files of this process, where the system lets it."""
    with contextlib.suppress(ImportError, OSError, ValueError):  # Windows has no such limit
        import resource

        soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
        most = n if hard == resource.RLIM_INFINITY else min(n, hard)
        if soft != resource.RLIM_INFINITY and soft < most:
            resource.setrlimit(resource.RLIMIT_NOFILE, (most, hard))
