"""What goes wrong in a request, and how it is told: one line, and a status."""

from typing import Any

from fastapi import FastAPI, Request
from fastapi.exceptions import RequestValidationError
from fastapi.responses import JSONResponse
from starlette.exceptions import HTTPException

from lab2048.errors import JobConflictError, JobNotFoundError, LabError, StoreError
from lab2048.views.web.validation import in_words


class ApiError(LabError):
    """A request that cannot be answered."""

    status = 400

    def __init__(self, message: str, **more: Any) -> None:
        """The line, and what else the answer says."""
        super().__init__(message)
        self.more = more


class NotFoundError(ApiError):
    """There is no such thing."""

    status = 404


class ConflictError(ApiError):
    """It cannot be done as things stand: another did something first."""

    status = 409


class TooLargeError(ApiError):
    """More than is taken at once."""

    status = 413


class NotReadyError(ApiError):
    """It can be done, but not yet."""

    status = 503


def install(app: FastAPI) -> None:
    """Let every error end as one line of JSON."""
    app.add_exception_handler(LabError, _lab_error)
    app.add_exception_handler(RequestValidationError, _invalid)
    app.add_exception_handler(HTTPException, _http_error)
    app.add_exception_handler(Exception, _internal)


async def _lab_error(_: Request, error: Exception) -> JSONResponse:
    status, more = (error.status, error.more) if isinstance(error, ApiError) else (400, {})
    if isinstance(error, StoreError):
        status = 404 if str(error).startswith("there is no ") else 503
    elif isinstance(error, JobNotFoundError):
        status = NotFoundError.status
    elif isinstance(error, JobConflictError):
        status = ConflictError.status
    return JSONResponse({"error": one_line(str(error)), **more}, status)


async def _invalid(_: Request, error: Exception) -> JSONResponse:
    assert isinstance(error, RequestValidationError)
    return JSONResponse({"error": one_line(in_words(error.errors()[0]))}, 422)


async def _http_error(request: Request, error: Exception) -> JSONResponse:
    assert isinstance(error, HTTPException)
    text = str(error.detail)
    if error.status_code == 404:
        text = f"there is nothing at {request.url.path[:80]}"
    elif error.status_code == 405:
        text = f"{request.method} is not taken here: expected {(error.headers or {}).get('Allow', 'another method')}"
    return JSONResponse({"error": one_line(text)}, error.status_code, headers=error.headers)


async def _internal(_: Request, error: Exception) -> JSONResponse:
    return JSONResponse({"error": one_line(f"internal error: {type(error).__name__}: {error}")}, 500)


def one_line(text: str) -> str:
    """A text without what a line cannot hold, and not too long."""
    line = " ".join(text.split())
    return "".join(letter if letter.isprintable() else "?" for letter in line)[:500]
