"""Self-play training: play games with a network and update it (lab2048.kernels.ntuple.update).

A call plays whole games until its budget of moves is used up.  The cursor stores where the next call
continues, so training in slices of any size gives bit-identical results.

A game starts from the beginning, halfway through the last game (restart), or from an afterstate of an
earlier game (carousel).  Otherwise most training moves would be in the first half of games, which is
learned soonest.  Early games end at a tile sum of 16384, so that most of them are played from the beginning.
"""

import numpy as np
from numpy.typing import NDArray

from lab2048.kernels._jit import compile_for, kernel
from lab2048.kernels.board import classic, packed
from lab2048.kernels.board import layout as at
from lab2048.kernels.board.bits import FOUR, I64, LOW_BITS, NIBBLE, ONE, TWO, U64, ZERO, popcount
from lab2048.kernels.board.dice import N11, PLAYER, SPAWN, draw, episode_seed, pick, stream_key
from lab2048.kernels.board.memory import F32, load_u64
from lab2048.kernels.board.packed import FAIR, FULL_SUM, Plan
from lab2048.kernels.games.start import start_game
from lab2048.kernels.ntuple import lookup
from lab2048.kernels.ntuple.large import LARGE_RANK, LARGE_TILE, synthetic_start
from lab2048.kernels.ntuple.update import Method, Trajectory, learn, learn_backward, make_trajectory, prefetch_rates
from lab2048.kernels.search.downgrade import downgrade_packed

RESTART_LEAST = 10  # moves that must remain of a game to restart halfway
LOWEST = F32(-3.0e38)  # below every value of a move
SLACK = U64(256)  # added to the tile sum at which a truncated game ends
# A packed board is exact as long as it has one 32768.  So games end a little above the tile sum at which a second one
# can be made: there the tiles of 32768 16384 8192 4096 4096 merge, and a training learns what that is worth.
LAST_SUM = FULL_SUM + SLACK
EARLY_SUM = U64(16384) + SLACK  # ends an early game

# The cursor: seed of the training, number of the next game, step between game numbers, start afterstate (0: a new
# game), moves made,
SEED, NUMBER, STRIDE, START, MADE = range(5)
# position in the carousel, highest non-empty start bucket, moves chosen by an earlier stage.
TURN, HIGHEST_BUCKET, TAUGHT = 5, 6, 7
# Start buckets: afterstates of earlier games by tile sum, BUCKET_SIZE per bucket.
START_BUCKETS, N_BUCKETS, BUCKET_SIZE = 8, 71, 32
# Whether the current game began at a synthetic start, and the moves of all such games.
IS_SYNTHETIC, N_SYNTHETIC = START_BUCKETS + N_BUCKETS * BUCKET_SIZE, START_BUCKETS + N_BUCKETS * BUCKET_SIZE + 1
# The same for early games, which end at EARLY_SUM, and the moves of the other games while a share of them is early.
IS_EARLY, N_EARLY, N_WHOLE = N_SYNTHETIC + 1, N_SYNTHETIC + 2, N_SYNTHETIC + 3
CURSOR_SIZE = START_BUCKETS + 72 * BUCKET_SIZE
TURNS = 17  # starts per carousel round: a new game, then the 16 highest buckets (four octaves of the tile sum)

# The report: sums since it was last reset.  Games count only if they start from the beginning,
N_MOVES, N_GAMES, SCORE, RATE, ERROR, BEST = range(6)  # but moves count in all games
MOST_GAMES = 6  # not a sum but a limit: stop when N_GAMES reaches it
HIGHEST = 8  # number of games by the rank of their highest tile
REPORT_SIZE = HIGHEST + 17


def make_report(most_games: float = np.inf) -> NDArray[np.float64]:
    """Make an empty report; training stops after `most_games` games."""
    report = np.zeros(REPORT_SIZE)
    report[MOST_GAMES] = most_games
    return report


@kernel
def tile_sum_of(board: U64) -> U64:
    """Return the sum of the tiles."""
    total = ZERO
    while board != ZERO:
        if board & NIBBLE:
            total += ONE << (board & NIBBLE)
        board >>= FOUR
    return total


@kernel
def bucket_of(tile_sum: U64) -> tuple[I64, U64]:
    """Return the start bucket of a tile sum, four per octave, and the tile sum at which the next one begins."""
    octave = I64(2)
    while (tile_sum >> U64(octave + 1)) != ZERO:
        octave += 1
    quarter = max(tile_sum >> U64(octave - 2), U64(4))  # 4 to 7
    return 4 * octave + I64(quarter) - 4, (quarter + ONE) << U64(octave - 2)


@kernel
def carousel_start(cursor: NDArray[np.uint64], player_dice: U64) -> U64:
    """Return the next start of the carousel, an afterstate of an earlier game; 0 means a new game.

    A round starts a new game, then goes through the buckets from the highest tile sum down.
    """
    turn = I64(cursor[TURN] % U64(TURNS))
    cursor[TURN] += ONE
    bucket = I64(cursor[HIGHEST_BUCKET]) + 1 - turn
    if turn == 0 or bucket < 0:
        return ZERO
    return U64(cursor[START_BUCKETS + bucket * BUCKET_SIZE + pick(draw(player_dice, ZERO), BUCKET_SIZE)])


