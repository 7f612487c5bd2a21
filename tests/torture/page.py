"""The server of the page under torture: clients that play, and remember what was acknowledged as saved."""

import contextlib
import http.client
import json
import random
import re
import threading
import time
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Any, Self

from torture.program import Broken, Program, Running, wait_until
from torture.task import read_store, store_of

_ADDRESS = re.compile(r"http://127\.0\.0\.1:(\d+)/(?:\?token=([\w-]+))?")


@cache
def serve_words() -> tuple[str, ...]:
    """Return the words that start a server; with `--no-token` where there is one."""
    import inspect

    from lab2048.cli.commands.serve import serve

    words = ("serve", "--port", "0", "--no-open")
    return (*words, "--no-token") if "token" in inspect.signature(serve).parameters else words


class Page:
    """A running server."""

    def __init__(self, running: Running) -> None:
        self.running = running
        wait_until(lambda: _ADDRESS.search(running.read("out")) is not None or running.has_ended())
        found = _ADDRESS.search(running.read("out"))
        if found is None:
            raise Broken(f"the server does not start: {running.read('err')[-300:]}")
        self.port = int(found[1])

    @classmethod
    def start(cls, program: Program, folder: Path, *words: str) -> Self:
        return cls(program.start(folder, [*serve_words(), *words]))

    def ask(self, method: str, path: str, body: Any = None, seconds: float = 30) -> tuple[int, Any]:
        """Send a request on a connection of its own; return the status and the JSON."""
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=seconds)
        try:
            text = None if body is None else json.dumps(body)
            connection.request(method, path, text, {"Content-Type": "application/json"} if text else {})
            answer = connection.getresponse()
            return answer.status, json.loads(answer.read() or b"null")
        finally:
            connection.close()


@dataclass
class Known:
    """A game as its client knows it."""

    id: int
    rev: int
    moves: str = ""  # as the server has told them
    possible: list[str] = field(
        default_factory=lambda: [""]
    )  # what the store may have: the saved moves, and later ones
    is_deleted: bool = False
    doing: str = ""  # the request that is not answered yet

    def allows(self, found: str | None) -> bool:
        """Return whether the store may have these moves (None: no such game)."""
        if found is None:
            return self.is_deleted or self.doing == "delete"
        if self.is_deleted:
            return self.doing == "restore" and found == self.moves
        if found in self.possible:
            return True
        if self.doing.startswith("undo"):
            return found == self.moves[: len(self.moves) - int(self.doing[4:])]
        return self.doing == "moves" and found.startswith(self.moves)

    def take(self, moves: str, *, is_saved: bool) -> None:
        self.moves = moves
        self.possible = [moves] if is_saved else [*self.possible, moves]


