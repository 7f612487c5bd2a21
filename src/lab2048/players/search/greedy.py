"""`greedy`: the best afterstate by any evaluator."""

from dataclasses import dataclass
from typing import ClassVar

from lab2048.players.player import option
from lab2048.players.search.player import EVAL_DOC, SearchPlayer, SearchSettings
from lab2048.rules import Rules


@dataclass
class GreedyPlayer(SearchPlayer):
    """Chooses the move with the best afterstate, without looking ahead."""

    eval: str = option("snake", EVAL_DOC)

    knows_null_moves: ClassVar[bool] = True

    def search_settings(self, rules: Rules) -> SearchSettings:  # noqa: ARG002
        """Return depth 1, which evaluates afterstates."""
        return SearchSettings(self.eval, 1)