@kernel
def is_exact(board: U64) -> bool:
    """Return True if a packed board has at most one 32768, so that no merge is missing."""
    pairs = board & (board >> ONE)
    return bool(popcount(pairs & (pairs >> TWO) & LOW_BITS) < 2)


@kernel
def corner_tile(board: U64, corners: U64) -> F32:
    """Return the highest tile if it is in a corner, else 0."""
    highest = packed.max_rank(board)
    return F32(I64(1) << highest) if packed.max_rank(board & corners) == highest else F32(0)


@kernel
def board_for_teaching_stage(net: I64, board: U64) -> U64:
    """Downgrade a board of a later stage, so that the stage before evaluates it; the first stage is unchanged.

    A downgraded board has the same legal moves.
    """
    stage = lookup.stage_of(net, board)
    return downgrade_packed(board, I64(load_u64(net, lookup.STAGES + stage)) - 1) if stage > 0 else board


@kernel
def train(
    plan: Plan,
    net: I64,
    method: Method,
    cursor: NDArray[np.uint64],
    trajectory: Trajectory,
    report: NDArray[np.float64],
    budget: I64,
) -> I64:
    """Play and learn whole games until `budget` moves or MOST_GAMES games are reached; return the number of moves."""
    n_moves, n_lookups = I64(plan[at.N_MOVES]), I64(load_u64(net, lookup.N_LOOKUPS))
    is_classic, is_fair = plan[at.IS_CLASSIC] != ZERO, plan[at.SPAWNER] == FAIR
    indexes, share = trajectory.room.ctypes.data, F32(method.alpha / F32(n_lookups))
    # Memory for the index of each move's afterstate, and of the previous afterstate.
    index_of = np.array([indexes + i * 8 * n_lookups for i in range(n_moves + 1)])
    ranks, afters = np.zeros(I64(plan[at.N_CELLS]), np.uint8), np.empty(n_moves, np.uint64)
    made, n_idle = I64(0), I64(0)  # a game without moves counts as one move, or a call might never end
    while made + n_idle < budget and report[N_GAMES] < report[MOST_GAMES]:
        # 1. Choose a start: a restart, a synthetic one, the carousel or a new game.
        seed = episode_seed(cursor[SEED], cursor[NUMBER])
        dice, player_dice = stream_key(seed, SPAWN), stream_key(seed, PLAYER)
        cursor[NUMBER] += cursor[STRIDE]
        if cursor[START] == ZERO:
            is_due = float(cursor[N_SYNTHETIC]) < method.synthetic * float(cursor[MADE])
            is_early = not is_due and float(cursor[N_EARLY]) < method.early * float(
                cursor[N_EARLY] + cursor[N_WHOLE] + ONE
            )
            cursor[IS_SYNTHETIC], cursor[IS_EARLY] = U64(is_due), U64(is_early)
            if is_due:
                cursor[START] = synthetic_start(player_dice)
            elif method.is_carousel and not is_early:
                cursor[START] = carousel_start(cursor, player_dice)
        is_fresh, is_full = cursor[START] == ZERO, False
        board, count, n, score = cursor[START], ZERO, I64(0), 0.0
        if is_fresh:
            board, tile_sum, _, is_full = start_game(plan, ranks, dice)
            count = plan[at.N_START]
        else:
            tile_sum = tile_sum_of(board)
            board, rank = packed.spawn(plan, board, draw(dice, count))
            tile_sum, count = tile_sum + (ONE << rank), ONE
        errors, rates, next_bucket = 0.0, 0.0, bucket_of(tile_sum)[1]
        end_sum = LAST_SUM
        if cursor[IS_SYNTHETIC] != ZERO and method.truncate > 0:
            # The next large tile appears soon after the tile sum reaches it.
            end_sum = min(end_sum, ((tile_sum >> U64(LARGE_RANK)) + U64(method.truncate)) * LARGE_TILE + SLACK)
        elif cursor[IS_EARLY] != ZERO:
            end_sum = EARLY_SUM
        guide = method.guide if I64(cursor[MADE]) < method.guided else F32(0)
        while not is_full:
            # 2. Find all afterstates.
            shown = board_for_teaching_stage(net, board) if I64(cursor[TAUGHT]) < method.taught else board
            here = packed.potential(shown)
            if is_classic:
                turned = classic.transpose(shown)
                afters[0], afters[1] = classic.transpose(classic.slide_low(turned)), classic.slide_high(shown)
                afters[2], afters[3] = classic.transpose(classic.slide_high(turned)), classic.slide_low(shown)
            else:
                for move in range(n_moves):
                    afters[move] = packed.slide(plan, shown, move)
            # 3. Choose the best move.
            best, highest, target, n_legal = I64(-1), LOWEST, F32(0), I64(0)
            for move in range(n_moves):
                if afters[move] != shown:
                    lookup.find(net, afters[move], index_of[move])
            for move in range(n_moves):
                if afters[move] != shown:
                    value = lookup.value_of(net, index_of[move])
                    total = F32(F32(packed.potential(afters[move]) - here) + method.discount * value)
                    preference = value if method.is_by_value else total
                    if guide > F32(0):
                        preference += guide * corner_tile(afters[move], method.corners)
                    n_legal += 1
                    # Selected without a branch: it would be mispredicted.
                    is_better = preference > highest
                    best, highest = I64(move) if is_better else best, preference if is_better else highest
                    target = total if is_better else target
            if shown != board and best >= 0:
                # The earlier stage chooses only the move; the target comes from the actual board.
                cursor[TAUGHT] += ONE
                here = packed.potential(board)
                for move in range(n_moves):
                    afters[move] = packed.slide(plan, board, move)
                for move in range(n_moves):
                    if afters[move] != board:
                        lookup.find(net, afters[move], index_of[move])
                value = lookup.value_of(net, index_of[best])
                target = F32(F32(packed.potential(afters[best]) - here) + method.discount * value)
            # 4. Update the previous afterstate.
            if not method.is_backward and n > 0:
                # Recompute its value: the last update may have changed weights that both afterstates share.
                error = F32(target - lookup.value_of(net, index_of[n_moves]))
                _, rate = learn(net, index_of[n_moves], share, error, method.is_coherent)
                errors, rates = errors + float(abs(error)), rates + float(rate)
            if best < 0:
                break
            # 5. Maybe replace it by a random move (epsilon-greedy); the target stays that of the best move.
            trajectory.greedy_target[n] = F32(np.nan)
            if method.epsilon > 0:
                word = draw(player_dice, tile_sum)
                if float(word >> N11) * 2.0**-53 < method.epsilon:
                    left, trajectory.greedy_target[n] = pick(draw(player_dice, tile_sum | ONE), n_legal), target
                    for move in range(n_moves):
                        if afters[move] != board:
                            if left == 0:
                                best = I64(move)
                            left -= 1
            reward = packed.potential(afters[best]) - here
            trajectory.boards[n], trajectory.rewards[n] = afters[best], F32(reward)
            if not method.is_backward:
                index_of[best], index_of[n_moves] = index_of[n_moves], index_of[best]
                if method.is_coherent:
                    prefetch_rates(net, index_of[n_moves])
            score, n, made = score + reward, n + 1, made + 1
            # 6. Spawn.
            word = draw(dice, count)
            board, rank = (
                packed.fair_spawn(plan, afters[best], word) if is_fair else packed.forced_spawn(plan, afters[best])
            )
            tile_sum, count = tile_sum + (ONE << rank), count + ONE
            is_full = bool(tile_sum >= end_sum or (tile_sum >= FULL_SUM and not is_exact(board)))
            # 7. Store the first afterstate in each bucket.
            if tile_sum >= next_bucket and method.is_carousel:
                bucket, next_bucket = bucket_of(tile_sum)
                slot = START_BUCKETS + bucket * BUCKET_SIZE + pick(draw(player_dice, tile_sum), BUCKET_SIZE)
                cursor[slot] = afters[best]
                cursor[HIGHEST_BUCKET] = max(cursor[HIGHEST_BUCKET], U64(bucket))
        # 8. Learn backward, update the report, and choose the restart.
        if method.is_backward:
            errors, rates = learn_backward(net, method, trajectory, n, not is_full, indexes)
        n_idle += I64(n == 0)
        cursor[MADE] += U64(n)
        cursor[N_SYNTHETIC] += U64(n) * cursor[IS_SYNTHETIC]
        cursor[N_EARLY] += U64(n) * cursor[IS_EARLY]
        if method.early > 0 and cursor[IS_SYNTHETIC] == ZERO and cursor[IS_EARLY] == ZERO:
            cursor[N_WHOLE] += U64(n)
        report[N_MOVES] += float(n)
        report[ERROR] += errors
        report[RATE] += rates / n_lookups
        if is_fresh and cursor[IS_EARLY] == ZERO:
            report[N_GAMES] += 1.0
            report[SCORE] += score
            report[BEST] = max(report[BEST], score)
            report[HIGHEST + packed.max_rank(board)] += 1.0
        cursor[START] = ZERO
        is_learned = is_full and cursor[IS_EARLY] != ZERO  # an early game that got through
        if method.is_restarting and n - n // 2 >= RESTART_LEAST and not is_learned:
            half = trajectory.boards[n // 2]
            cursor[START] = half if tile_sum_of(half) < FULL_SUM else ZERO
    return made


def warm_up(plan: Plan) -> None:
    """Compile the kernels of this file that Python calls."""
    method = Method(F32(1), F32(1), F32(0), 0.0, True, True, False, True, F32(0), 0, U64(0), 0, 0.0, 0, 0.0, False)
    compile_for(train, plan, 0, method, np.zeros(CURSOR_SIZE, np.uint64), make_trajectory(1), make_report(), 1)
