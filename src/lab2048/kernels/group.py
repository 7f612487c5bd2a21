"""Groups of kernels: what is compiled together, before it is used.

Each command and player names the groups that it calls, so users wait only for kernels that they need.
No kernel is in two groups: two processes could write its file.
A kernel that is in no group is compiled when it is first called.
"""

import importlib
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from lab2048.kernels._source import PACKAGE

GAMES = "games"  # whole games of compiled players
SEARCH, CLASSIC, PACKED, WIDE = "search", "search-classic", "search-packed", "search-wide"  # by the kind of board
TIMED, THREADS, FORCED = "search-timed", "search-threads", "search-forced"
SEARCH_GAMES = "search-games"
NETWORK, NETWORK_GAMES = "network", "network-games"  # search with a network
ENDGAME, ENDGAME_GAMES = "endgame", "endgame-games"  # endgame tables in a search
LEDGER = "ledger"  # values for the review of a game
TRAINING, UNPACK, COMPRESS = "training", "unpack", "compress"  # networks and their files
EXCHANGE = "exchange"  # training on a cluster
UNPACK_OLD = "unpack-old"  # files of format 1
PAGES = "pages"  # the shipped network in pages; with a group of its own, as both decoders need it
ROLLOUT, TREE, STATE_TREE = "rollout", "tree", "state-tree"
SOLVER, ENVIRONMENTS, COUNT, BENCHMARK = "solver", "environments", "count", "benchmark"


@dataclass(frozen=True)
class Group:
    """Functions (module:function) that compile the kernels of a group, their number, and the time it takes."""

    warm_ups: tuple[str, ...]
    n_kernels: int
    seconds: float  # on one core, about

    @cached_property
    def modules(self) -> tuple[str, ...]:
        """Return the modules whose kernels are compiled; what they import belongs to the group, too."""
        return tuple(name.partition(":")[0] for name in self.warm_ups)

    def compile(self, plan: Any) -> None:
        """Compile all kernels of the group, or load them from the cache."""
        for name in self.warm_ups:
            module, _, function = name.partition(":")
            getattr(importlib.import_module(f"{PACKAGE}.{module}"), function or "warm_up")(plan)


GROUPS = {
    GAMES: Group(("games.play",), 1, 1.6),
    SEARCH: Group(("search.root", "search.downgrade", "search.evaluate"), 4, 1.3),
    CLASSIC: Group(("search.classic",), 1, 1.2),
    PACKED: Group(("search.expectimax",), 1, 1.2),
    WIDE: Group(("search.wide",), 1, 0.8),
    TIMED: Group(("search.root:warm_up_timed",), 3, 0.7),
    THREADS: Group(("search.frontier",), 3, 0.8),
    FORCED: Group(("search.forced",), 1, 0.6),
    SEARCH_GAMES: Group(("search.root:warm_up_games",), 1, 0.5),
    NETWORK: Group(("search.network", "search.confidence"), 3, 2.0),
    NETWORK_GAMES: Group(("search.network:warm_up_games", "search.confidence:warm_up_games"), 2, 1.0),
    ENDGAME: Group(("search.endgame",), 3, 0.9),
    ENDGAME_GAMES: Group(("search.endgame:warm_up_games",), 1, 0.6),
    LEDGER: Group(("search.ledger",), 4, 1.4),
    TRAINING: Group(("ntuple.self_play",), 1, 3.1),
    EXCHANGE: Group(("ntuple.exchange",), 5, 1.2),
    UNPACK: Group(("ntuple.rans_decoder",), 1, 2.0),
    UNPACK_OLD: Group(("ntuple.range_decoder", "ntuple.planes"), 2, 2.0),
    PAGES: Group(("ntuple.pages",), 1, 0.2),
    COMPRESS: Group(("ntuple.rans_encoder",), 2, 1.5),
    ROLLOUT: Group(("rollout.rollout",), 2, 1.4),
    TREE: Group(("rollout.tree",), 2, 2.3),
    STATE_TREE: Group(("rollout.state_tree",), 1, 1.5),
    SOLVER: Group(("board.packed", "solve.layer", "solve.backup", "solve.policy", "solve.compact"), 26, 7.5),
    ENVIRONMENTS: Group(("games.vector", "games.afterstates"), 5, 2.9),
    COUNT: Group(("games.perft",), 2, 0.6),
    BENCHMARK: Group(("reference_loop", "random_access"), 3, 0.2),
}
