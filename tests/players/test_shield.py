"""Strategies and shields: document 003, piece by piece, and any player behind a shield."""

import json

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from strategies import boards

from lab2048.cli.app import run
from lab2048.errors import BoardError, UsageError
from lab2048.players import Decision, Player, canonical_spec, check_player, make_player, register
from lab2048.players.shield_note import ShieldNote
from lab2048.players.strategy import Ranks, Strategy
from lab2048.rules import Board, Game, Move, Rules
from lab2048.rules.move import move_name
from lab2048.rules.shape import Shape

SQUARES = ("4x4", "3x3", "2x4", "1x8", "3x5", "5x5", "####|#xx#|#xx#|####", "#x#|###|#x#", "##x|#x#|###")
STRATEGIES = [(a, b) for a in Move for b in Move if (a - b) % 2]
FIGURE_5_3 = "4 2 # # / 8 2 # # / 2 16 2 # / 256 128 128 32"
# As the text says of figure 1.3: right sets one 64 above the other, beside 128, and leaves the lowest row alone.
LINED_UP = "# # # 2 / # # # # / # 64 8 # / 256 128 64 16"


def ranks_of(*texts: str) -> Ranks:
    return np.array([Board.from_text(text).ranks for text in texts], np.uint8)


def strategy_of(text: str, name: str = "left-down") -> Strategy:
    return Strategy.from_text(name, Board.from_text(text).shape)


@pytest.mark.parametrize(
    ("board", "rows", "all_lines"),
    [
        (FIGURE_5_3, 3, 6),  # not 2 16 2 ., not the column 4 8 2 256
        ("# # # # / # # # # / # # # # / # # # #", 4, 8),  # an empty line is in order
        ("# # # # / # # # # / # # # # / 2 # # #", 4, 8),
        ("# # # # / # # # # / # # # # / # 2 # #", 3, 7),  # an empty cell comes before a tile
        ("2 # # # / 2 2 # # / 4 4 2 # / 8 8 8 8", 4, 8),  # equal neighbours are in order
        ("8 4 2 # / # # # # / # # # # / # # # #", 4, 5),
        ("2 4 8 16 / 4 8 16 32 / 2 4 8 16 / 4 8 16 32", 0, 0),
    ],
)
def test_state_score(board: str, rows: int, all_lines: int) -> None:
    strategy = strategy_of(board)
    assert strategy.horizontal_scores(ranks_of(board)).tolist() == [rows]
    assert strategy.state_scores(ranks_of(board)).tolist() == [all_lines]
    assert strategy.n_lines == 8


@pytest.mark.parametrize(
    ("board", "value"),
    [
        ("4 4 # # / # 8 # # / # 8 # # / 128 128 2 #", 280),  # 8 + 16 + 256, the sum of figure 4.3
        (FIGURE_5_3, 4 + 256),
        ("2 # 2 # / # # # # / # # # # / # # # #", 0),  # they would merge, but are no neighbours
        ("2 2 2 # / # # # # / # # # # / # # # #", 8),  # two pairs
        ("2 2 # # / 2 2 # # / # # # # / # # # #", 16),  # four pairs
    ],
)
def test_mergeable_value(board: str, value: int) -> None:
    assert strategy_of(board).mergeable_values(ranks_of(board)).tolist() == [value]


@pytest.mark.parametrize(
    ("row", "locked"),
    [
        ("256 128 64 32", True),
        ("2 4 2 4", True),  # locked need not be in order
        ("256 128 128 32", False),
        ("256 128 64 #", False),  # all neighbours differ, but right would move them
        ("# # # #", False),
    ],
)
def test_locked_row(row: str, locked: bool) -> None:
    board = f"2 2 # # / # # # # / # # # # / {row}"
    assert strategy_of(board).are_locked(ranks_of(board)).tolist() == [locked]


@pytest.mark.parametrize(
    ("legal", "allowed"),
    [("urdl", "dl"), ("url", "l"), ("ud", "d"), ("ur", "r"), ("u", "u"), ("r", "r"), ("", "")],
)
def test_safe_moves(legal: str, allowed: str) -> None:
    flags = np.array([[letter in legal for letter in "urdl"]])
    assert strategy_of("4x4").safe_moves(flags).tolist() == [[letter in allowed for letter in "urdl"]]


