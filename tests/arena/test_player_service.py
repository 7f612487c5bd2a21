"""Players as views ask them: prepared once, kept, asked on threads, and cancelled."""

import threading
from collections.abc import Callable, Iterator
from concurrent.futures import CancelledError, wait
from dataclasses import dataclass
from typing import ClassVar

import pytest

from lab2048.arena import compile as compiler
from lab2048.arena.player_service import AskedPlayer, PlayerService, RecentlyUsed
from lab2048.errors import FileError, LabError, PlayerError, UsageError
from lab2048.players import Decision, Player, option, register, registry
from lab2048.rules import Board, Rules

RULES = Rules.from_text("4x4")
BOARDS = [Board.from_text(f"{tile} # # # / # # # # / # # # # / # # # {tile}") for tile in (2, 4, 8, 16)]
SECONDS = 30  # for what takes milliseconds


class Script:
    """What the scripted player does, and what it was asked."""

    def __init__(self) -> None:
        self.asked: list[Board] = []
        self.starts: list[int] = []
        self.is_thinking, self.may_answer = threading.Event(), threading.Event()
        self.may_answer.set()
        self.n_at_once = self.most_at_once = 0
        self.on_start: Callable[[], None] = lambda: None
        self.on_choose: Callable[[], None] = lambda: None


@dataclass
class ScriptedPlayer(Player):
    """A player that does as a test says."""

    kernels: ClassVar[tuple[str, ...]] = ()
    script: ClassVar[Script]

    name: str = option("", "tells several of them apart")

    def start(self, rules: Rules, seed: int) -> None:
        self.script.starts.append(seed)
        self.script.on_start()

    def choose(self, board: Board) -> Decision:
        script = self.script
        script.asked.append(board)
        script.n_at_once += 1
        script.most_at_once = max(script.most_at_once, script.n_at_once)
        try:
            script.is_thinking.set()
            assert script.may_answer.wait(SECONDS)
            script.on_choose()
        finally:
            script.n_at_once -= 1
        return Decision(board.legal_moves()[0], dict.fromkeys(board.legal_moves(), 0.0))


@pytest.fixture
def script(monkeypatch: pytest.MonkeyPatch) -> Iterator[Script]:
    monkeypatch.setattr(registry, "_registered", {})
    monkeypatch.setattr(compiler, "prepare", lambda *_, **__: None)  # it may take a minute, and nothing here needs it
    register("scripted", ScriptedPlayer)
    ScriptedPlayer.script = Script()
    yield ScriptedPlayer.script
    ScriptedPlayer.script.may_answer.set()


def raise_(error: BaseException) -> Callable[[], None]:
    def run() -> None:
        raise error

    return run


def test_questions_are_answered_in_order_by_one_player_started_once(script: Script) -> None:
    player = AskedPlayer("scripted", RULES, 7)
    assert script.starts == script.asked == []  # nothing happens before the first question
    answers = [player.ask(board) for board in BOARDS]
    assert [answer.result(SECONDS).move for answer in answers] == [board.legal_moves()[0] for board in BOARDS]
    assert script.asked == BOARDS
    assert script.starts == [7]


def test_a_question_that_was_cancelled_while_it_waited_is_never_asked(script: Script) -> None:
    script.may_answer.clear()
    player = AskedPlayer("scripted", RULES, 1)
    first, second, third = (player.ask(board) for board in BOARDS[:3])
    assert script.is_thinking.wait(SECONDS)
    assert second.cancel()
    script.may_answer.set()
    first.result(SECONDS)
    third.result(SECONDS)
    assert script.asked == [BOARDS[0], BOARDS[2]]


def test_an_answer_that_comes_too_late_is_dropped(script: Script) -> None:
    script.may_answer.clear()
    player = AskedPlayer("scripted", RULES, 1)
    late = player.ask(BOARDS[0])
    told: list[bool] = []
    late.add_done_callback(lambda future: told.append(future.cancelled()))
    assert script.is_thinking.wait(SECONDS)
    assert late.cancel()  # although the player thinks already
    script.may_answer.set()
    player.ask(BOARDS[1]).result(SECONDS)  # comes after the late one
    assert told == [True]
    with pytest.raises(CancelledError):
        late.result(0)


def test_a_late_failure_is_dropped_too(script: Script) -> None:
    script.may_answer.clear()
    script.on_choose = raise_(ValueError("nonsense"))
    player = AskedPlayer("scripted", RULES, 1)
    late = player.ask(BOARDS[0])
    assert script.is_thinking.wait(SECONDS)
    late.cancel()
    script.may_answer.set()
    with pytest.raises(PlayerError):
        player.ask(BOARDS[1]).result(SECONDS)
    assert late.cancelled()


def test_a_player_never_thinks_about_two_boards_at_once(script: Script) -> None:
    player = AskedPlayer("scripted", RULES, 1)
    threads = [threading.Thread(target=player.choose, args=(board,)) for board in BOARDS]
    for thread in threads:
        thread.start()
    answers = [player.ask(board) for board in BOARDS]
    for thread in threads:
        thread.join(SECONDS)
    assert not wait(answers, SECONDS).not_done
    assert len(script.asked) == 8
    assert script.most_at_once == 1
    assert script.starts == [1]


