"""Playing a batch of numbered games of one player, wherever that happens to run.

The seed of a game depends only on the match's seed and the game's number, so the
games are the same however they are cut into batches and spread over workers.
"""

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

import numpy as np

from lab2048.arena.episode import play_episode
from lab2048.kernels.play import NEVER_REACHED, Games, make_games, room_for
from lab2048.players import make_player
from lab2048.players.player import GamesKernel
from lab2048.records.episode import Episode
from lab2048.rules import Rules
from lab2048.rules.dice import episode_seed
from lab2048.rules.move import letters

SLICE = 1_000_000  # moves a compiled call: a fraction of a second, so that Ctrl-C is heard


@dataclass(frozen=True)
class Batch:
    """Which games to play."""

    player: str  # canonical spec
    rules: Rules
    seed: int  # of the match
    numbers: Sequence[int]


@dataclass
class Played:
    """What came of a batch: the games that were finished, and the CPU time they took."""

    player: str
    episodes: dict[int, Episode] = field(default_factory=dict)
    cpu_seconds: float = 0.0


def has_kernel(spec: str, rules: Rules) -> bool:
    """True if the player's games run compiled, and so on threads."""
    return make_player(spec).games_kernel(rules) is not None


def play_batch(batch: Batch, is_stopped: Callable[[], bool]) -> Played:
    """Play the games of a batch; stop between two games, or two slices, when asked to."""
    player = make_player(batch.player)
    kernel = player.games_kernel(batch.rules)
    played = Played(batch.player)
    if kernel is not None:
        _play_compiled(batch, kernel, is_stopped, played)
        return played
    begin = time.process_time()
    for number in batch.numbers:
        if is_stopped():
            break
        seed = episode_seed(batch.seed, number)
        played.episodes[number] = play_episode(player, batch.player, batch.rules, seed)
    played.cpu_seconds = time.process_time() - begin
    return played


def _play_compiled(batch: Batch, kernel: GamesKernel, is_stopped: Callable[[], bool], played: Played) -> None:
    seeds = np.array([episode_seed(batch.seed, number) for number in batch.numbers], np.uint64)
    games = make_games(seeds, batch.rules.shape.n_cells, SLICE)
    kernel(games, 0)  # compiles or loads the code before the clock runs
    begin = time.thread_time()
    while games.n_finished < len(seeds) and not is_stopped():
        games = room_for(games, SLICE)
        kernel(games, SLICE)
    played.cpu_seconds = time.thread_time() - begin
    played.episodes = _episodes(batch, games, played.cpu_seconds / max(1, games.n_used))


def _episodes(batch: Batch, games: Games, seconds_per_move: float) -> dict[int, Episode]:
    """The finished games as episodes."""
    alphabet = np.frombuffer(letters(batch.rules.shape.moves).encode(), np.uint8)
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
            max_tile=2 ** int(games.ranks[i].max()),
            moves_to_goal=None if to_goal == NEVER_REACHED else to_goal,
            seconds=(end - begin) * seconds_per_move,
        )
        begin = end
    return episodes
