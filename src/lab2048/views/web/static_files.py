"""The files of the page and of plotly; no other file can be requested.

They are served without the API, so that the page appears while the API is still loading.
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
from lab2048.views.web.compression import accepts_gzip

STATIC = Path(__file__).parent / "static"
PLOTLY = "/plotly.js"
HOME, ICON = STATIC / "index.html", STATIC / "icon.svg"
PAGES = ("play", "watch", "games", "review", "design", "lab", "studies", "train", "solve")
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
    is_large = scope["path"] == PLOTLY  # reading and compressing would block other requests
    response = await to_thread.run_sync(_answer, scope) if is_large else _answer(scope)
    await response(scope, receive, send)


def _answer(scope: Scope) -> Response:
    if scope["method"] not in ("GET", "HEAD"):
        return JSONResponse(
            LabError("files are read-only: expected GET", code="method_not_allowed").to_json(),
            405,
            {"allow": "GET, HEAD"},
        )
    path, asked = _find(scope["path"]), Headers(scope=scope)
    if isinstance(path, Path):
        return _file(asked, path)
    if "text/html" not in asked.get("accept", "") or scope["path"].startswith("/static/"):
        return JSONResponse(LabError(path, code="not_found").to_json(), 404)
    answer = _file(asked, HOME)  # opened by a person: the page shows the error and a way back
    answer.status_code = 404 if answer.status_code == 200 else answer.status_code
    return answer


def _find(where: str) -> Path | str:
    """Return the file of a path, or an error."""
    if where == "/":
        return HOME
    if where == "/favicon.ico":  # browsers request it automatically
        return ICON
    if where == PLOTLY:
        return _plotly() or str(missing_error("app", ["plotly"]))
    kind, _, rest = where.removeprefix("/").partition("/")
    if kind == "static":  # only listed files, so that no path leads outside
        return STATIC / rest if rest in _listing() else f"there is no file {rest[:80]!r}"
    # The address of a part of the page: the browser shows that part.
    return HOME if kind in PAGES else f"there is nothing at {where[:80]}"


@cache
def _plotly() -> Path | None:
    """Return the path of plotly's JavaScript in the installed package."""
    spec = find_spec("plotly")
    locations = (spec.submodule_search_locations or ()) if spec else ()
    found = (Path(location) / "package_data" / "plotly.min.js" for location in locations)
    return next((file for file in found if file.is_file()), None)


@cache
def _listing() -> frozenset[str]:
    return frozenset(path.relative_to(STATIC).as_posix() for path in STATIC.rglob("*") if path.suffix in KINDS)


def _file(asked: Headers, path: Path) -> Response:
    """Return a file, or status 304 if it has not changed."""
    stamp = path.stat()
    body, squeezed, tag = _read(path, stamp.st_mtime_ns, stamp.st_size)
    headers = {"etag": tag, "cache-control": "no-cache", "vary": "accept-encoding"}
    if tag in asked.get("if-none-match", ""):
        return Response(status_code=304, headers=headers)
    if accepts_gzip(asked) and len(squeezed) < len(body):
        body = squeezed
        headers["content-encoding"] = "gzip"
    return Response(body, media_type=KINDS[path.suffix], headers=headers)


@lru_cache(maxsize=200)
def _read(path: Path, changed: int, size: int) -> tuple[bytes, bytes, str]:  # noqa: ARG001 - changed files are read again
    body = path.read_bytes()
    return body, gzip.compress(body, 6, mtime=0), f'"{sha256(body).hexdigest()[:16]}"'
