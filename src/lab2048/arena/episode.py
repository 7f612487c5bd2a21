"""Play one episode: one player, one seed."""

import time
from collections.abc import Callable, Collection

from lab2048.errors import IllegalMoveError, PlayerError, users_code
from lab2048.players import Decision, Player
from lab2048.records.episode import Episode
from lab2048.rules import Board, Game, Rules


def play_episode(player: Player, name: str, rules: Rules, seed: int) -> Episode:
    """Play one game to its end, and return its record."""
    game, seconds = play_game(player, name, rules, seed)
    return Episode.from_game(game, name, seconds)


def play_game(
    player: Player,
    name: str,
    rules: Rules,
    seed: int,
    *,
    before_move: Callable[[], object] = lambda: None,
) -> tuple[Game, float]:
    """Play one game to its end; return it with the seconds in which the player chose.

    An error that `before_move` raises ends the game early.
    """
    game = Game(rules, seed)
    seconds = 0.0
    with users_code(f"player {name} fails"):
        player.start(rules, seed)
    while not game.is_over:
        before_move()
        begin = time.perf_counter()
        decision = ask(player, name, game.board)
        seconds += time.perf_counter() - begin
        try:
            game.play(decision.move)
        except IllegalMoveError as error:
            raise PlayerError(f"player {name} chose an illegal move: {error}") from None
        if len(game.turns) == 1:
            _check(decision, name, rules.legal_moves(game.first_board))
    return game, seconds


def ask(player: Player, name: str, board: Board) -> Decision:
    """Return the player's decision; raise PlayerError, which names the player, if it fails."""
    with users_code(f"player {name} fails"):
        decision = player.choose(board)
    if not isinstance(decision, Decision):
        raise PlayerError(f"player {name} chose {decision!r}: expected a Decision(move, values)")
    return decision


def _check(decision: Decision, name: str, legal: Collection[int]) -> None:
    """Raise PlayerError unless a decision has a value for every legal move and no other; checked once per game."""
    if set(decision.values) != set(legal):
        moves = sorted(int(move) for move in legal)
        raise PlayerError(f"player {name} valued the moves {sorted(decision.values)}: expected the legal ones, {moves}")
