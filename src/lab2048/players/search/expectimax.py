"""`expectimax`: expectimax with a probability cutoff and an optional time limit, with any evaluator."""

from dataclasses import dataclass

from lab2048.errors import UnknownNameError
from lab2048.players.player import option
from lab2048.players.search.player import (
    CUT_DOC,
    DEEPEN,
    DEEPEN_DOC,
    ENDGAMES_DOC,
    EVAL_DOC,
    MS_DOC,
    THREADS_DOC,
    ClockedPlayer,
    SearchSettings,
)
from lab2048.rules import Rules

DEPTH, DEPTH_OF_MANY, MANY_CELLS = 7, 4, 16  # default depth of expectimax; on boards with more cells than that
_MODES = {"fast": (2, "no"), "normal": (3, "no"), "optimal": (2, "empty")}  # of Miah 2023, in own moves


@dataclass
class ExpectimaxPlayer(ClockedPlayer):
    """Expectimax with a probability cutoff, a transposition table and an optional time limit."""

    depth: int | None = option(
        None, "search depth in own moves; default: that of the mode, or 7 (4 on boards with more than 16 cells)"
    )
    eval: str = option("rows", EVAL_DOC)
    cut: float | None = option(None, CUT_DOC)
    deepen: str | None = option(
        None,
        DEEPEN_DOC,
        DEEPEN,
    )
    mode: str | None = option(
        None, "as in Miah 2023: fast (depth 2), normal (depth 3), optimal (2, or 3 with few empty cells)", _MODES
    )
    ms: float | None = option(None, MS_DOC)
    threads: int = option(1, THREADS_DOC)
    endgames: str | None = option(None, ENDGAMES_DOC.format("no"))

    def search_settings(self, rules: Rules) -> SearchSettings:
        """Return the options; a mode provides those that are not set."""
        if self.mode is not None and self.mode not in _MODES:
            raise UnknownNameError("mode", self.mode, _MODES)
        by_itself = DEPTH if rules.shape.n_cells <= MANY_CELLS else DEPTH_OF_MANY
        depth, deepen = _MODES.get(self.mode or "", (by_itself, "no"))
        depth, deepen = self.depth if self.depth is not None else depth, self.deepen or deepen
        return SearchSettings(self.eval, depth, deepen, self.cut, self.threads)
