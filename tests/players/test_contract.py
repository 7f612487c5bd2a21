"""Players: the contract, specs, and players that others bring."""

import re
from collections import Counter
from pathlib import Path

import pytest

from lab2048.cli.app import run
from lab2048.errors import FileError, UsageError
from lab2048.learning.ntuple import Training
from lab2048.learning.ntuple_config import Config
from lab2048.players import (
    Decision,
    Player,
    canonical_spec,
    check_player,
    contract,
    load_player_file,
    make_player,
    names,
    register,
)
from lab2048.players.human import HumanPlayer
from lab2048.players.registry import _split, options
from lab2048.rules import Board, Rules

QUICK = {"montecarlo": "montecarlo:rollouts=4"}  # for those that take long by default


@pytest.mark.parametrize("name", names())
def test_player_keeps_the_contract(name: str, tmp_path: Path) -> None:
    spec = QUICK.get(name, name)
    rules: tuple[str, ...] = contract.RULES
    if name == "optimal":  # only small boards are solved on the fly
        rules = ("2x3", "##x|#x#|###", "hex1")
    if name == "shield":  # a strategy is two of four moves
        rules = tuple(text for text in contract.RULES if text != "hex1")
    if name == "ntuple":  # tests/players/test_search_network.py has the other boards
        training = Training.begin(Config("rows"), Rules.from_text("3x3"), 1)
        list(training.run(n_moves=20_000))
        training.save(tmp_path / "3x3")
        spec, rules = f"ntuple:weights={tmp_path / '3x3'}", ("3x3",)
    if name in ("c51", "net"):
        pytest.importorskip("torch", reason="torch is not installed: pip install 'lab2048[deep]'")
        method, depth = ("c51", "") if name == "c51" else ("afterstate", ",depth=2")
        words = ["--rules", "3x3", "--moves", "2000", "--crowd", "8", "--widths", "8,4,8", "--trial-every", "0"]
        assert run(["train", method, "--out", str(tmp_path / "3x3"), *words]) == 0
        spec, rules = f"{name}:weights={tmp_path / '3x3'}{depth}", ("3x3",)
    player = make_player(spec)
    if isinstance(player, HumanPlayer):
        player.ask = lambda board: board.legal_moves()[-1]
    for seed in (1, 2):
        check_player(player, seed=seed, rules=rules)


@pytest.mark.parametrize("name", names())
def test_player_and_its_options_are_explained(name: str) -> None:
    assert (make_player(name).__doc__ or "").strip()
    assert make_player(name).unit in ("score", "chance", "value")
    for field in options(name).values():
        assert field.metadata["doc"]


def test_the_player_of_the_docs_works(hug: Path) -> None:
    load_player_file(hug)
    assert "hug" in names()
    check_player(make_player("hug:room=5"), seed=1)
    assert canonical_spec("hug:wall=2,room=5") == "hug:room=5.0,wall=2.0"


def test_the_random_player_is_fair() -> None:
    board, player = Board.from_text("2 # # # / # 4 # # / # # # # / # # # #"), make_player("random")
    rules, n = Rules.from_text("4x4"), 4000
    found: Counter[int] = Counter()
    for seed in range(n):
        player.start(rules, seed)
        found[player.choose(board).move] += 1
    assert all(abs(found[move] - n / 4) < 5 * (n * 3 / 16) ** 0.5 for move in range(4))


def test_the_random_player_draws_only_legal_moves_evenly() -> None:
    board, player = Board.from_text("2 4 # # / # # # # / # # # # / # # # #"), make_player("random")  # not up, not left
    found: Counter[int] = Counter()
    for seed in range(3000):
        player.start(Rules.from_text("4x4"), seed)
        found[player.choose(board).move] += 1
    assert set(found) == {1, 2}
    assert abs(found[1] - 1500) < 5 * (3000 / 4) ** 0.5


