"""Endgame tables are leaves of the search with a network, and choose where a player has no network to trust."""

from pathlib import Path

import pytest
from kernels.test_play import assert_same_game
from plain_network import random_network

from lab2048.errors import FileError
from lab2048.models.ntuple.file import save_network
from lab2048.models.ntuple.network import Design, Network
from lab2048.models.ntuple.pattern import parse_patterns
from lab2048.players import check_player, fit_player, make_player
from lab2048.players.search.player import ThreadedPlayer
from lab2048.rules import Board, Rules
from lab2048.solver.endgame.book import SURE, Book
from lab2048.solver.endgame.compact_table import compact
from lab2048.solver.endgame.formation import Formation
from lab2048.solver.memory import Memory
from lab2048.solver.problem import Problem
from lab2048.solver.solve import Solve
from lab2048.solver.workers import Workers

RULES = Rules.from_text("3x3")
# The free cells are the lower right 2x2 and the ends of the first row and column.
MAP = "AA#|AG#|###"
BOARD = Board("64 32 8 / 16 2 4 / 2 4 #")


@pytest.fixture(scope="module")
def spec(tmp_path_factory: pytest.TempPathFactory) -> str:
    """A player with a useless network, and a folder with one table."""
    folder = tmp_path_factory.mktemp("endgames")
    network = random_network(Design(RULES, parse_patterns("rows", RULES.shape)), 1)
    save_network(folder / "net.safetensors", network)
    with Workers(1) as workers:
        problem = Problem.of(Formation.from_text(MAP, 16).rules, "win")
        compact(Solve(problem, folder / "tables" / "mine", workers, Memory(2**28), is_kept=False).run())
    return f"ntuple:weights={folder / 'net.safetensors'},depth=1,endgames={folder / 'tables'}"


def test_the_table_raises_the_values_of_the_network(spec: str) -> None:
    player, plain = make_player(spec), make_player(spec.partition(",endgames")[0])
    book = Book.open(spec.rpartition("=")[2], RULES)
    player.start(RULES, 1)
    plain.start(RULES, 1)
    for symmetry in BOARD.shape.symmetries:
        board = BOARD.carry(symmetry)
        found, network, decision = book.look_up(board), plain.choose(board), player.choose(board)
        assert found is not None
        assert found.value > SURE
        assert decision.move == found.move
        assert all(decision.values[move] >= value for move, value in network.values.items())
        assert decision.overridden is None
        assert decision.endgame is not None
        assert decision.endgame.to_json() == {
            "rate": found.value,
            "goal": 16,
            "formation": MAP,
            "text": f"{100 * found.value:.1f}% to make the next 16, exact while the large tiles stay",
        }


def test_the_rate_is_that_of_the_chosen_move(spec: str) -> None:
    book = Book.open(spec.rpartition("=")[2], RULES)
    player = make_player(spec)
    player.start(RULES, 1)
    rates = {move: book.rate(BOARD, move) for move in BOARD.legal_moves()}
    decision, best = player.choose(BOARD), book.look_up(BOARD)
    assert best is not None
    assert rates[best.move] == best
    assert decision.endgame is not None
    assert decision.endgame.rate == best.value == max(rate.value for rate in rates.values() if rate is not None)
    moved = {move for move, (after, _) in BOARD.slides() if after.ranks[:2] + after.ranks[3:4] != (6, 5, 4)}
    assert moved == {move for move, rate in rates.items() if rate is None}


@pytest.fixture(scope="module")
def ignorant(tmp_path_factory: pytest.TempPathFactory) -> str:
    """A network for the classic board with few trained weights."""
    path, rules = tmp_path_factory.mktemp("ignorant") / "net.safetensors", Rules.from_text("4x4")
    network = Network.empty(Design(rules, parse_patterns("rows", rules.shape)))
    network.weights[::3] = 1000
    save_network(path, network)
    return str(path)


LATE = "16384 4096 1024 256 / 8192 2048 512 128 / 2 2 2 4 / # # 2 2"


def test_the_table_chooses_where_the_network_is_guessing(ignorant: str) -> None:
    rules = Rules.from_text(LATE)
    player = make_player(f"ntuple:weights={ignorant},endgames=shipped")
    player.start(rules, 1)
    found = Book.open("shipped", rules).look_up(rules.board)
    assert found is not None
    decision = player.choose(rules.board)
    assert (decision.move, decision.depth) == (found.move, 1)
    assert decision.endgame is not None
    assert decision.endgame.rate == found.value


@pytest.mark.parametrize("options", ["depth=2", "depth=2,trust=0", "depth=1,trust=0"])
def test_games_in_one_call_use_tables_like_games_move_by_move(ignorant: str, options: str) -> None:
    assert_same_game(f"ntuple:weights={ignorant},endgames=shipped,{options}", Rules.from_text(LATE), seed=1)


@pytest.mark.parametrize(
    "text",
    [
        "64 32 8 / 8 2 4 / 2 4 #",  # no formation
        "64 32 2 / 16 2 8 / 8 2 4",  # the table gives up
        "128 64 8 / 32 2 4 / 2 4 #",  # 16 would not join the chain
    ],
)
def test_the_network_chooses_elsewhere(spec: str, text: str) -> None:
    player, plain = make_player(spec), make_player(spec.partition(",endgames")[0])
    player.start(RULES, 1)
    plain.start(RULES, 1)
    assert player.choose(Board(text)) == plain.choose(Board(text))


