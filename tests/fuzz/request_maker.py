"""Random requests: plausible and hostile values for every route of the OpenAPI schema, strange heads, and bytes.

A request is a pure function of a random generator, and of the ids of games and jobs that the caller has seen.
"""

import json
from dataclasses import dataclass, field
from random import Random
from typing import Any
from urllib.parse import quote

Schema = dict[str, Any]

# Plausible values by name of a field or parameter.
_BOARDS = ["4x4", "3x3", "2x2", "1x2", "hex1", "hex2", "tri3", "##x|#2#|###"]
_BOARDS += ["2 4 8 16 / # # # # / # # # # / # # # #"]
_PLAYERS = [
    "random", "first", "greedy", "lookahead", "expectimax:depth=1", "montecarlo:rollouts=2", "human",
    "ntuple:weights=a",
    "optimal:table=a", "greedy:eval=({empty = 1})", "shield:player=(random)", "mcts:iterations=3", "net:weights=a@1",
]  # fmt: skip
PLAUSIBLE: dict[str, list[Any]] = {
    "board": _BOARDS,
    "player": _PLAYERS,
    "spec": _PLAYERS,
    "players": [["random"], ["random", "first"]],
    "mover": _PLAYERS,
    "moves": ["w", "wasd", "wasd" * 25, "qweasd"],
    "spawn": ["2:0.9,4:0.1", "2:1", "1:1", "2:0.5,4:0.25,8:0.25"],
    "spawner": ["fair", "worst", "best"],
    "goal": [4, 16, 2048, 2**31],
    "start": [0, 1, 2, 16],
    "seed": [0, 1, 7, 2**53],
    "name": ["a", "my-net", "2x2", "kuznetsov"],
    "objective": ["score", "win"],
    "method": ["ntuple", "dqn", "afterstate"],
    "network": ["small", "4x6", "auto", "best"],
    "minutes": [0.1, 1],
    "options": [{}, {"alpha": 0.5}, {"out": "x"}, {"threads": 2}],
    "chart": ["scores", "tiles", "distribution", "paired", "curve"],
    "tab": ["tab-of-a-fuzzer"],
    "turns": [[0], [0, 1, 2]],
    "training": ["a", "a@1"],
    "table": ["a", "2x2"],
    "kind": ["play", "match", "train", "solve"],
    "ids": ["1,2", "match-1,match-2"],
    "first": [0, 1, 5],
    "last": [1, 100, 20_000],
    "n": [1, 8],
    "at": [0, 1],
    "once": ["true"],
    "rev": [None],
}
_DEEP = "[" * 200 + "]" * 200
HOSTILE: list[Any] = [
    None, True, False, 0, -1, 1, -0.0, 2**31, 2**53 + 1, 2**63, 2**64, -(2**63), 10**400, 1e308, -1e308, 5e-324,
    float("nan"), float("inf"), "", " ", "\0", "a\0b", "\n", "\r\nX: 1", "\ud800", "\U0001f600", "\u202e", "١٢", "²",
    "½",
    "1_000", "0x10", "1e5", "+5", " 12 ", "-0", "NaN", "null", "true", "../../etc/passwd", "/etc/passwd", "C:\\x", "..",
    "%00", "%2e%2e%2f", "a" * 5000, "(" * 300, ")", "((99))", "expectimax:depth=(99)", "expectimax:depth=99",
    "mcts:iterations=(10000000)", "expectimax:cut=(0)", "ntuple:weights=(/etc/passwd)", "greedy:eval=({empty = 1e400})",
    "random:", ":", "=", ",", "random:=", "x" * 499, "9999x9999", "0x0", "1x1", "hex99", "tri99", "4x4x4", "2:nan",
    "2:1e400", "2:0.1", "3:1", "2:0.5,2:0.5", "-2:1", "4x4|", "|", "2 2 / 2", "131072 " * 16, "x" * 64, "match-0",
    "match-99999999999999999999", "match--1", "train-1", "a@", "a@@1", "a@99999999999999999999", [], [[]], [None], {},
    {"": ""}, {"a": {"b": {"c": []}}}, ["a"] * 3000, json.loads(_DEEP), {"__proto__": 1}, "wasd" * 1000, "é" * 1999,
]  # fmt: skip
_HEADERS = {
    "Host": ["localhost", "127.0.0.1", "evil.example", "", "[::1]", "[", "localhost:99999", "localhost:²", "a" * 3000],
    "Origin": ["null", "http://localhost", "http://evil.example", "", "http://[", "\xff"],
    "Authorization": ["Bearer", "Bearer ", "Basic YTph", "Bearer \xff\xfe", "token x", "B" * 4000],
    "Cookie": ["lab2048=x", "a=b; ;=;;; lab2048-80", "=" * 3000, '"', "a=\xff", "$Version=1; a=b"],
    "Content-Length": ["0", "-1", "1", "99", "+5", "0x10", "1e3", "99999999999999999999", "5, 5", "", " 7", "²"],
    "Content-Type": ["text/plain", "application/json; charset=utf-16", "", "application/x-ndjson", ";;;", "a" * 3000],
    "Transfer-Encoding": ["chunked", "gzip, chunked", "identity", "chunked, chunked", "\x0bchunked"],
    "Accept-Encoding": ["gzip", "gzip;q=0", "br, zstd", "*;q=nan", ","],
    "Accept": ["text/html", "*/*;q=2", "/", "\xff"],
    "Range": ["bytes=0-1", "bytes=-", "bytes=9-1", "lines=1"],
    "If-None-Match": ["*", '"', 'W/"x"', "," * 2000],
    "Expect": ["100-continue", "200-ok", ""],
    "Connection": ["close", "keep-alive", "upgrade", "close, close", "\xff"],
    "Upgrade": ["websocket", "h2c", ""],
    "X-Tab": ["tab-of-a-fuzzer", "", "a" * 4000, "\xff"],
    "Sec-Fetch-Site": ["cross-site", "same-site", "none", "same-origin"],
    "X-Forwarded-For": ["127.0.0.1", "a"],
}  # fmt: skip
_METHODS = [
    "GET",
    "POST",
    "PUT",
    "DELETE",
    "HEAD",
    "OPTIONS",
    "PATCH",
    "TRACE",
    "CONNECT",
    "get",
    "PRI",
    "A" * 300,
    "G\0T",
]
_PLACES = [
    "/", "//", "/play", "/play/../..", "/static/", "/static/js/app.js", "/static/../app.py", "/static/%2e%2e/app.py",
    "/%", "/%zz", "/%00", "/\\", "/%5c", "*", "http://localhost/", "http://evil.example/api/status", "localhost:80",
    "/api", "/api/", "/api/nowhere", "/API/status", "/api/status/", "/api//status", "/plotly.js", "/favicon.ico",
    "/;a=b", "/?", "/?token", "/?token=%FF", "/#x", "/é", "/" + "a" * 9000, "/" + "%41" * 4000, "/?" + "a=b&" * 3000,
    "/api/games/1/../2",
]  # fmt: skip
# Operations that start a process or long work are asked for more rarely, and so are deletions.
_RARE = (
    "/api/matches",
    "/api/trainings",
    "/api/solves",
    "/api/studies",
    "/api/design/estimate",
    "/api/jobs/{job}/resume",
)


