"""Play a batch of numbered games of one player.

The seed of a game depends only on the seed of the match and the number of the game, so the
games do not depend on how they are split into batches and distributed to workers.
"""

import contextlib
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from lab2048.arena.episode import play_game
from lab2048.arena.player_service import RecentlyUsed
from lab2048.errors import StoppedError
from lab2048.kernels.games.play import NEVER_REACHED, Games, make_games, room_for
from lab2048.players import Player, make_player
from lab2048.players.player import GamesKernel
from lab2048.players.registry import n_registered
from lab2048.players.spec_file import with_files
from lab2048.records.episode import Episode
from lab2048.rules import Rules
from lab2048.rules.dice import episode_seed

# A compiled call plays at most this many moves or seconds, so that Ctrl-C works.
MAX_SLICE = 1_000_000
SLICE_SECONDS = 0.2
MAX_PLAYERS = 32  # cached per thread: more than a match usually has, because batches alternate


@dataclass(frozen=True)
class Batch:
    """Games to play, a unit of work for executors."""

    player: str  # canonical spec, as games record it
    rules: Rules
    seed: int  # of the match
    numbers: Sequence[int]
    is_passing: bool = False  # True: the player is used only once and not cached
    spec: str = ""  # the same player with the paths of its files on this machine, if they are elsewhere

    @property
    def specs(self) -> tuple[str, ...]:
        return (self.player,)

    @property
    def paths(self) -> tuple[Path, ...]:
        return ()

    @property
    def home(self) -> None:
        return None

    @property
    def is_compiled(self) -> bool:
        """Return True if its player releases the GIL."""
        player = player_of(self)
        return player.releases_lock or player.games_kernel(self.rules) is not None

    def moved(self, where: Mapping[str, str]) -> "Batch":
        """Return the batch for a machine where files are elsewhere."""
        spec = with_files(self.player, where)
        return self if spec == self.player else replace(self, spec=spec)

    def run(self, is_stopped: Callable[[], bool]) -> "Played":
        """Play the games; after a stop request, unfinished ones are dropped."""
        return play_batch(self, is_stopped)


@dataclass
class Played:
    """The finished games of a batch and their CPU time."""

    player: str
    episodes: dict[int, Episode] = field(default_factory=dict)
    tile_sums: dict[int, int] = field(default_factory=dict)  # of the last boards
    cpu_seconds: float = 0.0


_here = threading.local()


def player_here(spec: str) -> Player:
    """Return this thread's player of a spec; recent players are cached, because they may have large tables."""
    if not hasattr(_here, "players"):
        _here.players = RecentlyUsed[tuple[str, int], Player](MAX_PLAYERS)
    found: Player = _here.players.get((spec, n_registered()), lambda: make_player(spec))
    return found


def player_of(batch: Batch) -> Player:
    """Return this thread's player for a batch, or a new one if it is used only once."""
    spec = batch.spec or batch.player
    return make_player(spec) if batch.is_passing else player_here(spec)


def play_batch(batch: Batch, is_stopped: Callable[[], bool]) -> Played:
    """Play the games of a batch; after a stop request, unfinished games are dropped."""
    played = Played(batch.player)
    with contextlib.suppress(StoppedError):
        player = player_of(batch)
        kernel = player.games_kernel(batch.rules)
        if kernel is not None:
            _play_compiled(batch, kernel, is_stopped, played)
        else:
            _play_in_python(batch, player, is_stopped, played)
    return played


def _play_in_python(batch: Batch, player: Player, is_stopped: Callable[[], bool], played: Played) -> None:
    begin = time.process_time()

    def go_on() -> None:
        if is_stopped():
            raise StoppedError("the match is stopping")

    try:
        for number in batch.numbers:
            seed = episode_seed(batch.seed, number)
            game, seconds = play_game(player, batch.player, batch.rules, seed, before_move=go_on)
            played.episodes[number] = Episode.from_game(game, batch.player, seconds)
            played.tile_sums[number] = sum(game.board.tiles)
    finally:
        played.cpu_seconds = time.process_time() - begin


def _play_compiled(batch: Batch, kernel: GamesKernel, is_stopped: Callable[[], bool], played: Played) -> None:
    seeds = np.array([episode_seed(batch.seed, number) for number in batch.numbers], np.uint64)
    size = 1000
    games = make_games(seeds, batch.rules.shape.n_cells, size)
    kernel(games, 0)  # compile or load the code before timing
    while games.n_finished < len(seeds) and not is_stopped():
        games = room_for(games, size)
        begin = time.thread_time()
        kernel(games, size)
        seconds = time.thread_time() - begin
        played.cpu_seconds += seconds
        pace = SLICE_SECONDS / max(seconds, 1e-9)
        size = max(1, min(MAX_SLICE, int(size * min(pace, 10))))
    ranks = games.ranks[: games.n_finished].astype(np.int64)
    ranks[ranks == batch.rules.shape.free_rank] = 0  # free large tiles have no number
    played.episodes = _episodes(batch, games, ranks, played.cpu_seconds / max(1, games.n_used))
    sums = np.where(ranks > 0, np.int64(1) << ranks, 0).sum(axis=1)
    played.tile_sums = dict(zip(batch.numbers, map(int, sums), strict=False))


def _episodes(batch: Batch, games: Games, ranks: NDArray[np.int64], seconds_per_move: float) -> dict[int, Episode]:
    alphabet = np.frombuffer(batch.rules.shape.letters.encode(), np.uint8)
    text = alphabet[games.moves[: games.n_used]].tobytes().decode()
    episodes, begin = {}, 0
    for i in range(games.n_finished):
        end = begin + int(games.n_moves[i])
        to_goal = int(games.to_goal[i])
        episodes[batch.numbers[i]] = Episode(
            rules=batch.rules,
            seed=int(games.seeds[i]),
            player=batch.player,
            moves=text[begin:end],
            score=int(games.score[i]),
            max_tile=2 ** int(ranks[i].max()),
            moves_to_goal=None if to_goal == NEVER_REACHED else to_goal,
            seconds=(end - begin) * seconds_per_move,
        )
        begin = end
    return episodes
