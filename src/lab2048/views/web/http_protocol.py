"""HTTP as the server speaks it: what is no request at all is told so as everything else, in one line of JSON."""

import json

from uvicorn.protocols.http.auto import AutoHTTPProtocol

from lab2048.errors import LabError

WRONG = "this cannot be read: expected a request of HTTP/1.1, with Host: 127.0.0.1 or localhost"


class HttpProtocol(AutoHTTPProtocol):  # type: ignore[misc, valid-type]
    """The protocol of uvicorn, whichever of its two is installed."""

    def send_400_response(self, msg: str) -> None:  # noqa: ARG002 - it says nothing that helps
        """Answer what is no request, and hang up."""
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