@dataclass
class Seen:
    """Ids that the server has given."""

    games: list[int] = field(default_factory=lambda: [1])
    jobs: list[str] = field(default_factory=lambda: ["match-1", "solve-1", "train-1"])

    def note(self, answer: Any) -> None:
        """Remember the ids in an answer."""
        if isinstance(answer, dict):
            state = answer.get("state")
            if isinstance(state, dict) and isinstance(state.get("id"), int):
                self.games = [*self.games[-20:], state["id"]]
            if isinstance(answer.get("id"), str):
                self.jobs = [*self.jobs[-20:], answer["id"]]


@dataclass(frozen=True)
class Request:
    """The bytes of a request, and what they are about."""

    kind: str
    about: str
    data: bytes
    method: str = "GET"
    is_reset: bool = False  # the client resets the connection instead of reading the answer


class RequestMaker:
    """Makes requests for the routes of a schema."""

    def __init__(self, schema: Schema, port: int, token: str) -> None:
        self._models: dict[str, Schema] = schema["components"]["schemas"]
        self._host, self._token = f"127.0.0.1:{port}", token
        self._operations = [
            (method.upper(), path, operation)
            for path, methods in schema["paths"].items()
            for method, operation in methods.items()
            for _ in range(1 if method == "delete" or (method == "post" and path in _RARE) else 20)
        ]

    def make(self, rng: Random, seen: Seen) -> Request:
        chance = rng.random()
        if chance < 0.7:
            return self._structured(rng, seen)
        if chance < 0.8:
            return self._with_strange_head(rng, seen)
        if chance < 0.9:
            return self._strange_place(rng)
        return self._damaged(rng, seen)

    def _structured(self, rng: Random, seen: Seen) -> Request:
        method, path, operation = rng.choice(self._operations)
        target, body = self._fill(rng, seen, path, operation)
        return Request("structured", f"{method} {path}", self._write(method, target, body, {}), method)

    def _with_strange_head(self, rng: Random, seen: Seen) -> Request:
        method, path, operation = rng.choice(self._operations)
        target, body = self._fill(rng, seen, path, operation)
        chosen = rng.sample(sorted(_HEADERS), rng.randint(1, 4))
        strange = {name: rng.choice(_HEADERS[name]) for name in chosen}
        if rng.random() < 0.1:
            strange |= {f"X-{i}": "x" for i in range(rng.choice([90, 200, 2000]))}
        data = self._write(method, target, body, strange)
        return Request("head", f"{method} {path} with {', '.join(chosen)}", data, method)

    def _strange_place(self, rng: Random) -> Request:
        method, target = rng.choice(_METHODS), rng.choice(_PLACES)
        return Request("place", f"{method[:20]} {target[:60]}", self._write(method, target, b"", {}), method)

    def _damaged(self, rng: Random, seen: Seen) -> Request:
        data = bytearray(self._structured(rng, seen).data)
        how = rng.choice(["flip", "cut", "insert", "repeat", "random", "pipeline", "lines", "chunked"])
        if how == "flip":
            for _ in range(rng.randint(1, 8)):
                data[rng.randrange(len(data))] = rng.randrange(256)
        elif how == "cut":
            del data[rng.randrange(len(data)) :]
        elif how == "insert":
            at = rng.randrange(len(data))
            data[at:at] = rng.randbytes(rng.randint(1, 300))
        elif how == "repeat":
            at = rng.randrange(len(data))
            data[at:at] = data[: rng.randrange(len(data))]
        elif how == "random":
            data = bytearray(rng.randbytes(rng.choice([1, 10, 1000, 70_000])))
        elif how == "pipeline":
            data += b"".join(self._structured(rng, seen).data for _ in range(rng.randint(1, 5)))
        elif how == "lines":
            data = bytearray(data.replace(b"\r\n", rng.choice([b"\n", b"\r", b"\r\n\r\n", b"\n\r", b"\r\n "])))
        else:
            sizes = [b"5", b"0", b"-1", b"FFFFFFFFFFFFFFFFF", b"x", b"5;a=b", b""]
            head = self._write("POST", "/api/games", None, {"Transfer-Encoding": "chunked"})
            data = bytearray(head + b"".join(rng.choice(sizes) + b"\r\nhello\r\n" for _ in range(rng.randint(1, 4))))
        return Request("bytes", how, bytes(data), is_reset=rng.random() < 0.2)

    def _write(self, method: str, target: str, body: bytes | None, headers: dict[str, str]) -> bytes:
        fields = {"Host": self._host, "Authorization": f"Bearer {self._token}"}
        if body:
            is_lines = target.startswith("/api/games/import")
            fields["Content-Type"] = "application/x-ndjson" if is_lines else "application/json"
        if body is not None:
            fields["Content-Length"] = str(len(body))
        lines = [f"{method} {target} HTTP/1.1", *(f"{name}: {value}" for name, value in (fields | headers).items())]
        return "\r\n".join([*lines, "", ""]).encode("latin-1", "replace") + (body or b"")

    def _fill(self, rng: Random, seen: Seen, path: str, operation: Schema) -> tuple[str, bytes]:
        """Return the target and the body of an operation with random values."""
        query = []
        for parameter in operation.get("parameters", ()):
            name = parameter["name"]
            value = self._value(rng, seen, name, parameter.get("schema", {}))
            text = value if isinstance(value, str) else json.dumps(value)
            quoted = quote(text.encode("utf-8", "replace"), safe="")
            if parameter["in"] == "path":
                path = path.replace(f"{{{name}}}", quoted)
            elif parameter["in"] == "query" and (parameter.get("required") or rng.random() < 0.6):
                query.append(f"{name}={quoted}")
        if path == "/api/events":
            query.append("once=true")
        target = path + ("?" + "&".join(query) if query else "")
        content = operation.get("requestBody", {}).get("content", {})
        if path == "/api/games/import":
            return target, self._lines(rng)
        if not content:
            return target, b""
        body = self._value(rng, seen, "", next(iter(content.values()))["schema"])
        text = json.dumps(body)  # NaN and Infinity are written as such
        return target, text.encode()[: 64 * 1024]

    def _lines(self, rng: Random) -> bytes:
        """Return lines that may be games."""
        game = {
            "schema": "lab2048/episode-1",
            "rules": {"board": "2x2"},
            "seed": 1,
            "moves": "wasd",
            "player": "random",
        }
        lines = []
        for _ in range(rng.randint(0, 3)):
            for name in rng.sample(sorted(game), rng.randint(0, 3)):
                game[name] = rng.choice(HOSTILE)
            lines.append(json.dumps(game)[: rng.choice([10, 100_000])])
        return "\n".join(lines).encode()

    def _value(self, rng: Random, seen: Seen, name: str, schema: Schema, depth: int = 0) -> Any:
        if rng.random() < (0.04 if depth == 0 else 0.12):
            return rng.choice(HOSTILE)
        if name == "game" and rng.random() < 0.9:
            return rng.choice(seen.games)
        if name in ("job", "match", "solve") and rng.random() < 0.9:
            return rng.choice(seen.jobs)
        if name in PLAUSIBLE and rng.random() < 0.85:
            return rng.choice(PLAUSIBLE[name])
        return self._of_schema(rng, seen, schema, depth)

    def _of_schema(self, rng: Random, seen: Seen, schema: Schema, depth: int) -> Any:
        """Return a value that a schema describes, at or near its bounds."""
        if "$ref" in schema:
            return self._of_schema(rng, seen, self._models[schema["$ref"].rpartition("/")[2]], depth)
        if "anyOf" in schema:
            return self._of_schema(rng, seen, rng.choice(schema["anyOf"]), depth)
        if "enum" in schema:
            return rng.choice(schema["enum"])
        if "const" in schema:
            return schema["const"]
        if "properties" in schema:
            required = schema.get("required", ())
            made = {
                name: self._value(rng, seen, name, each, depth + 1)
                for name, each in schema["properties"].items()
                if (name in required or rng.random() < 0.6) and rng.random() > 0.02
            }
            return made | ({"surplus": 1} if rng.random() < 0.02 else {})
        kind = schema.get("type")
        if kind in ("integer", "number"):
            low, high = schema.get("minimum", -5), schema.get("maximum", 2**40)
            whole = rng.choice([low, high, low - 1, high + 1, low + 1, rng.randint(int(low), max(int(low), int(high)))])
            return whole if kind == "integer" else whole + rng.random()
        if kind == "array":
            n = rng.choice([0, 1, 2, schema.get("maxItems", 5) + 1])
            return [self._value(rng, seen, "", schema.get("items", {}), depth + 1) for _ in range(min(n, 50))]
        if kind == "boolean":
            return rng.random() < 0.5
        if kind == "null":
            return None
        if schema.get("examples"):
            return rng.choice(schema["examples"])
        return rng.choice([*_BOARDS, *_PLAYERS, *HOSTILE])
