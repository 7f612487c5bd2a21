"""The solver in plain Python: depth first, every raw board, exact fractions of chance as floats."""

from dataclasses import dataclass, field
from functools import cache

from lab2048.rules import Board, Rules


@dataclass
class Plain:
    """What depth-first search finds from the first boards."""

    value: float = 0.0
    states: set[Board] = field(default_factory=set)
    lost: set[Board] = field(default_factory=set)
    won: set[Board] = field(default_factory=set)
    afterstates: dict[Board, float] = field(default_factory=dict)


def plain_solve(rules: Rules, objective: str) -> Plain:
    """Solve by recursion; the goal ends a game if the objective is to win."""
    found = Plain()

    def is_won(board: Board) -> bool:
        return objective == "win" and rules.is_won(board)

    def is_missed(board: Board) -> bool:
        return objective == "win" and max(board.ranks) >= rules.goal_rank and not is_won(board)

    @cache
    def of_state(board: Board) -> float:
        if is_won(board):
            return 1.0
        slides = list(board.slides())
        (found.states if slides else found.lost).add(board)
        return max((of_move(after, reward) for _, (after, reward) in slides), default=0.0)

    def of_move(after: Board, reward: int) -> float:
        if is_won(after):
            found.won.add(after)
            return 1.0
        if is_missed(after):
            return 0.0
        return of_after(after) + (reward if objective == "score" else 0)

    @cache
    def of_after(after: Board) -> float:
        value = sum(s.probability * of_state(after.put(s.cell, s.rank)) for s in rules.spawns(after))
        found.afterstates[after] = value
        return value

    chances = {rules.board: 1.0}
    for _ in range(rules.n_start):
        following: dict[Board, float] = {}
        for board, chance in chances.items():
            for s in rules.spawns(board):
                state = board.put(s.cell, s.rank)
                following[state] = following.get(state, 0.0) + chance * s.probability
        chances = following
    found.value = sum(chance * of_state(board) for board, chance in chances.items())
    return found
