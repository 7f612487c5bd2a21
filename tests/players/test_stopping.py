"""A search that would take hours ends when its stop flag is set, and leaves no wrong value behind."""

import threading
import time
from collections.abc import Callable
from concurrent.futures import CancelledError
from typing import Any

import pytest

from lab2048.arena.executor.local import Pool
from lab2048.arena.match import Match
from lab2048.arena.player_service import AskedPlayer, PlayerService
from lab2048.errors import StoppedError
from lab2048.kernels.rollout import tree
from lab2048.players import Player, make_player
from lab2048.players.searcher import Searcher
from lab2048.rules import Board, Rules
from lab2048.stop_flag import StopFlag, looking_at

SECONDS = 120  # for what takes milliseconds, on a busy machine

CLASSIC = Board.from_text("2 # # # / # 4 # # / # # 8 # / # # # 2")
WIDE = Board.from_text(" / ".join(["2 # # # # # # 4", *["# # # # # # # #"] * 7]))
ENDLESS = {
    "classic": ("expectimax:depth=12,cut=0", CLASSIC),
    "packed": ("lookahead:depth=12,end=spawn", CLASSIC),
    "network": ("ntuple:depth=12,cut=0", CLASSIC),
    "wide": ("lookahead:depth=4", WIDE),
    "clock": ("expectimax:ms=3600000,cut=0", CLASSIC),
    "threads": ("expectimax:depth=12,cut=0,threads=2", CLASSIC),
    "inner": ("shield:inner=(expectimax:depth=12,cut=0)", CLASSIC),
    "rollouts": ("montecarlo:rollouts=1000000,risk=0", CLASSIC),
    "long rollouts": ("montecarlo:rollouts=1000000,risk=0,limit=1000000000", WIDE),
    "rollouts, clock": ("montecarlo:ms=3600000,risk=0", CLASSIC),
    "tree": ("mcts:iterations=10000000", CLASSIC),
    "tree, clock": ("mcts:ms=3600000", CLASSIC),
}


def rules_of(board: Board) -> Rules:
    return Rules.from_text("x".join(map(str, board.shape.sizes)))


def searcher_of(player: Player) -> Searcher | None:
    found: Searcher | None = getattr(getattr(player, "_inner", player), "_searcher", None)
    return found


def progress_of(player: Player) -> int:
    """How far a search has come; 0 for rollouts, which do not tell."""
    if searcher := searcher_of(player):
        return searcher.n_states
    grown: Any = getattr(player, "_tree", None)
    return int(grown.numbers[tree.COUNT]) if grown else 0


def wait_until(holds: Callable[[], bool]) -> None:
    end = time.monotonic() + SECONDS
    while not holds():
        assert time.monotonic() < end
        time.sleep(0.01)  # not to wait for it, but to leave the processor to it


@pytest.mark.parametrize(("spec", "board"), ENDLESS.values(), ids=ENDLESS)
def test_a_search_ends_when_its_flag_is_set(spec: str, board: Board) -> None:
    player, flag, ends = make_player(spec), StopFlag(), list[object]()
    player.start(rules_of(board), 1)
    before, has_begun = progress_of(player), threading.Event()

    def search() -> None:
        with looking_at(flag):
            has_begun.set()
            try:
                ends.append(player.choose(board))
            except StoppedError as error:
                ends.append(error)

    thread = threading.Thread(target=search, daemon=True)
    thread.start()
    assert has_begun.wait(SECONDS)
    if "montecarlo" not in spec:
        wait_until(lambda: progress_of(player) > before)
    flag.set()
    thread.join(SECONDS)
    assert isinstance(ends[0], StoppedError)
    if searcher := searcher_of(player):
        fresh = make_player(spec)
        fresh.start(rules_of(board), 1)
        other = searcher_of(fresh)
        assert other is not None
        depth = 3 if searcher.is_packed else 1
        assert searcher.root_values(board, depth) == other.root_values(board, depth)


def test_a_cancelled_question_frees_the_thread_of_its_player() -> None:
    player = AskedPlayer("lookahead:depth=4", rules_of(WIDE), 1)
    player.prepare()
    searcher = searcher_of(player._player)
    assert searcher is not None
    before = searcher.n_states
    first, second = player.ask(WIDE), player.ask(WIDE)
    wait_until(lambda: searcher.n_states > before)
    assert first.cancel()
    # The second one is asked: the flag of the first does not stop it.
    wait_until(lambda: player._answered is second)
    between = searcher.n_states
    wait_until(lambda: searcher.n_states > between)
    assert not second.done()
    player.close(cancel=True)
    assert player._thinking.acquire(timeout=SECONDS)  # nobody thinks any more
    with pytest.raises(CancelledError):
        second.result(0)


def test_three_endless_questions_that_were_cancelled_leave_room_for_others() -> None:
    service = PlayerService()
    specs = [f"lookahead:depth=4,eval={name}" for name in ("order", "snake", "rows", "empty")]
    questions = [service.player(spec, rules_of(WIDE), 1).ask(WIDE) for spec in specs]
    for question in questions:
        question.cancel()
    assert service.player("greedy", rules_of(WIDE), 1).ask(WIDE).result(SECONDS).values


# On threads, on threads that have helpers, and in processes.
@pytest.mark.parametrize("spec", [ENDLESS[name][0] for name in ("classic", "threads", "inner")])
def test_a_match_of_endless_searches_can_be_stopped(spec: str) -> None:
    with Pool(2) as pool:
        match = Match(rules_of(CLASSIC), [spec], 1, 4)
        threading.Timer(0.5, pool.stop).start()  # perhaps before the first search: that must end, too
        assert all(not played.episodes for played in match.play(pool))
