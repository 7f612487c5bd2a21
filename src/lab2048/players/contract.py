"""Check that a player keeps the contract of `Player`; run it on your own players too."""

import math

from lab2048.players.player import Player
from lab2048.players.registry import make_player
from lab2048.rules import Board, Game, Rules

RULES = ("4x4", "3x3", "2x3", "##x|#x#|###", "hex1", "5x5")


def check_player(
    player: Player | type[Player] | str, *, seed: int = 1, rules: tuple[str, ...] = RULES, n_moves: int = 40
) -> None:
    """Test a player on several boards; raise AssertionError with an explanation if it breaks the contract.

    `player` is an object, a class or a spec.  A player chooses a legal move, values every legal move and no other,
    chooses one of the highest value, repeats its choices when started again with the same seed, and does not change
    the board.

    >>> import lab2048 as lab
    >>> lab.check_player("first", rules=("2x2",))
    """
    if isinstance(player, str):
        player = make_player(player)
    elif isinstance(player, type):
        player = player()
    for text in rules:
        game = Game(Rules.from_text(text), seed)
        player.start(game.rules, seed)
        seen: list[tuple[Board, int]] = []
        for _ in range(n_moves):
            if game.is_over:
                break
            move = _check_decision(player, game.board)
            seen.append((game.board, move))
            game.play(move)
        player.start(game.rules, seed)
        for board, move in seen if player.is_repeatable else ():
            again = player.choose(board).move
            assert again == move, f"{text}: chose {again} on {board.to_text()}, but {move} before"
        for board, _ in reversed(seen):  # any board at any time
            _check_decision(player, board)


def _check_decision(player: Player, board: Board) -> int:
    before = board.ranks
    decision = player.choose(board)
    where = f"on {board.to_text()}"
    legal = board.legal_moves()
    assert board.ranks == before, f"{where}: the board was changed"
    assert decision.move in legal, f"{where}: chose {decision.move}, legal are {[int(move) for move in legal]}"
    assert set(decision.values) == set(legal), f"{where}: valued {sorted(decision.values)}, expected the legal moves"
    values = decision.values.values()
    assert all(isinstance(value, float) and not math.isnan(value) for value in values), f"{where}: values {values}"
    for name, other in (("overridden", decision.overridden), ("replaced", decision.replaced)):
        assert other != decision.move, f"{where}: {decision.move} cannot be {name} by itself"
    best = decision.move if decision.overridden is None else decision.overridden
    assert best in legal, f"{where}: overrode {best}, legal are {[int(move) for move in legal]}"
    assert decision.values[best] == max(values), f"{where}: the chosen move is not among the best"
    assert decision.nodes >= 0, f"{where}: nodes {decision.nodes}"
    assert decision.depth >= 0, f"{where}: depth {decision.depth}"
    return decision.move