def results_of(board: Board) -> tuple[np.ndarray, np.ndarray]:
    """Which moves are legal, and what they lead to, as a batch of one."""
    legal = np.zeros((1, 4), np.bool_)
    afterstates = np.zeros((1, 4, board.shape.n_cells), np.uint8)
    for move, (after, _) in board.slides():
        legal[0, move], afterstates[0, move] = True, after.ranks
    return legal, afterstates


@pytest.mark.parametrize(
    ("board", "proposed", "chosen"),
    [
        (LINED_UP, Move.LEFT, Move.RIGHT),
        (LINED_UP, Move.DOWN, Move.RIGHT),
        (LINED_UP, Move.UP, Move.UP),  # only safe moves are overridden
        ("# # # 2 / # # # # / # 64 8 # / 256 128 64 64", Move.LEFT, Move.LEFT),  # the lowest row is not locked
        ("# # # 2 / # # # # / # 64 8 # / 16 128 64 256", Move.LEFT, Move.LEFT),  # only an empty row would be in order
        ("# # # 2 / # # # # / # 64 8 # / 256 128 32 16", Move.LEFT, Move.LEFT),  # nothing to merge after it
        ("# # # # / # # # # / # # 64 8 / 256 128 64 16", Move.LEFT, Move.LEFT),  # right is not legal
    ],
)
def test_reverse_shield(board: str, proposed: Move, chosen: Move) -> None:
    legal, afterstates = results_of(Board.from_text(board))
    assert strategy_of(board).reverse_shield(np.array([proposed]), legal, afterstates).tolist() == [chosen]


def heuristic_as_printed(strategy: Strategy, safe: Ranks, unsafe: Ranks) -> bool:
    """Algorithm 1 of document 003, line by line, with line 7 of algorithm 2 before it."""
    shape: Shape = strategy.shape
    safe_hscore, unsafe_hscore = (int(strategy.horizontal_scores(board)[0]) for board in (safe, unsafe))
    safe_mergeable, unsafe_mergeable = (int(strategy.mergeable_values(board)[0]) for board in (safe, unsafe))
    over = Board(shape, tuple(int(rank) for rank in unsafe[0]))
    if not over.legal_moves():
        return False
    if safe_hscore >= unsafe_hscore and safe_mergeable == unsafe_mergeable:
        return False
    zero_rows = sum(not unsafe[0, list(line)].any() for line in shape.lines[strategy.along])
    return bool(unsafe_hscore - zero_rows > 0 and strategy.are_locked(unsafe)[0] and unsafe_mergeable > safe_mergeable)


@given(boards(SQUARES), st.data(), st.sampled_from(STRATEGIES))
def test_the_shorter_heuristic_is_the_printed_one(board: Board, data: st.DataObject, sides: tuple[Move, Move]) -> None:
    other = st.permutations(board.ranks).map(lambda ranks: np.array([ranks], np.uint8))
    safe, unsafe = data.draw(other), data.draw(other)
    strategy = Strategy(board.shape, *sides)
    assert strategy.are_better_back(safe, unsafe)[0] == heuristic_as_printed(strategy, safe, unsafe)


@given(boards(SQUARES), st.sampled_from(STRATEGIES), st.integers(0, 3))
def test_turning_board_and_strategy_turns_the_move(board: Board, sides: tuple[Move, Move], proposed: int) -> None:
    strategy = Strategy(board.shape, *sides)
    legal, afterstates = results_of(board)
    before = strategy.reverse_shield(np.array([proposed]), legal, afterstates)[0]
    ranks = np.array([board.ranks], np.uint8)
    for symmetry in board.shape.symmetries:
        turned = board.carry(symmetry)
        there = Strategy(board.shape, Move(symmetry.moves[sides[0]]), Move(symmetry.moves[sides[1]]))
        turned_legal, turned_afters = results_of(turned)
        moves = np.array([symmetry.moves[proposed]])
        assert there.reverse_shield(moves, turned_legal, turned_afters)[0] == symmetry.moves[before]
        turned_ranks = np.array([turned.ranks], np.uint8)
        assert there.state_scores(turned_ranks) == strategy.state_scores(ranks)
        assert there.mergeable_values(turned_ranks) == strategy.mergeable_values(ranks)
        allowed = strategy.safe_moves(legal)[0]
        assert all(there.safe_moves(turned_legal)[0, symmetry.moves[move]] == allowed[move] for move in range(4))


