"""Players: the contract, specs, and players that others bring."""

import re
from collections import Counter
from pathlib import Path

import pytest

from lab2048.errors import FileError, UsageError
from lab2048.players import (
    Decision,
    Player,
    canonical_spec,
    check_player,
    load_player_file,
    make_player,
    names,
    register,
)
from lab2048.players.human import HumanPlayer
from lab2048.players.registry import _split, options
from lab2048.rules import Board, Rules

EXTEND = Path(__file__).parents[1] / "docs" / "extend.md"


@pytest.fixture
def hug(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The player of docs/extend.md as a file; what it registers is forgotten afterwards."""
    monkeypatch.setattr("lab2048.players.registry._registered", {})
    text = re.findall(r"```python\n(.*?)```", EXTEND.read_text(), re.DOTALL)[0]
    assert len(text.splitlines()) < 60
    path = tmp_path / "hug.py"
    path.write_text(text)
    return path


@pytest.mark.parametrize("name", names())
def test_player_keeps_the_contract(name: str) -> None:
    player = make_player(name)
    if isinstance(player, HumanPlayer):
        player.ask = lambda board: board.legal_moves()[-1]
    for seed in (1, 2):
        check_player(player, seed=seed)


@pytest.mark.parametrize("name", names())
def test_player_and_its_options_are_explained(name: str) -> None:
    assert (make_player(name).__doc__ or "").strip()
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
        ("randm", "player 'randm' is unknown: did you mean random?"),
        ("", "player '' is unknown: known: first, human, random"),
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


def test_an_order_of_unknown_letters_is_refused() -> None:
    with pytest.raises(UsageError, match="expected letters of wdsa"):
        make_player("first:order=qq").choose(Board.from_text("22##"))


def test_parentheses_keep_commas_together() -> None:
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
    with pytest.raises(UsageError, match="needs someone at the keys"):
        make_player("human").choose(Board.from_text("22##"))