def test_it_keeps_the_contract(spec: str) -> None:
    check_player(make_player(spec), seed=1, rules=("3x3",))


@pytest.mark.parametrize("name", ["expectimax:depth=2", "lookahead", "expectimax:depth=3,threads=2", "expectimax:ms=1"])
def test_every_search_player_uses_tables(spec: str, name: str) -> None:
    folder = spec.rpartition("=")[2]
    player = make_player(f"{name}{',' if ':' in name else ':'}endgames={folder}")
    player.start(RULES, 1)
    found = Book.open(folder, RULES).look_up(BOARD)
    assert found is not None
    assert player.choose(BOARD).move == found.move
    assert player.choose(Board("64 32 8 / 8 2 4 / 2 4 #")).endgame is None


@pytest.fixture(scope="module")
def free(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with the table of three free large tiles."""
    folder = tmp_path_factory.mktemp("free")
    with Workers(1) as workers:
        problem = Formation.from_text("FFF|###|###", 16).problem
        compact(Solve(problem, folder / "mine", workers, Memory(2**28), is_kept=False).run())
    return folder


SCATTERED = Board("64 2 # / # 32 4 / # 2 16")


@pytest.mark.parametrize("name", ["expectimax:depth=2", "lookahead", "expectimax:depth=3,threads=2", "expectimax:ms=1"])
def test_free_large_tiles_may_stand_anywhere(free: Path, name: str) -> None:
    player = make_player(f"{name}{',' if ':' in name else ':'}endgames={free}")
    player.start(RULES, 1)
    for symmetry in RULES.shape.symmetries:
        board = SCATTERED.carry(symmetry)
        found, decision = Book.open(str(free), RULES).look_up(board), player.choose(board)
        assert found is not None
        assert decision.move == found.move
        assert decision.endgame is not None
        assert decision.endgame.text.endswith("% to make the next 16, exact as long as the large tiles do not merge")


def test_free_large_tiles_are_no_leaf_of_a_network(spec: str, free: Path) -> None:
    """A table does not say where the new tile is made: there is no board to evaluate.  The hint knows the rate."""
    plain = make_player(spec.partition(",endgames")[0])
    player = make_player(f"{spec.partition(',endgames')[0]},endgames={free}")
    plain.start(RULES, 1)
    player.start(RULES, 1)
    found, without = player.choose(SCATTERED), plain.choose(SCATTERED)
    assert (found.move, found.values) == (without.move, without.values)
    rate = Book.open(str(free), RULES).rate(SCATTERED, found.move)
    assert (rate is None) == (found.endgame is None)


def test_games_in_one_call_use_free_large_tiles_like_games_move_by_move(free: Path) -> None:
    assert_same_game(f"lookahead:depth=1,endgames={free}", Rules.from_text(SCATTERED.to_text()), seed=1)


@pytest.mark.parametrize(
    "name", ["random", "expectimax:depth=2", "lookahead:depth=1", "montecarlo:rollouts=10", "mcts:iterations=20"]
)
def test_every_player_without_a_network_plays_with_free_large_tiles(name: str) -> None:
    rules = Rules.from_text("FF#|#F#|###", goal=32)
    player = make_player(name)
    player.start(rules, 1)
    board = Board("F 4 # / # F # / 2 F 2")
    assert player.choose(board).move in board.legal_moves()
    if player.games_kernel(rules) is not None:
        assert_same_game(name, rules, seed=2)


def test_a_missing_folder_is_told_before_anything_is_compiled(spec: str) -> None:
    with pytest.raises(FileError, match="there is no folder nowhere"):
        fit_player(f"{spec.partition(',endgames')[0]},endgames=nowhere", RULES)


def test_auto_uses_what_is_built(spec: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path))
    auto = f"{spec.partition(',endgames')[0]},endgames=auto"
    player = make_player(auto)
    player.start(RULES, 1)
    assert player.choose(BOARD).overridden is None  # nothing is built yet
    (tmp_path / "lab2048").mkdir()
    (tmp_path / "lab2048" / "endgames").symlink_to(spec.rpartition("=")[2])
    player = make_player(auto)
    player.start(RULES, 1)
    found = Book.open(spec.rpartition("=")[2], RULES).look_up(BOARD)
    assert found is not None
    assert player.choose(BOARD).move == found.move


@pytest.mark.parametrize(
    ("name", "tables"),
    [
        ("ntuple", "shipped"),
        ("ntuple:endgames=no", "no"),
        ("ntuple:weights=mine.safetensors", "no"),  # a network of your own plays alone
        ("ntuple:depth=1,trust=0,by=value", "no"),
        ("expectimax", "no"),
        ("lookahead:endgames=auto", "auto"),
    ],
)
def test_tables_by_default(name: str, tables: str) -> None:
    player = make_player(name)
    assert isinstance(player, ThreadedPlayer)
    assert player.tables == tables
    if tables == "shipped":
        assert player.book(RULES) is None  # they are for the classic board
