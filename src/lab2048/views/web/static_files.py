"""The files of the page, and plotly's; nothing else of the disk can be asked for.

They are given away without the API, so that a browser has the page while the API is still being loaded.
"""

import gzip
from functools import cache, lru_cache
from hashlib import sha256
from importlib.util import find_spec
from pathlib import Path

from anyio import to_thread
from starlette.datastructures import Headers
from starlette.responses import JSONResponse, Response
from starlette.types import Receive, Scope, Send

from lab2048.errors import LabError
from lab2048.extras import missing_error

STATIC = Path(__file__).parent / "static"
PLOTLY = "/plotly.js"
HOME, ICON = STATIC / "index.html", STATIC / "icon.svg"
PAGES = ("play", "watch", "games", "review", "design", "lab", "train", "solve")
KINDS = {
    ".html": "text/html; charset=utf-8",
    ".css": "text/css; charset=utf-8",
    ".js": "text/javascript; charset=utf-8",
    ".svg": "image/svg+xml",
    ".png": "image/png",
    ".webmanifest": "application/manifest+json",
    ".json": "application/json",
}


async def answer(scope: Scope, receive: Receive, send: Send) -> None:
    is_large = scope["path"] == PLOTLY  # to read and squeeze it takes longer than anyone else should wait
    response = await to_thread.run_sync(_answer, scope) if is_large else _answer(scope)
    await response(scope, receive, send)


def _answer(scope: Scope) -> Response:
    if scope["method"] not in ("GET", "HEAD"):
        return JSONResponse(
            LabError("a file can only be read: expected GET", code="method_not_allowed").to_json(),
            405,
            {"allow": "GET, HEAD"},
        )
    path, asked = _find(scope["path"]), Headers(scope=scope)
    if isinstance(path, Path):
        return _file(asked, path)
    if "text/html" not in asked.get("accept", "") or scope["path"].startswith("/static/"):
        return JSONResponse(LabError(path, code="not_found").to_json(), 404)
    answer = _file(asked, HOME)  # a person looks: the page says so, and shows a way back
    answer.status_code = 404 if answer.status_code == 200 else answer.status_code
    return answer


def _find(where: str) -> Path | str:
    """The file that belongs to an address, or a line that says that there is none."""
    if where == "/":
        return HOME
    if where == "/favicon.ico":  # browsers ask for it by themselves
        return ICON
    if where == PLOTLY:
        return _plotly() or str(missing_error("app", ["plotly"]))
    kind, _, rest = where.removeprefix("/").partition("/")
    if kind == "static":  # only what is listed, so that no path leads elsewhere
        return STATIC / rest if rest in _listing() else f"there is no file {rest[:80]!r}"
    # A part of the page by its own address: the browser shows what belongs there.
    return HOME if kind in PAGES else f"there is nothing at {where[:80]}"


@cache
def _plotly() -> Path | None:
    """Plotly's JavaScript from the installed package."""
    spec = find_spec("plotly")
    places = (spec.submodule_search_locations or ()) if spec else ()
    found = (Path(place) / "package_data" / "plotly.min.js" for place in places)
    return next((file for file in found if file.is_file()), None)


@cache
def _listing() -> frozenset[str]:
    return frozenset(path.relative_to(STATIC).as_posix() for path in STATIC.rglob("*") if path.suffix in KINDS)


def _file(asked: Headers, path: Path) -> Response:
    """A file, or word that it has not changed since it was last asked for."""
    stamp = path.stat()
    body, squeezed, tag = _read(path, stamp.st_mtime_ns, stamp.st_size)
    headers = {"etag": tag, "cache-control": "no-cache", "vary": "accept-encoding"}
    if tag in asked.get("if-none-match", ""):
        return Response(status_code=304, headers=headers)
    if "gzip" in asked.get("accept-encoding", "") and len(squeezed) < len(body):
        body = squeezed
        headers["content-encoding"] = "gzip"
    return Response(body, media_type=KINDS[path.suffix], headers=headers)


@lru_cache(maxsize=200)
def _read(path: Path, changed: int, size: int) -> tuple[bytes, bytes, str]:  # noqa: ARG001 - changed files are read again
    body = path.read_bytes()
    return body, gzip.compress(body, 6, mtime=0), f'"{sha256(body).hexdigest()[:16]}"'
