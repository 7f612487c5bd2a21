"""Kernels made ready: compiled once after an update, before anything waits for them."""

from collections.abc import Callable


def prepare(say: Callable[[str], None]) -> None:
    """Compile every kernel that is not compiled yet, and say so.

    Before worker processes start, never in parallel: Numba's cache can be damaged by it.
    """
    from lab2048.kernels import _jit

    if _jit.is_ready():
        return
    say("compiling kernels, once after an update")
    _compile_all()
    _jit.mark_ready()


def _compile_all() -> None:
    import numpy as np

    from lab2048.kernels import play, vector
    from lab2048.kernels.perft import count
    from lab2048.rules import Rules
    from lab2048.rules.plan import make_plan

    rules = Rules.from_text("4x4")
    plan = make_plan(rules)
    games = play.make_games(np.zeros(1, np.uint64), rules.shape.n_cells, 8)
    play.play_games(plan, games, play.RANDOM, 8)
    vector.warm_up(plan)
    for rank in (1, 15):  # one that is counted packed, one in bytes
        count(plan, (rank, rank) + (0,) * 14, 1)