@dataclass
class Client:
    """Plays some games at random until the server is gone."""

    page: Page
    rng: random.Random
    games: list[Known] = field(default_factory=list)
    n_acknowledged: int = 0
    is_asked_to_stop: bool = False
    failure: str = ""

    def play(self) -> None:
        try:
            while not self.is_asked_to_stop:
                self.step()
        except (OSError, http.client.HTTPException, ValueError):
            return  # the server was killed; an answer in part is no acknowledgement
        except Broken as error:
            self.failure = str(error)

    def step(self) -> None:
        if not self.games or (len(self.games) < 4 and self.rng.random() < 0.05):
            self._begin()
        if not self.games:
            time.sleep(0.01)  # refused: not too often
            return
        game = self.rng.choice(self.games)
        chance = self.rng.random()
        if game.is_deleted:
            game.doing = "restore"
            if (state := self._change(game, "POST", "restore")) is not None:
                game.is_deleted = False
                game.rev = state["rev"]
        elif chance < 0.02 and game.moves:
            game.doing = "delete"
            if self._change(game, "DELETE", "") is not None:
                game.is_deleted = True
        elif chance < 0.12 and len(game.moves) > 3:
            n = self.rng.randint(1, 3)
            game.doing = f"undo{n}"
            if (answer := self._change(game, "POST", "undo", {"n": n, "rev": game.rev})) is not None:
                self._take(game, answer["state"], game.moves[:-n])
        else:
            game.doing = "moves"
            letters = "".join(self.rng.choices("wasd", k=self.rng.randint(1, 4)))
            if (answer := self._change(game, "POST", "moves", {"moves": letters, "rev": game.rev})) is not None:
                made = "".join("wdsa"[turn["move"]] for turn in answer["turns"])
                self._take(game, answer["state"], game.moves + made)
        game.doing = ""

    def _begin(self) -> None:
        status, answer = self.page.ask(
            "POST", "/api/games", {"rules": {"board": "4x4"}, "seed": self.rng.getrandbits(20)}
        )
        if status == 200:
            state = answer["state"]
            self.games.append(Known(state["id"], state["rev"]))
        elif status != 503:
            raise Broken(f"a new game: status {status}, {answer}")

    def _change(self, game: Known, method: str, verb: str, body: Any = None) -> Any:
        """Send a change; return the answer, or None if it was refused."""
        path = f"/api/games/{game.id}" + (f"/{verb}" if verb else "")
        status, answer = self.page.ask(method, path, {} if method == "POST" and body is None else body)
        if status == 200:
            self.n_acknowledged += 1
            return answer
        if status == 409:  # outdated
            _, answer = self.page.ask("GET", f"/api/games/{game.id}")
            if "state" in answer:
                game.rev = answer["state"]["rev"]
        elif status != 503:
            raise Broken(f"{method} {path}: status {status}, {answer}")
        return None

    def _take(self, game: Known, state: dict[str, Any], moves: str) -> None:
        game.rev = state["rev"]
        if len(moves) != state["n_moves"]:
            raise Broken(f"game {game.id} has {state['n_moves']} moves, expected {len(moves)}")
        game.take(moves, is_saved=state["saved"])


def play_on(page: Page, clients: list[Client]) -> list[threading.Thread]:
    """Let clients play in threads; they end when the server does."""
    threads = []
    for client in clients:
        client.page = page
        threads.append(threading.Thread(target=client.play, daemon=True))
        threads[-1].start()
    return threads


def check_games(folder: Path, clients: list[Client]) -> None:
    """Raise Broken unless the store has what was acknowledged."""
    found = stored_moves(store_of(folder))
    for client in clients:
        if client.failure:
            raise Broken(client.failure)
        for game in client.games:
            if not game.allows(found.get(game.id)):
                kept = found.get(game.id)
                raise Broken(
                    f"game {game.id}: {len(game.moves)} moves acknowledged, "
                    f"{'none' if kept is None else len(kept)} in the store (request: {game.doing or 'none'})"
                )


def settle(folder: Path, clients: list[Client]) -> None:
    """Continue from what the store has: a request without an answer was done or not."""
    found = stored_moves(store_of(folder))
    for client in clients:
        for game in client.games:
            kept = found.get(game.id)
            game.is_deleted, game.doing = kept is None, ""
            game.take(game.moves if kept is None else kept, is_saved=True)
        client.games = [game for game in client.games if not game.is_deleted]


def refresh(page: Page, clients: list[Client]) -> None:
    """Compare the games of a new server with what the clients know."""
    for client in clients:
        for game in client.games:
            status, answer = page.ask("GET", f"/api/games/{game.id}")
            if status != 200 or answer["moves"] != game.moves:
                raise Broken(f"game {game.id}: the new server does not show what is in the store (status {status})")
            game.rev = answer["state"]["rev"]


def stored_moves(path: Path) -> dict[int, str]:
    """Return the moves of every game in a store, by id; checks all of it."""
    import shutil
    import tempfile

    from lab2048.records.store import Store

    read_store(path, "SELECT 1")
    if not path.exists():
        return {}
    with tempfile.TemporaryDirectory(dir=path.parent.parent) as name, contextlib.ExitStack() as stack:
        for file in path.parent.glob(f"{path.name}*"):
            shutil.copy(file, name)
        store = stack.enter_context(Store.open(Path(name) / path.name))
        return {id_: store.get(id_).episode.moves for (id_,) in store._database.execute("SELECT id FROM episodes")}
