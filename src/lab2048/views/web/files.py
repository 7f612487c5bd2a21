"""The files of the page, and plotly's; nothing else of the disk can be asked for."""

import gzip
from functools import lru_cache
from hashlib import sha256
from importlib.util import find_spec
from pathlib import Path

from fastapi import APIRouter, Request
from fastapi.responses import Response

from lab2048.views.web.error import NotFoundError

STATIC = Path(__file__).parent / "static"
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

router = APIRouter(include_in_schema=False)


@router.get("/")
def home(request: Request) -> Response:
    """The page."""
    return _answer(request, STATIC / "index.html")


@router.get("/favicon.ico")
def icon(request: Request) -> Response:
    """What browsers ask for by themselves."""
    return _answer(request, STATIC / "icon.svg")


@router.get("/static/{path:path}")
def static(request: Request, path: str) -> Response:
    """A file of the page; only those that are listed, so that no path leads elsewhere."""
    if path not in _listing():
        raise NotFoundError(f"there is no file {path[:80]!r}")
    return _answer(request, STATIC / path)


@router.get("/plotly.js")
def plotly(request: Request) -> Response:
    """Plotly's JavaScript from the installed package."""
    spec = find_spec("plotly")
    for place in spec.submodule_search_locations or () if spec else ():
        file = Path(place) / "package_data" / "plotly.min.js"
        if file.is_file():
            return _answer(request, file)
    raise NotFoundError("plotly is not installed: pip install plotly")


@router.get("/{page}")
@router.get("/{page}/{rest:path}")
def page(request: Request, page: str, rest: str = "") -> Response:
    """A part of the page by its own address; the browser shows what belongs there."""
    if page not in PAGES:
        where = f"/{page}/{rest}" if rest else f"/{page}"
        raise NotFoundError(f"there is nothing at {where[:80]}")
    return _answer(request, STATIC / "index.html")


def _listing() -> frozenset[str]:
    return frozenset(path.relative_to(STATIC).as_posix() for path in STATIC.rglob("*") if path.suffix in KINDS)


def _answer(request: Request, path: Path) -> Response:
    """A file, or word that it has not changed since it was last asked for."""
    stamp = path.stat()
    body, squeezed, tag = _read(path, stamp.st_mtime_ns, stamp.st_size)
    headers = {"etag": tag, "cache-control": "no-cache", "vary": "accept-encoding"}
    if tag in request.headers.get("if-none-match", ""):
        return Response(status_code=304, headers=headers)
    if "gzip" in request.headers.get("accept-encoding", ""):
        body = squeezed
        headers["content-encoding"] = "gzip"
    return Response(body, media_type=KINDS[path.suffix], headers=headers)


@lru_cache(maxsize=200)
def _read(path: Path, changed: int, size: int) -> tuple[bytes, bytes, str]:  # noqa: ARG001 - changed files are read again
    body = path.read_bytes()
    return body, gzip.compress(body, 6, mtime=0), f'"{sha256(body).hexdigest()[:16]}"'
