"""Play whole games in one call, for compiled players.

A board is packed while it fits and wide from then on, so games are exact to the last tile and packed
boards run at full speed.  Games are played in slices: a call ends when its games are finished, its
budget is spent or its buffer is full, and the next call continues there.
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from lab2048.kernels._jit import compile_for, kernel
from lab2048.kernels.board import layout as at
from lab2048.kernels.board import packed, wide
from lab2048.kernels.board.bits import FOUR, I64, NIBBLE, ONE, U64, ZERO
from lab2048.kernels.board.dice import GOLDEN, PLAYER, SPAWN, draw, mix, pick, stream_key
from lab2048.kernels.board.memory import load_u64
from lab2048.kernels.board.packed import FULL_SUM, Plan, tile_potential
from lab2048.kernels.function_pointer import call_choose
from lab2048.kernels.games.start import start_game
from lab2048.kernels.search import context as of
from lab2048.kernels.search.downgrade import downgrade

ALL_MOVES = U64(0x543210)  # one nibble per move
RANDOM = ZERO  # instead of an order of moves
NO_SEARCH = 0  # instead of a context


class Games(NamedTuple):
    """Games to play and their results; game i is at index i of each array."""

    seeds: NDArray[np.uint64]
    score: NDArray[np.int64]
    n_moves: NDArray[np.int64]
    to_goal: NDArray[np.int64]  # moves until the goal was reached, -1 if it was not
    ranks: NDArray[np.uint8]  # the final board, one row per game
    moves: NDArray[np.uint8]  # the moves of all games, concatenated
    cursor: NDArray[np.uint64]  # where the next slice continues

    @property
    def n_finished(self) -> int:
        return int(self.cursor[GAME])

    @property
    def n_used(self) -> int:
        """Return the number of entries of `moves` in use."""
        return int(self.cursor[USED])


# The cursor: the current game and its state.
GAME, USED, BOARD, SUM, SPENT, N_SPAWNS, N_PLAYED, TO_GOAL, IS_WIDE = range(9)
CURSOR_SIZE = 9
NEVER = U64(0xFFFF_FFFF_FFFF_FFFF)
NEVER_REACHED = -1  # the same in `to_goal`


def make_games(seeds: NDArray[np.uint64], n_cells: int, capacity: int) -> Games:
    """Allocate arrays for the games of these seeds and `capacity` moves."""
    n = len(seeds)
    cursor = np.zeros(CURSOR_SIZE, np.uint64)
    return Games(
        seeds=seeds,
        score=np.zeros(n, np.int64),
        n_moves=np.zeros(n, np.int64),
        to_goal=np.full(n, -1, np.int64),
        ranks=np.zeros((n, n_cells), np.uint8),
        moves=np.zeros(capacity, np.uint8),
        cursor=cursor,
    )


def room_for(games: Games, n_moves: int) -> Games:
    """Return the same games with capacity for at least `n_moves` more moves."""
    if len(games.moves) - games.n_used >= n_moves:
        return games
    longer = np.zeros(max(2 * len(games.moves), games.n_used + n_moves), np.uint8)
    longer[: games.n_used] = games.moves[: games.n_used]
    return games._replace(moves=longer)


@kernel
def play_games(plan: Plan, games: Games, order: U64, context: I64, budget: I64) -> I64:
    """Continue for at most `budget` moves; return the number played.

    `order` lists the moves by priority, a nibble each; RANDOM chooses uniformly among the legal ones.
    With the address of a search context, the best move of the search has priority over all others, and the call ends
    early when its stop flag is set.
    """
    cursor = games.cursor
    n_moves, n_start, goal = I64(plan[at.N_MOVES]), plan[at.N_START], I64(plan[at.GOAL_RANK])
    all_moves = ALL_MOVES & ((ONE << U64(4 * n_moves)) - ONE)
    capacity = I64(len(games.moves))
    game, used = I64(cursor[GAME]), I64(cursor[USED])
    made = I64(0)
    has_null_moves = plan[at.HAS_NULL_MOVES] != ZERO
    is_fair = plan[at.SPAWNER] == packed.FAIR  # checked once: a call that may reach the adversary is not inlined
    while game < len(games.seeds):
        # 1. Restore the game from the cursor.
        seed, ranks = games.seeds[game], games.ranks[game]
        board, tile_sum, spent = cursor[BOARD], cursor[SUM], I64(cursor[SPENT])
        n_spawns, played, to_goal = cursor[N_SPAWNS], I64(cursor[N_PLAYED]), cursor[TO_GOAL]
        is_wide = cursor[IS_WIDE] != ZERO
        dice, player_dice = stream_key(seed, SPAWN), stream_key(seed, PLAYER)
        if n_spawns == ZERO:
            board, tile_sum, spent, is_wide = start_game(plan, ranks, dice)
            n_spawns, to_goal = n_start, NEVER
        is_over = False
        while True:
            # 2. Spawn after a move and update the counters; a board that no longer fits becomes wide.
            # Not shared with vector.py: passing arrays to a kernel costs more than a slide.
            if n_spawns < n_start + U64(played):
                word = draw(dice, n_spawns)
                if is_wide:
                    rank = wide.spawn(plan, ranks, word)
                else:
                    board, rank = packed.fair_spawn(plan, board, word) if is_fair else packed.forced_spawn(plan, board)
                tile_sum += ONE << rank
                spent += tile_potential(rank)
                n_spawns += ONE
            if not is_wide and tile_sum >= FULL_SUM:
                wide.unpack(board, ranks)
                is_wide = True
            if to_goal == NEVER and tile_sum >= ONE << U64(goal):
                highest = I64(0) if is_wide else packed.max_goal_rank(plan, board)
                if highest >= goal or (is_wide and wide.is_won(plan, ranks)):
                    to_goal = U64(played)
            if to_goal != NEVER and plan[at.STOP_AT_GOAL] != ZERO:
                is_over = True
                break
            if made >= budget or used >= capacity:
                break
            # 3. Choose a move: try them in turn until one changes the board.
            left, n_left, candidates = all_moves, n_moves, order
            word = draw(player_dice, tile_sum >> ONE)  # the tile sum never repeats in a game
            if context != NO_SEARCH:
                choose = I64(load_u64(context, of.CHOOSE))
                best = call_choose(choose, context, downgrade(ranks) if is_wide else board)
                if load_u64(I64(load_u64(context, of.STOP)), 0) != ZERO:  # then the choice is invalid
                    break
                candidates = (all_moves << FOUR) | U64(max(best, 0))  # without a legal move any is fine
                n_left += 1
            is_over = True
            while n_left > 0:
                if candidates == RANDOM:
                    nth = pick(word, n_left)
                    move = I64((left >> U64(4 * nth)) & NIBBLE)
                    below = (ONE << U64(4 * nth)) - ONE
                    left = (left & below) | ((left >> FOUR) & ~below)
                    word = mix(word + GOLDEN)
                else:
                    move = I64(candidates & NIBBLE)
                    candidates >>= FOUR
                n_left -= 1
                if is_wide:
                    changed = wide.slide(plan, ranks, move) >= 0
                else:
                    after = packed.slide(plan, board, move)
                    changed = after != board or (has_null_moves and packed.is_legal(plan, board, after, move))
                    board = after
                if changed:
                    is_over = False
                    games.moves[used] = np.uint8(move)
                    break
            if is_over:
                break
            used += 1
            played += 1
            made += 1
        # 4. Store the result, or the state in the cursor.
        if is_over:
            if not is_wide:
                wide.unpack(board, ranks)
            games.score[game] = wide.potential(ranks) - spent
            games.n_moves[game] = played
            games.to_goal[game] = I64(to_goal)
            game += 1
            n_spawns, played = ZERO, I64(0)
        cursor[GAME], cursor[USED] = U64(game), U64(used)
        cursor[BOARD], cursor[SUM], cursor[SPENT] = board, tile_sum, U64(spent)
        cursor[N_SPAWNS], cursor[N_PLAYED], cursor[TO_GOAL] = n_spawns, U64(played), to_goal
        cursor[IS_WIDE] = U64(is_wide)
        if not is_over:
            break
    return made


def warm_up(plan: Plan) -> None:
    """Compile the kernels of this file that Python calls."""
    games = make_games(np.zeros(1, np.uint64), int(plan[at.N_CELLS]), 8)
    compile_for(play_games, plan, games, RANDOM, NO_SEARCH, 8)
