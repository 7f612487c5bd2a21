"""Measure what saving one move costs: python benchmarks/saving.py

For games of 100, 1,000 and 10,000 moves: the median time per saved move and the bytes written to the write-ahead log,
once by appending the move, as a session does before it syncs, and once by rewriting the whole game, as `Store.keep`
does, which syncs.  Then what it costs to make moves durable: for one person, and for 50 who move at the same time and
share the fsyncs.
"""

import math
import random
import statistics
import tempfile
import threading
import time
from collections.abc import Callable
from pathlib import Path

from lab2048.arena.session import Session
from lab2048.records.episode import Episode
from lab2048.records.store import Store
from lab2048.rules import Game, Rules

RULES, N_SAVED = Rules.from_text("8x8"), 100


def play(n_moves: int) -> Episode:
    """Play on a board so large that moves mostly towards one corner last long."""
    game, dice = Game(RULES, 1), random.Random(1)
    while len(game.turns) < n_moves:
        legal = game.board.legal_moves()
        game.play(dice.choice(legal[:2] if dice.random() < 0.9 else legal))
    return Episode.from_game(game, "human", 1.0)


def measure(episode: Episode, n_moves: int, make_save: Callable[[Store, Session], Callable[[], object]]) -> str:
    with tempfile.TemporaryDirectory() as folder, Store.open(Path(folder) / "games.sqlite") as store:
        store._database.execute("PRAGMA wal_autocheckpoint = 0")
        session = Session.branch(episode, n_moves)
        save = make_save(store, session)
        log, spent = store.path.with_name("games.sqlite-wal"), []
        size = log.stat().st_size
        for letter in episode.moves[n_moves : n_moves + N_SAVED]:
            session.play_letters(letter)
            begin = time.perf_counter()
            save()
            spent.append(time.perf_counter() - begin)
        n_bytes = (log.stat().st_size - size) // N_SAVED
        return f"{statistics.median(spent) * 1e6:6,.0f} us {n_bytes:7,} bytes"


def measure_durable(n_people: int, *, is_durable: bool) -> str:
    """Let people move as fast as they can; return the time per move that 50% and 95% of them wait."""
    spent: list[float] = []

    def move(session: Session) -> None:
        for _ in range(N_SAVED):
            session._save_due = math.inf  # only when the clock runs
            session.play(session.game.board.legal_moves()[0])
            begin = time.perf_counter()
            session.save()
            spent.append(time.perf_counter() - begin)

    with tempfile.TemporaryDirectory(dir=".") as folder, Store.open(Path(folder) / "games.sqlite") as store:
        if not is_durable:
            store.sync = lambda: None  # type: ignore[method-assign]
        sessions = [Session(RULES, seed, store) for seed in range(n_people)]
        for session in sessions:
            session.assign_id()
        threads = [threading.Thread(target=move, args=(session,)) for session in sessions]
        begin = time.perf_counter()
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        rate = len(spent) / (time.perf_counter() - begin)
    median, p95 = statistics.median(spent), sorted(spent)[int(0.95 * len(spent))]
    return f"median {median * 1e3:6.2f} ms, 95% within {p95 * 1e3:6.2f} ms, {rate:6,.0f} moves per second"


def appending(store: Store, session: Session) -> Callable[[], object]:
    stored = store.add(store.begin_run("play", RULES, "human", 1), session.episode())

    def save() -> None:
        nonlocal stored
        stored = store.save(stored, session.episode())

    return save


def rewriting(store: Store, session: Session) -> Callable[[], object]:
    run = store.begin_run("play", RULES, "human", 1)
    store.keep(run, {0: session.episode()})
    return lambda: store.keep(run, {0: Episode.from_game(session.game, "human", 1.0)})


def main() -> None:
    lengths = (100, 1_000, 10_000)
    episode = play(max(lengths) + N_SAVED)
    for n_moves in lengths:
        append, rewrite = (measure(episode, n_moves, how) for how in (appending, rewriting))
        print(f"{n_moves:6,} moves: append {append}; rewrite {rewrite}")
    for n_people in (1, 50):
        for is_durable in (False, True):
            words = "durable" if is_durable else "not durable"
            print(f"{n_people:2} at once, {words:11}: {measure_durable(n_people, is_durable=is_durable)}")


if __name__ == "__main__":
    main()
