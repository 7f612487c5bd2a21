"""The HTTP protocol of the server: malformed requests are answered in one line of JSON, too."""

import json

from uvicorn.protocols.http.auto import AutoHTTPProtocol

from lab2048.errors import LabError

WRONG = "this cannot be read: expected a request of HTTP/1.1, with Host: 127.0.0.1 or localhost"


class HttpProtocol(AutoHTTPProtocol):  # type: ignore[misc, valid-type]
    """Uvicorn's protocol, based on whichever implementation is installed."""

    def send_400_response(self, msg: str) -> None:  # noqa: ARG002 - uvicorn's message does not help
        """Answer a malformed request and close the connection."""
        body = json.dumps(LabError(WRONG, code="request.invalid").to_json()).encode()
        lines = (
            "HTTP/1.1 400 Bad Request",
            "content-type: application/json",
            f"content-length: {len(body)}",
            "x-content-type-options: nosniff",
            "connection: close",
        )
        self.transport.write("\r\n".join(lines).encode() + b"\r\n\r\n" + body)
        self.transport.close()