@given(st.lists(boards(("4x4",)), min_size=2, max_size=5), st.integers(0, 3))
def test_many_boards_are_judged_as_one_by_one(many: list[Board], proposed: int) -> None:
    strategy = strategy_of("4x4")
    results = [results_of(board) for board in many]
    legal = np.concatenate([flags for flags, _ in results])
    afterstates = np.concatenate([after for _, after in results])
    found = strategy.reverse_shield(np.full(len(many), proposed), legal, afterstates)
    alone = [int(strategy.reverse_shield(np.array([proposed]), *result)[0]) for result in results]
    assert found.tolist() == alone


def start(spec: str, rules: str = "4x4", seed: int = 1) -> Player:
    player = make_player(spec)
    player.start(Rules.from_text(rules, start=0 if " " in rules else None), seed)
    return player


def test_the_inner_players_values_are_kept_and_what_was_overridden_is_said() -> None:
    board = Board.from_text(LINED_UP)
    inner = start("first:order=d", LINED_UP).choose(board)
    found = start("shield:inner=(first:order=d)", LINED_UP).choose(board)
    assert (inner.move, found.move, found.overridden) == (Move.RIGHT, Move.RIGHT, None)  # made safe, and back again
    assert found.replaced == Move.DOWN  # the shield replaced a safe move all the same
    assert found.values == inner.values
    up = start("shield:inner=(first:order=w)", LINED_UP).choose(board)
    assert (up.move, up.overridden, up.replaced) == (Move.RIGHT, Move.UP, Move.DOWN)
    left = start("shield:inner=(first:order=a)", LINED_UP).choose(board)
    assert (left.move, left.overridden, left.replaced) == (Move.RIGHT, Move.LEFT, Move.LEFT)
    safe = start("shield:inner=(first:order=wdas),kind=safe", LINED_UP).choose(board)
    assert (safe.move, safe.overridden) == (Move.LEFT, Move.UP)  # of the safe moves the one valued most
    assert safe.replaced is None  # by the mask alone
    safe = start("shield:inner=random,kind=safe", LINED_UP, seed=3).choose(board)
    assert (safe.move, safe.overridden) == (Move.DOWN, Move.RIGHT)  # of those valued alike the safest


def test_before_its_warm_up_the_reverse_shield_only_plays_safe() -> None:
    board = "# # # 2 / # # # # / # 4 2 # / 16 8 4 2"  # a sum of 38: about 17 moves
    for warm_up, move in ((17, Move.RIGHT), (18, Move.LEFT)):
        found = start(f"shield:inner=(first:order=a),warm_up={warm_up}", board).choose(Board.from_text(board))
        assert found.move == move


def test_a_shield_in_a_shield_says_what_the_innermost_wanted() -> None:
    board = "# # # # / # # # # / # 64 4 # / 2 128 32 16"
    spec = "shield:inner=(shield:inner=(first:order=w),kind=safe),kind=safe,strategy=right-down"
    found = start(spec, board).choose(Board.from_text(board))
    assert (found.move, found.overridden) == (Move.RIGHT, Move.UP)


@pytest.mark.parametrize(
    "inner",
    ["random", "first", "lookahead", "(montecarlo:rollouts=4)", "(shield:strategy=up-left)", "random,peek=true"],
)
def test_any_player_can_be_shielded(inner: str) -> None:
    rules = ("4x4", "2x3", "##x|#x#|###")
    check_player(make_player(f"shield:inner={inner},warm_up=3"), seed=1, rules=rules)


