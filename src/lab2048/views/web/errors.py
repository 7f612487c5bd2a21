"""Errors of the API: one line of JSON with a status that follows from the class of the error."""

import os
import sys
from typing import Any

from fastapi import FastAPI, Request
from fastapi.exceptions import RequestValidationError
from fastapi.responses import JSONResponse
from starlette.exceptions import HTTPException

from lab2048.errors import (
    GameChangedError,
    GameDeletedError,
    JobConflictError,
    JobNotFoundError,
    LabError,
    RevisionError,
    SessionEndedError,
    StoppedError,
    StoreError,
    StoreNotFoundError,
    UnwritableError,
)
from lab2048.views.web.validation import to_error

# The first class that an error belongs to decides; any other LabError is a bad request.
_STATUSES: tuple[tuple[type[LabError], int], ...] = (
    (StoreNotFoundError, 404),
    (GameDeletedError, 404),
    (GameChangedError, 409),
    (StoreError, 503),
    (UnwritableError, 503),
    (StoppedError, 503),
    (JobNotFoundError, 404),
    (JobConflictError, 409),
    (SessionEndedError, 409),
    (RevisionError, 409),
)


class ApiError(LabError):
    """A request cannot be answered."""

    code = "request"
    status = 400

    def __init__(
        self, message: str, *, code: str | None = None, field: str | None = None, hint: str | None = None, **more: Any
    ) -> None:
        """Add `more` to the body of the response."""
        super().__init__(message, code=code, field=field, hint=hint)
        self.more = more


class NotFoundError(ApiError):
    """There is no such thing."""

    code = "not_found"
    status = 404


class ConflictError(ApiError):
    """The current state does not allow this; another client may have changed it."""

    code = "conflict"
    status = 409


class TooLargeError(ApiError):
    """The request asks for more than one request may."""

    code = "too_large"
    status = 413


class NotReadyError(ApiError):
    """Not possible yet: try again."""

    code = "not_ready"
    status = 503


def install(app: FastAPI) -> None:
    """Turn every error into one line of JSON."""
    app.add_exception_handler(LabError, _lab_error)
    app.add_exception_handler(RequestValidationError, _invalid)
    app.add_exception_handler(HTTPException, _http_error)
    app.add_exception_handler(Exception, _internal)


def status_of(error: LabError) -> int:
    if isinstance(error, ApiError):
        return error.status
    return next((status for kind, status in _STATUSES if isinstance(error, kind)), ApiError.status)


async def _lab_error(_: Request, error: Exception) -> JSONResponse:
    assert isinstance(error, LabError)
    if error.trace and os.environ.get("LAB2048_DEBUG"):
        sys.stderr.write(error.trace)
    return _response(error, status_of(error), error.more if isinstance(error, ApiError) else {})


async def _invalid(_: Request, error: Exception) -> JSONResponse:
    assert isinstance(error, RequestValidationError)
    return _response(to_error(error.errors()[0]), 422)


async def _http_error(request: Request, error: Exception) -> JSONResponse:
    assert isinstance(error, HTTPException)
    message, code = str(error.detail), "request"
    if error.status_code == 400:  # FastAPI says only that it failed
        message, code = "the body cannot be read: expected JSON", "request.invalid"
    if error.status_code == 404:
        message, code = f"there is nothing at {request.url.path[:80]}", "not_found"
    elif error.status_code == 405:
        allowed = (error.headers or {}).get("Allow", "another method")
        message, code = f"{request.method} is not allowed here: expected {allowed}", "method_not_allowed"
    response = _response(LabError(message, code=code), error.status_code)
    response.headers.update(error.headers or {})
    return response


async def _internal(_: Request, error: Exception) -> JSONResponse:
    return _response(LabError(f"internal error: {type(error).__name__}: {error}", code="internal"), 500)


def _response(error: LabError, status: int, more: dict[str, Any] | None = None) -> JSONResponse:
    return JSONResponse({**error.to_json(), "error": one_line(str(error)), **(more or {})}, status)


def one_line(text: str) -> str:
    """Return a text without line breaks and control characters, shortened if it is long."""
    line = " ".join(text.split())
    return "".join(letter if letter.isprintable() else "?" for letter in line)[:500]
