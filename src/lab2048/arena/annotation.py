"""Explain the moves of a recorded game: its players are asked again, and say why they chose them."""

from dataclasses import dataclass
from typing import Any

from lab2048.arena.player_service import AskedPlayer, RecentlyUsed
from lab2048.errors import LabError
from lab2048.players.player import Note, Player
from lab2048.players.registry import player_class
from lab2048.rules import Board, Rules
from lab2048.rules.move import move_name

MAX_PLAYERS = 9  # as many as a page can watch


@dataclass(frozen=True, slots=True)
class PlainNote:
    """A sentence without further facts."""

    text: str

    def to_json(self) -> dict[str, Any]:
        """Return JSON data."""
        return {"text": self.text}


def has_notes(spec: str) -> bool:
    """Return True if a player explains its moves.

    >>> has_notes("shield:inner=greedy"), has_notes("greedy"), has_notes("human"), has_notes("nobody")
    (True, False, False, False)
    """
    try:
        return player_class(spec.partition(":")[0]).note is not Player.note
    except LabError:
        return False


class Annotator:
    """Asks the players of recorded games again.  A decision is a function of rules, seed and board."""

    def __init__(self) -> None:
        self._players: RecentlyUsed[tuple[str, str, int], AskedPlayer] = RecentlyUsed(MAX_PLAYERS)

    def player(self, spec: str, rules: Rules, seed: int) -> AskedPlayer:
        """Return the player of a game, to be prepared."""
        return self._players.get((spec, rules.json_text, seed), lambda: AskedPlayer(spec, rules, seed))

    def note(self, spec: str, rules: Rules, seed: int, board: Board, made: int) -> Note | None:
        """Explain the move that a player made on a board; None if this player never explains its moves."""
        if not has_notes(spec):
            return None
        try:
            player = self.player(spec, rules, seed)
            decision = player.choose(board)
            if decision.move != made:
                now = move_name(board.shape.moves[decision.move])
                return PlainNote(f"Not explained: the player would now choose {now}.")
            return player.note(board, decision)
        except LabError as error:  # its file may be gone
            return PlainNote(f"Not explained: {error}.")
