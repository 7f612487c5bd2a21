"""`lookahead`: full expectimax to a fixed depth, with any evaluator."""

from dataclasses import dataclass
from typing import ClassVar

from lab2048.errors import UsageError
from lab2048.kernels.board import layout as at
from lab2048.players.player import option
from lab2048.players.search.player import ENDGAMES_DOC, ENDS, EVAL_DOC, SearchSettings, ThreadedPlayer
from lab2048.rules import Rules
from lab2048.rules.plan import make_plan

DEFAULT_DEPTH = 2  # of lookahead
END_DOC = "where leaves are: after the last own move, or after the spawn that follows it"


@dataclass
class LookaheadPlayer(ThreadedPlayer):
    """Full expectimax: every move and every spawn to a fixed depth."""

    depth: int = option(DEFAULT_DEPTH, "search depth in own moves")
    eval: str = option("order", EVAL_DOC)
    end: str = option("move", END_DOC, ENDS)
    threads: int = option(1, "threads that share every search from depth 3 on; a job is one spawn after the first move")
    endgames: str | None = option(None, ENDGAMES_DOC.format("no"))
    steps: int | None = option(None, "the depth as Kuznetsov 2022 counts it: n steps are depth n + 1")
    deepen: str = option(
        "no",
        "empty: search one level deeper, to the next spawn or own move, if fewer than 7 cells are empty",
        ("no", "empty"),
    )
    extra: bool = option(
        False,
        "add a random tile after every move of the search, before the spawns (a mistake in the code of Miah 2023)",
    )

    knows_null_moves: ClassVar[bool] = True

    def __post_init__(self) -> None:
        """Turn steps into the depth, so that specs and results always say the depth."""
        super().__post_init__()
        if self.steps is not None:
            if self.depth not in (DEFAULT_DEPTH, self.steps + 1):
                raise UsageError(
                    f"{self.steps} steps are depth {self.steps + 1}, and the depth is {self.depth}: expected one",
                    field="steps",
                )
            self.depth, self.steps = self.steps + 1, None

    def search_settings(self, rules: Rules) -> SearchSettings:  # noqa: ARG002
        """Return settings without a cutoff; threads share even searches that are over before they wake up."""
        return SearchSettings(
            self.eval,
            self.depth,
            self.deepen,
            n_threads=self.threads,
            shared_from=0,
            end=self.end,
            extra=self.extra,
        )

    def check(self, rules: Rules) -> None:
        super().check(rules)
        is_deepened = self.end == "spawn" and self.deepen != "no"
        if (self.extra or is_deepened) and not make_plan(rules)[at.IS_PACKED]:
            raise UsageError("extra, and end=spawn with deepen, are for boards of at most 16 cells", field="extra")
        if self.threads > 1 and (self.extra or rules.null_moves):
            raise UsageError("extra and null moves are for one thread: expected threads=1", field="threads")