@pytest.mark.parametrize(("inner", "name"), [("greedy", "left-down"), ("random,peek=true", "up-right")])
def test_a_shield_keeps_to_its_strategy(inner: str, name: str) -> None:
    game, player = Game(Rules.from_text("4x4"), 5), make_player(f"shield:inner={inner},strategy={name},warm_up=0")
    player.start(game.rules, 5)
    strategy = Strategy.from_text(name, game.rules.shape)
    n_back = 0
    while not game.is_over:
        legal, _ = results_of(game.board)
        move = player.choose(game.board).move
        if not strategy.safe_moves(legal)[0, move]:
            assert move == strategy.back
            n_back += 1
        game.play(move)
    assert n_back > 0


@pytest.mark.parametrize("spawner", ["fair", "worst"])
def test_peeking_compares_the_boards_that_would_really_come(spawner: str) -> None:
    rules = Rules.from_text("4x4", spawner=spawner)
    game, player = Game(rules, 3), make_player("shield:inner=random,peek=true,warm_up=20")
    honest = make_player("shield:inner=random,kind=safe")
    player.start(rules, 3)
    honest.start(rules, 3)
    strategy, n_back = Strategy.from_text("left-down", rules.shape), 0
    while not game.is_over:
        legal, boards = results_of(game.board)
        for move in np.flatnonzero(legal[0]):
            boards[0, move] = game.play(int(move)).board.ranks
            game.undo()
        move = honest.choose(game.board).move
        if round(game.board.tile_sum / 2.2) - 2 >= 20:
            move = int(strategy.reverse_shield(np.array([move]), legal, boards)[0])
        n_back += move == Move.RIGHT
        assert player.choose(game.board).move == move
        game.play(move)
    assert n_back > 0


@pytest.mark.parametrize(
    ("spec", "says"),
    [
        ("shield:strategy=left-dwn", "unknown strategy 'left-dwn': did you mean left-down?"),
        ("shield:strategy=left", "unknown strategy 'left'"),
        ("shield:strategy=left-down-up", "unknown strategy 'left-down-up'"),
        ("shield:strategy=left-right", "strategy=left-right has no corner: expected two sides that meet"),
        ("shield:strategy=up-up", "has no corner"),
        ("shield:inner=gredy", "unknown player 'gredy': did you mean greedy?"),
        ("shield:inner=", "unknown player ''"),
        ("shield:inner=(lookahead:deth=2)", "player lookahead has no option 'deth': did you mean depth?"),
        ("shield:inner=human", "inner=human cannot be shielded: expected a player that chooses by itself"),
        ("shield:kind=classic", "unknown kind 'classic'"),
        ("shield:warm_up=-1", "warm_up -1 is out of range: expected 0 or more"),
        ("shield:kind=safe,peek=true", "peek=true has no effect with kind=safe"),
    ],
)
def test_bad_input_is_answered_in_one_line(spec: str, says: str) -> None:
    with pytest.raises(UsageError) as caught:
        make_player(spec)
    assert says in str(caught.value)
    assert "\n" not in str(caught.value)


def test_hexagons_are_refused() -> None:
    with pytest.raises(BoardError, match="needs a board of squares"):
        make_player("shield").start(Rules.from_text("hex1"), 1)
    with pytest.raises(UsageError, match="has not been started"):
        make_player("shield").choose(Board.from_text("22##"))


def test_a_spec_has_one_way_to_be_written() -> None:
    assert canonical_spec("shield:inner=( greedy:eval=snake ),strategy=left-down") == "shield:inner=greedy"
    assert canonical_spec("shield:inner=random,warm_up=50") == "shield"
    inner = canonical_spec("shield:inner=(lookahead:eval=snake,depth=3)")
    assert inner == "shield:inner=(lookahead:depth=3,eval=snake)"


