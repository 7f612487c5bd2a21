"""Vectorized games: one step of many games in one call, for the environments.

A game is a row of words; its board is packed while it fits and wide from then on.  A step checks all
actions first, so an invalid one changes nothing.

Hot loops over games are written out, because passing arrays to a kernel counts references, which costs
more than a slide.
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from lab2048.kernels._jit import compile_for, kernel
from lab2048.kernels.board import classic, packed, wide
from lab2048.kernels.board import layout as at
from lab2048.kernels.board.bits import FOUR, I64, LOW_32, N16, N32, NIBBLE, ONE, U64, ZERO, popcount
from lab2048.kernels.board.dice import SPAWN, draw, episode_seed, stream_key
from lab2048.kernels.board.memory import store_u32, store_u64
from lab2048.kernels.board.packed import FAIR, FULL_SUM, Plan, tile_potential
from lab2048.kernels.games.start import start_game

# The words of a game.  LEGAL has bit m set if move m is legal; if it is 0, the game is over.
BOARD, SUM, KEY, N_SPAWNS, SCORE, POTENTIAL, MAX_RANK, LEGAL, IS_WIDE, IS_DONE, N_STEPS, SEED, BASE, EPISODE = range(14)
N_WORDS = 16  # two cache lines

SCORES, MAX_TILES, SEEDS = range(3)  # the rows of Frames.numbers
TERMINATED, TRUNCATED = range(2)  # the rows of Outcome.ended

# Codes in Settings: the reward, the effect of an illegal action, and when the next game starts.
REWARD_SCORE, REWARD_LOG, REWARD_MERGES, REWARD_GOAL = range(4)
ILLEGAL_IGNORE, ILLEGAL_END, ILLEGAL_ERROR = range(3)
NEXT_STEP, SAME_STEP, DISABLED = range(3)

ALL_FINE = -1
EIGHT = U64(8)
NO_RANK = U64(64)  # above all ranks
CHUNK = 64  # games that are stepped before they are shown: their words are still in the cache then


class OpenGames(NamedTuple):
    """Games in progress; game i is row i."""

    words: NDArray[np.uint64]
    ranks: NDArray[np.uint8]  # the wide boards


class Frames(NamedTuple):
    """The observable state of each game."""

    ranks: NDArray[np.uint8]  # one row per game
    mask: NDArray[np.int8]  # one row per game: 1 where the move is legal
    numbers: NDArray[np.int64]  # rows: scores, highest tiles, seeds


class Outcome(NamedTuple):
    """The outcome of a step in each game."""

    reward: NDArray[np.float64]
    ended: NDArray[np.bool_]  # rows: terminated, truncated


class Settings(NamedTuple):
    """Options of a step: codes from the lists above."""

    reward: int
    illegal: int
    illegal_reward: float
    autoreset: int
    max_steps: int  # 0 = no limit


# Kernels take plain tuples: Numba needs 0.6 microseconds longer to read a NamedTuple from Python.
GamesTuple = tuple[NDArray[np.uint64], NDArray[np.uint8]]
FramesTuple = tuple[NDArray[np.uint8], NDArray[np.int8], NDArray[np.int64]]
OutcomeTuple = tuple[NDArray[np.float64], NDArray[np.bool_]]
SettingsTuple = tuple[int, int, float, int, int]


def open_games(n: int, n_cells: int) -> OpenGames:
    """Allocate n games; `start_games` starts them."""
    return OpenGames(np.zeros((n, N_WORDS), np.uint64), np.zeros((n, n_cells), np.uint8))


def make_frames(n: int, n_cells: int, n_moves: int) -> Frames:
    """Allocate frames for n games."""
    return Frames(np.zeros((n, n_cells), np.uint8), np.zeros((n, n_moves), np.int8), np.zeros((3, n), np.int64))


def make_outcome(n: int) -> Outcome:
    """Allocate the outcome of a step of n games."""
    return Outcome(np.zeros(n), np.zeros((2, n), np.bool_))


@kernel
def stop_rank(plan: Plan) -> U64:
    """Return the rank that ends a game: that of the goal, or one that no tile has."""
    return plan[at.GOAL_RANK] if plan[at.STOP_AT_GOAL] != ZERO else NO_RANK


@kernel
def begin_game(plan: Plan, games: GamesTuple, i: I64, seed: U64) -> None:
    """Start game i from a seed."""
    words, ranks = games[0], games[1][i]
    key = stream_key(seed, SPAWN)
    board, tile_sum, potential, is_wide = start_game(plan, ranks, key)
    words[i, BOARD], words[i, SUM], words[i, POTENTIAL] = board, tile_sum, U64(potential)
    words[i, MAX_RANK] = U64(wide.max_rank(ranks) if is_wide else packed.max_rank(board))
    words[i, SEED], words[i, KEY], words[i, N_SPAWNS] = seed, key, plan[at.N_START]
    words[i, SCORE], words[i, N_STEPS], words[i, IS_DONE] = ZERO, ZERO, ZERO
    words[i, IS_WIDE] = U64(is_wide)
    words[i, LEGAL] = U64(wide.legal_mask(plan, ranks) if is_wide else packed.legal_mask(plan, board))
    if words[i, MAX_RANK] >= stop_rank(plan):
        words[i, LEGAL] = ZERO


@kernel
def next_game(plan: Plan, games: GamesTuple, i: I64) -> None:
    """Replace game i by the next one of its own sequence of seeds."""
    words = games[0]
    words[i, EPISODE] += ONE
    begin_game(plan, games, i, episode_seed(words[i, BASE], words[i, EPISODE]))


@kernel
def spread(half: U64) -> U64:
    """Put the eight lowest nibbles of a word into its eight bytes."""
    half = (half | (half << N16)) & U64(0x0000_FFFF_0000_FFFF)
    half = (half | (half << EIGHT)) & U64(0x00FF_00FF_00FF_00FF)
    return (half | (half << FOUR)) & U64(0x0F0F_0F0F_0F0F_0F0F)


@kernel
def show_some(games: GamesTuple, first: I64, stop: I64, frames: FramesTuple) -> None:
    """Write the observable state of games first .. stop - 1 to `frames`."""
    words, wide_ranks = games
    ranks, mask, numbers = frames
    n_cells, n_moves = ranks.shape[1], mask.shape[1]
    has_words, at_ranks, at_mask = n_cells == 16 and n_moves == 4, I64(ranks.ctypes.data), I64(mask.ctypes.data)
    for i in range(first, stop):
        board, legal, highest = words[i, BOARD], words[i, LEGAL], words[i, MAX_RANK]
        if words[i, IS_WIDE] != ZERO:
            for cell in range(n_cells):
                ranks[i, cell] = wide_ranks[i, cell]
        elif has_words:
            store_u64(at_ranks, 2 * i, spread(board & LOW_32))
            store_u64(at_ranks, 2 * i + 1, spread(board >> N32))
        else:
            for cell in range(n_cells):
                ranks[i, cell] = np.uint8(board & NIBBLE)
                board >>= FOUR
        if has_words:
            store_u32(at_mask, i, np.uint32((legal * U64(0x0020_4081)) & U64(0x0101_0101)))
        else:
            for move in range(n_moves):
                mask[i, move] = np.int8(legal & ONE)
                legal >>= ONE
        numbers[SCORES, i] = I64(words[i, SCORE])
        numbers[MAX_TILES, i] = I64((ONE << highest) & ~ONE)  # 0 on an empty board
        numbers[SEEDS, i] = I64(words[i, SEED])


@kernel
def start_some(
    plan: Plan, games: GamesTuple, seeds: NDArray[np.uint64], chosen: NDArray[np.bool_], frames: FramesTuple
) -> None:
    """Start the chosen games from their seeds, from which later seeds derive; write all frames."""
    words = games[0]
    for i in range(len(seeds)):
        if chosen[i]:
            words[i, BASE], words[i, EPISODE] = seeds[i], ZERO
            begin_game(plan, games, i, seeds[i])
    show_some(games, 0, len(seeds), frames)


@kernel
def refused_action(plan: Plan, games: GamesTuple, actions: NDArray[np.int64], settings: SettingsTuple) -> I64:
    """Return the first game with an invalid action, or ALL_FINE."""
    words, n_moves = games[0], I64(plan[at.N_MOVES])
    _, illegal, _, autoreset, _ = settings
    must_be_legal, must_be_running = illegal == ILLEGAL_ERROR, autoreset == DISABLED
    for i in range(len(actions)):
        action = actions[i]
        if action < 0 or action >= n_moves:
            return I64(i)
        if not (must_be_legal or must_be_running):
            continue
        is_done = words[i, IS_DONE] != ZERO
        if must_be_running and is_done:
            return I64(i)
        # A game without a legal first move ends in its first step.
        is_stuck = words[i, LEGAL] == ZERO
        if must_be_legal and not is_done and not is_stuck and (words[i, LEGAL] >> U64(action)) & ONE == ZERO:
            return I64(i)
    return I64(ALL_FINE)


@kernel
def move_wide(plan: Plan, games: GamesTuple, i: I64, move: I64, word: U64) -> tuple[I64, I64, U64]:
    """Slide and spawn on a wide board; return the reward, the number of merges and the spawned rank."""
    words, ranks = games[0], games[1][i]
    n_tiles = wide.count_tiles(ranks)
    gain = wide.slide(plan, ranks, move)
    n_merges = n_tiles - wide.count_tiles(ranks)
    rank = wide.spawn(plan, ranks, word)
    words[i, LEGAL] = U64(wide.legal_mask(plan, ranks))
    words[i, MAX_RANK] = U64(wide.max_rank(ranks))
    return gain, n_merges, rank


@kernel
def step_some(
    plan: Plan,
    games: GamesTuple,
    actions: NDArray[np.int64],
    settings: SettingsTuple,
    outcome: OutcomeTuple,
    frames: FramesTuple,
    finals: FramesTuple,
) -> I64:
    """Make one step in every game: see `step_games`."""
    refused = refused_action(plan, games, actions, settings)
    if refused != ALL_FINE:
        return refused
    words, wide_ranks = games
    reward, ended = outcome
    reward_kind, illegal, illegal_reward, autoreset, max_steps = settings
    is_fair, goal = plan[at.SPAWNER] == FAIR, plan[at.GOAL_RANK]
    last_rank = stop_rank(plan)
    is_quick = is_fair and plan[at.IS_CLASSIC] != ZERO
    afters, boards, new_ranks = np.empty(CHUNK, np.uint64), np.empty(CHUNK, np.uint64), np.empty(CHUNK, np.uint64)
    legals = np.empty(CHUNK, np.int64)
    n = len(actions)
    for first in range(0, n, CHUNK):
        stop = min(first + CHUNK, n)
        if is_quick:
            # 0. Slide and spawn on all packed boards, whether the move is legal or not.  In short loops the processor
            # works on several games at once.
            for i in range(first, stop):
                afters[i - first] = classic.slide(words[i, BOARD], actions[i])
            for i in range(first, stop):
                word = draw(words[i, KEY], words[i, N_SPAWNS])
                boards[i - first], new_ranks[i - first] = packed.fair_spawn(plan, afters[i - first], word)
            for j in range(stop - first):
                legals[j] = classic.legal_mask(boards[j])
        for i in range(first, stop):
            # 1. A game that ended in the previous step is only replaced by the next one.
            if words[i, IS_DONE] != ZERO and autoreset == NEXT_STEP:
                reward[i], ended[TERMINATED, i], ended[TRUNCATED, i] = 0.0, False, False
                next_game(plan, games, i)
                continue
            move, highest, legal = actions[i], words[i, MAX_RANK], words[i, LEGAL]
            gained = illegal_reward
            if (legal >> U64(move)) & ONE != ZERO:
                # 2. Slide and spawn.
                n_spawns, potential, tile_sum = words[i, N_SPAWNS], words[i, POTENTIAL], words[i, SUM]
                is_wide = words[i, IS_WIDE] != ZERO
                if is_wide:
                    gain, n_merges, rank = move_wide(plan, games, i, move, draw(words[i, KEY], n_spawns))
                    legal = words[i, LEGAL]
                else:
                    before = words[i, BOARD]
                    if is_quick:
                        after, board, rank = afters[i - first], boards[i - first], new_ranks[i - first]
                        legal = U64(legals[i - first])
                    else:
                        after = packed.slide(plan, before, move)
                        if is_fair:
                            board, rank = packed.fair_spawn(plan, after, draw(words[i, KEY], n_spawns))
                        else:
                            board, rank = packed.forced_spawn(plan, after)
                        legal = U64(packed.legal_mask(plan, board))
                    gain = packed.potential(after) - I64(potential)
                    n_merges = popcount(packed.empty_bits(plan, after)) - popcount(packed.empty_bits(plan, before))
                    words[i, BOARD], words[i, LEGAL] = board, legal
                    # A new highest tile gains its face, so a smaller gain cannot have made one.
                    if gain >= I64(2) << I64(highest) or rank > highest:
                        words[i, MAX_RANK] = U64(packed.max_rank(board))
                if words[i, MAX_RANK] >= last_rank:
                    words[i, LEGAL] = legal = ZERO
                # 3. Update the counters; a board that no longer fits becomes wide.
                tile_sum += ONE << rank
                words[i, N_SPAWNS] = n_spawns + ONE
                words[i, SUM] = tile_sum
                words[i, SCORE] += U64(gain)
                words[i, POTENTIAL] = potential + U64(gain + tile_potential(rank))
                if not is_wide and tile_sum >= FULL_SUM:
                    wide.unpack(words[i, BOARD], wide_ranks[i])
                    words[i, IS_WIDE] = ONE
                # 4. Reward.
                if reward_kind == REWARD_SCORE:
                    gained = float(gain)
                elif reward_kind == REWARD_LOG:
                    gained = np.log2(float(gain)) if gain > 0 else 0.0
                elif reward_kind == REWARD_MERGES:
                    gained = float(n_merges)
                else:
                    gained = 1.0 if highest < goal and words[i, MAX_RANK] >= goal else 0.0
            elif illegal == ILLEGAL_END:
                words[i, LEGAL] = legal = ZERO
            # 5. Check for the end.
            n_steps = words[i, N_STEPS] + ONE
            words[i, N_STEPS] = n_steps
            is_terminated = legal == ZERO
            is_truncated = max_steps > 0 and n_steps >= U64(max_steps)
            reward[i], ended[TERMINATED, i], ended[TRUNCATED, i] = gained, is_terminated, is_truncated
            if is_terminated or is_truncated:
                words[i, IS_DONE] = ONE
                if autoreset == SAME_STEP:
                    show_some(games, i, i + 1, finals)
                    next_game(plan, games, i)
        show_some(games, first, stop, frames)
    return I64(ALL_FINE)


@kernel
def write_planes(ranks: NDArray[np.uint8], planes: NDArray[np.uint8]) -> None:
    """One-hot encode boards: one plane per rank; `planes` must be zero."""
    for i in range(ranks.shape[0]):
        for cell in range(ranks.shape[1]):
            planes[i, ranks[i, cell], cell] = 1


def start_games(
    plan: Plan, games: OpenGames, seeds: NDArray[np.uint64], chosen: NDArray[np.bool_], frames: Frames
) -> None:
    """Start the chosen games from their seeds, from which later seeds derive; write all frames."""
    start_some(plan, games[:], seeds, chosen, frames[:])


def step_games(
    plan: Plan,
    games: OpenGames,
    actions: NDArray[np.int64],
    settings: Settings,
    outcome: Outcome,
    frames: Frames,
    finals: Frames,
) -> int:
    """Make one step in every game; return ALL_FINE, or the first game with an invalid action (nothing changes then).

    `finals` holds the final state of games that ended and restarted in this step.
    """
    return step_some(plan, games[:], actions, settings[:], outcome[:], frames[:], finals[:])


def show(games: OpenGames, first: int, stop: int, frames: Frames) -> None:
    """Write the observable state of games first .. stop - 1 to `frames`."""
    show_some(games[:], first, stop, frames[:])


def warm_up(plan: Plan) -> None:
    """Compile the kernels of this file that Python calls."""
    n_cells, n_moves = int(plan[at.N_CELLS]), int(plan[at.N_MOVES])
    games, frames = open_games(1, n_cells)[:], make_frames(1, n_cells, n_moves)[:]
    settings = Settings(REWARD_SCORE, ILLEGAL_IGNORE, 0.0, NEXT_STEP, 0)[:]
    compile_for(start_some, plan, games, np.zeros(1, np.uint64), np.ones(1, np.bool_), frames)
    compile_for(step_some, plan, games, np.zeros(1, np.int64), settings, make_outcome(1)[:], frames, frames)
    compile_for(show_some, games, 0, 1, frames)
    compile_for(write_planes, frames[0], np.zeros((1, 32, n_cells), np.uint8))
