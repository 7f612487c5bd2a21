"""What a shield did with a proposed move, and why: the annotations of appendix A of Sauren 2022."""

from dataclasses import asdict, dataclass
from typing import Any

from lab2048.rules.move import Move, move_name

_LINES = {Move.UP: "top row", Move.RIGHT: "right column", Move.DOWN: "bottom row", Move.LEFT: "left column"}


@dataclass(frozen=True, slots=True)
class ConsideredMove:
    """The measures of the board that a legal move leads to."""

    move: str
    is_safe: bool
    state_score: int  # lines in order, along the wall and towards it
    horizontal_score: int  # lines in order along the wall
    n_empty_lines: int  # of these, lines without tiles
    mergeable: int  # sum of the tiles of all pairs of equal neighbours
    is_locked: bool  # the line at the wall is full, and nothing in it can merge


@dataclass(frozen=True, slots=True)
class ShieldNote:
    """One move behind a shield."""

    inner: str
    proposed: str  # by the inner player
    safe: tuple[str, ...]  # moves that the strategy allows on this board
    masked: str  # the move after the mask
    made: str
    back: str  # the unsafe move that the shield may choose
    wall: int
    considered: tuple[ConsideredMove, ...]
    waits: str  # why the shield does not compare moves; empty if it does

    def to_json(self) -> dict[str, Any]:
        """Return JSON data, with the sentences as `text`."""
        data = asdict(self)
        del data["wall"], data["back"], data["waits"]
        return data | {"text": self.text}

    @property
    def text(self) -> str:
        """Return a few sentences: what is safe, what was proposed, and what mask and shield made of it."""
        allowed = " and ".join(self.safe)
        first = f"Safe: {allowed}. {self.inner} proposes {self.proposed}"
        first += "." if self.masked == self.proposed else f", which is not; the mask makes it {self.masked}."
        return f"{first} {self._second()}"

    def _second(self) -> str:
        if self.waits:
            return self.waits
        unsafe, safe = (
            next(each for each in self.considered if each.move == move) for move in (self.back, self.masked)
        )
        line = _LINES[Move(self.wall)]
        kind = line.partition(" ")[2]  # row or column
        n_ordered = unsafe.horizontal_score - unsafe.n_empty_lines
        merge = f"mergeable value {unsafe.mergeable} instead of {safe.mergeable} after {safe.move}"
        scores = f"state score {unsafe.state_score} instead of {safe.state_score}"
        if self.made != self.masked:
            in_order = f"{n_ordered} {kind}{'s' * (n_ordered != 1)} with tiles in order"
            return f"The shield makes it {self.made}: the {line} is locked, {in_order}, {merge}; {scores}."
        if not unsafe.is_locked:
            why = f"the {line} is not locked"
        elif n_ordered <= 0:
            why = f"no {kind} with tiles is in order"
        else:
            why = merge
        return f"The shield keeps {self.made}: after {self.back} {why}; {scores}."


def move_names(moves: Any) -> tuple[str, ...]:
    """Return the names of squares' moves: ("left", "down")."""
    return tuple(move_name(Move(int(move))) for move in moves)