def test_a_shield_needs_what_its_inner_player_needs(monkeypatch: pytest.MonkeyPatch) -> None:
    rules = Rules.from_text("4x4")
    needed = set(make_player("ntuple").groups(rules))
    assert set(make_player("shield:inner=ntuple").groups(rules)) == {"rollout", *needed}
    assert {"network", "shipped"} <= needed
    assert not make_player("shield:inner=(expectimax:ms=1)").is_repeatable
    monkeypatch.setattr("lab2048.players.registry._registered", {})

    class Bare(Player):
        kernels = ()

        def choose(self, board: Board) -> Decision:
            return Decision(board.legal_moves()[0], dict.fromkeys(board.legal_moves(), 0.0))

    register("bare", Bare)
    assert make_player("shield:inner=bare").groups(rules) == ("rollout",)


def test_hint_says_what_was_overridden(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["hint", LINED_UP, "--player", "shield:inner=(first:order=wdas)"]) == 0
    assert "right overrides up" in capsys.readouterr().out
    assert run(["hint", LINED_UP, "--player", "shield:inner=(first:order=wdas)", "--json"]) == 0
    data = json.loads(capsys.readouterr().out)
    assert (data["best"], data["overridden"]) == (move_name(Move.RIGHT), move_name(Move.UP))


# --- what it says about a move -------------------------------------------------------------


def note_of(spec: str, text: str, seed: int = 1) -> ShieldNote:
    board, player = Board.from_text(text), make_player(spec)
    player.start(Rules.from_text(text, start=0), seed)
    note = player.note(board, player.choose(board))
    assert isinstance(note, ShieldNote)
    return note


def test_a_replaced_move_is_explained() -> None:
    note = note_of("shield:inner=(first:order=as),warm_up=0", LINED_UP)
    assert (note.proposed, note.masked, note.made) == ("left", "left", "right")
    assert note.safe == ("down", "left")
    right, left = (next(each for each in note.considered if each.move == move) for move in ("right", "left"))
    assert right.is_locked
    assert right.mergeable == 128 > left.mergeable == 0
    assert note.text == (
        "Safe: down and left. first proposes left. The shield makes it right: the bottom row is locked, "
        "1 row with tiles in order, mergeable value 128 instead of 0 after left; state score 5 instead of 7."
    )


@pytest.mark.parametrize(
    ("spec", "board", "says"),
    [
        ("shield:inner=(first:order=wd)", LINED_UP, "proposes up, which is not; the mask makes it down."),
        ("shield:inner=(first:order=as)", LINED_UP, "The shield waits for move 10000."),
        ("shield:kind=safe,inner=(first:order=as)", LINED_UP, "There is only a mask, no shield."),
        ("shield:inner=(first:order=as),warm_up=0", FIGURE_5_3, "left: after right the bottom row is not locked"),
        ("shield:inner=(first:order=as),warm_up=0", "2 4 / 2 8", "The shield keeps down: right is not possible."),
        ("shield:inner=(first:order=as),warm_up=0", "2 # / 4 #", "no move of the strategy is possible."),
    ],
)  # fmt: skip
def test_what_is_kept_is_explained_too(spec: str, board: str, says: str) -> None:
    spec = spec if "warm_up" in spec or "safe" in spec else spec.replace("shield:", "shield:warm_up=10000,")
    assert says in note_of(spec, board).text


@given(boards(SQUARES), st.integers(0, 9), st.booleans())
def test_a_note_says_what_was_decided(board: Board, seed: int, peeks: bool) -> None:
    if not board.legal_moves():
        return
    player, rules = (
        make_player(f"shield:warm_up=0,peek={str(peeks).lower()}"),
        Rules.from_text(board.to_text(), start=0),
    )
    player.start(rules, seed)
    decision = player.choose(board)
    note = player.note(board, decision)
    assert isinstance(note, ShieldNote)
    assert note.made == move_name(Move(decision.move))
    assert note.masked in note.safe
    assert (note.masked != note.made) == (decision.replaced is not None)
    considered = {each.move: each for each in note.considered}
    assert set(considered) == {move_name(Move(move)) for move in board.legal_moves()}
    if decision.replaced is not None:
        assert considered[note.made].is_locked
        assert considered[note.made].mergeable > considered[note.masked].mergeable
    assert note.text.startswith("Safe: ")
    assert json.loads(json.dumps(note.to_json()))["text"] == note.text