def test_two_players_think_side_by_side(script: Script) -> None:
    service = PlayerService()
    script.may_answer.clear()
    slow = service.player("scripted", RULES, 1).ask(BOARDS[0])
    assert script.is_thinking.wait(SECONDS)
    assert service.player("first", RULES, 1).ask(BOARDS[0]).result(SECONDS).values
    assert not slow.done()
    script.may_answer.set()
    slow.result(SECONDS)


@pytest.mark.parametrize("when", ["on_start", "on_choose"])
@pytest.mark.parametrize("error", [ValueError("nonsense"), SystemExit(3)])
def test_a_player_that_raises_says_so_where_it_was_asked_and_can_be_asked_again(
    script: Script, when: str, error: BaseException
) -> None:
    setattr(script, when, raise_(error))
    player = AskedPlayer("scripted", RULES, 1)
    failure = player.ask(BOARDS[0]).exception(SECONDS)
    assert isinstance(failure, PlayerError)
    assert "player scripted fails" in str(failure)
    assert type(error).__name__ in str(failure)
    with pytest.raises(PlayerError):
        player.choose(BOARDS[0])
    setattr(script, when, lambda: None)
    assert player.ask(BOARDS[0]).result(SECONDS).values


def test_a_failed_preparation_is_told_and_tried_again(script: Script, monkeypatch: pytest.MonkeyPatch) -> None:
    seen: list[str] = []

    def fail(say: Callable[[str], None], *_: str, begun: object) -> None:
        say("compiling")
        seen.append(player.doing)
        raise FileError("the disk is full")

    player = AskedPlayer("scripted", RULES, 1)
    with monkeypatch.context() as patch:
        patch.setattr(compiler, "prepare", fail)
        assert str(player.ask(BOARDS[0]).exception(SECONDS)) == "the disk is full"
    assert seen == ["compiling"]
    assert player.doing == ""
    assert script.starts == []
    assert player.ask(BOARDS[0]).result(SECONDS).values


@pytest.mark.parametrize(
    ("spec", "error"), [("human", UsageError), ("nobody", UsageError), ("optimal:table=no-such-table", LabError)]
)
def test_who_cannot_play_is_refused_before_anything_is_compiled(
    spec: str, error: type[LabError], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(compiler, "prepare", lambda *_, **__: pytest.fail("compiled too early"))
    assert isinstance(AskedPlayer(spec, RULES, 1).ask(BOARDS[0]).exception(SECONDS), error)
    with pytest.raises(error):
        _ = AskedPlayer(spec, RULES, 1).groups


def test_a_new_game_starts_the_player_with_its_seed(script: Script) -> None:
    player = AskedPlayer("scripted", RULES, 1)
    player.start_game(5)
    player.choose(BOARDS[0])
    player.start_game(6)
    player.choose(BOARDS[0])
    assert script.starts == [5, 6]


def test_a_closed_player_answers_what_it_was_asked_and_can_be_asked_again(script: Script) -> None:
    script.may_answer.clear()
    player = AskedPlayer("scripted", RULES, 1)
    answers = [player.ask(board) for board in BOARDS]
    player.close()
    script.may_answer.set()
    assert not wait(answers, SECONDS).not_done
    assert player.ask(BOARDS[0]).result(SECONDS).values


def test_the_players_used_last_are_kept(script: Script) -> None:
    service = PlayerService(max_players=2)
    a, b = (service.player(f"scripted:name={name}", RULES, 1) for name in "ab")
    waiting = b.ask(BOARDS[0])
    assert service.player("scripted:name=a", RULES, 2) is a
    service.player("scripted:name=c", RULES, 1)  # evicts b
    assert service.player("scripted:name=a", RULES, 1) is a
    assert waiting.result(SECONDS).values  # whoever had asked b still gets an answer
    assert service.player("scripted:name=b", RULES, 1) is not b
    assert service.player("scripted:name=b", Rules.from_text("3x3"), 1).rules.shape.n_cells == 9
    assert script.asked == [BOARDS[0]]


def test_players_of_a_file_that_has_changed_are_forgotten(script: Script) -> None:
    service = PlayerService()
    a, b = (service.player(f"scripted:name={name}", RULES, 1) for name in ("net-a", "net-b"))
    service.forget("net-a")
    assert service.player("scripted:name=net-a", RULES, 1) is not a
    assert service.player("scripted:name=net-b", RULES, 1) is b
    assert script.asked == []


def test_closing_the_service_cancels_every_question(script: Script) -> None:
    script.may_answer.clear()
    service = PlayerService()
    answers = [service.player("scripted", RULES, 1).ask(board) for board in BOARDS]
    assert script.is_thinking.wait(SECONDS)
    service.close()
    assert all(answer.cancelled() for answer in answers)
    assert script.asked == BOARDS[:1]


def test_a_value_that_is_no_longer_valid_is_made_again() -> None:
    cache: RecentlyUsed[str, list[int]] = RecentlyUsed(2)
    first = cache.get("a", lambda: [1])
    assert cache.get("a", lambda: [2]) is first
    assert cache.get("a", lambda: [2], is_valid=lambda value: value != [1]) == [2]