@pytest.mark.parametrize(
    ("spec", "says"),
    [
        ("randm", "unknown player 'randm': did you mean random?"),
        ("", "unknown player '': expected one of c51, expectimax, first"),
        ("first:ordr=as", "player first has no option 'ordr': did you mean order?"),
        ("first:order", "expected order=value"),
        ("first:order=a,order=s", "expected order=value, once"),
        ("first:order=(a", "expected as many ( as )"),
        ("random:x=1", "player random has no option 'x'"),
    ],
)
def test_a_wrong_spec_is_answered_with_the_nearest(spec: str, says: str) -> None:
    with pytest.raises(UsageError) as caught:
        make_player(spec)
    assert says in str(caught.value)


def test_a_wrong_value_says_what_was_expected(hug: Path) -> None:
    load_player_file(hug)
    with pytest.raises(UsageError, match="room=much is not understood: expected a number"):
        make_player("hug:room=much")


def test_an_option_may_be_left_open(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("lab2048.players.registry._registered", {})
    path = tmp_path / "timed.py"
    path.write_text(
        "from dataclasses import dataclass\n"
        "from lab2048.players import *\n"
        "@dataclass\n"
        "class Timed(Player):\n"
        "    ms: float | None = option(None, 'time for a move')\n"
        "    fast: bool = option(False, 'hurry')\n"
        "    def choose(self, board): ...\n"
        "register('timed', Timed)\n"
    )
    load_player_file(path)
    assert canonical_spec("timed") == "timed"
    assert canonical_spec("timed:fast=true,ms=20") == "timed:ms=20.0,fast=true"
    for wrong in ("timed:ms=soon", "timed:ms=nan", "timed:ms=inf", "timed:fast=maybe"):
        with pytest.raises(UsageError, match="is not understood"):
            make_player(wrong)


def test_our_own_names_are_taken() -> None:
    with pytest.raises(UsageError, match="'random' is taken"):
        register("random", HumanPlayer)


def test_an_order_of_unknown_letters_is_refused() -> None:
    with pytest.raises(UsageError, match="expected letters of wdsa"):
        make_player("first:order=qq").choose(Board.from_text("22##"))


def test_parentheses_keep_commas_together() -> None:
    assert _split("a=(b:c=1,d=(e:f=1,g=2)),h=3") == ["a=(b:c=1,d=(e:f=1,g=2))", "h=3"]
    assert _split("inner=(greedy:eval=snake,depth=2),peek=true") == ["inner=(greedy:eval=snake,depth=2)", "peek=true"]


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("import nowhere_to_be_found", "ModuleNotFoundError"),
        ("def (", "SyntaxError"),
        ("from lab2048.players import register\nregister('Bad Name', int)", "player name 'Bad Name'"),
        ("from lab2048.players import register\nregister('bad', int)", "expected a subclass"),
    ],
)
def test_a_broken_player_file_is_one_line(tmp_path: Path, text: str, says: str) -> None:
    path = tmp_path / "mine.py"
    path.write_text(text)
    with pytest.raises(FileError, match=re.escape(says)):
        load_player_file(path)


def test_a_missing_player_file_is_one_line(tmp_path: Path) -> None:
    with pytest.raises(FileError, match="cannot be read"):
        load_player_file(tmp_path / "none.py")


def test_the_contract_finds_a_cheat(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("lab2048.players.registry._registered", {})

    class Cheat(Player):
        def choose(self, board: Board) -> Decision:
            illegal = next((m for m in board.shape.moves if m not in board.legal_moves()), 0)
            return Decision(illegal, dict.fromkeys(board.legal_moves(), 0.0))

    register("cheat", Cheat)
    with pytest.raises(AssertionError, match="chose"):
        check_player(make_player("cheat"), seed=1)


def test_human_without_a_view_says_so() -> None:
    with pytest.raises(UsageError, match="needs a person at the keyboard"):
        make_player("human").choose(Board.from_text("22##"))
