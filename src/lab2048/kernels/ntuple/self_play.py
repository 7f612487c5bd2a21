"""Training: games played by a network's values, from which it learns (lab2048.kernels.ntuple.update).

A call plays whole games until its budget of moves is spent; the cursor says where the next call
goes on, so that a training cut into any slices comes to the same bits.

Games begin anew, half-way through the last one, or at a board of an earlier one: most moves of a
training would otherwise be made in the first half of games, which is learnt soonest.
"""

import numpy as np
from numpy.typing import NDArray

from lab2048.kernels._jit import kernel
from lab2048.kernels.board import classic, packed
from lab2048.kernels.board import layout as at
from lab2048.kernels.board.bits import FOUR, I64, NIBBLE, ONE, U64, ZERO
from lab2048.kernels.board.dice import N11, PLAYER, SPAWN, draw, episode_seed, pick, stream_key
from lab2048.kernels.board.memory import F32, address_of, load_u64, store_u64
from lab2048.kernels.board.packed import FAIR, FULL_SUM, Plan
from lab2048.kernels.games.start import start_game
from lab2048.kernels.ntuple import lookup
from lab2048.kernels.ntuple.large import LARGE_RANK, LARGE_TILE, synthetic_start
from lab2048.kernels.ntuple.update import Method, Trail, ask_rates, learn, learn_backward, make_trail
from lab2048.kernels.search.downgrade import downgrade_packed

GROUP = "network"

RESTART_LEAST = 10  # moves that must be left of a game to begin again half-way
NOTHING = F32(-3.0e38)
SOON = U64(256)

# The cursor: of the training; next game, how far to the one after it; where to begin (0: anew); moves made;
SEED, NUMBER, STRIDE, START, MADE = range(5)
# whose turn it is to be the beginning; the highest ring that holds a board; moves of later stages that were taught.
TURN, HIGHEST_RING, TAUGHT = 5, 6, 7
# Then the rings: afterstates of earlier games, by tile sum.
RINGS, N_RINGS, RING_SIZE = 8, 71, 32
# Then whether the game at hand began on a synthetic board, and the moves of all that did.
IS_SYNTHETIC, N_SYNTHETIC = RINGS + N_RINGS * RING_SIZE, RINGS + N_RINGS * RING_SIZE + 1
CURSOR_SIZE = RINGS + 72 * RING_SIZE
TURNS = 17  # beginnings of a round: anew, and at the sixteen highest rings, four octaves of the tile sum

# The report, which sums up since it was last emptied; games are those from the start.
N_MOVES, N_GAMES, SCORE, RATE, ERROR, BEST = range(6)  # moves of games begun half-way are counted too
MOST_GAMES = 6  # not a sum but a wish: end when N_GAMES is there
HIGHEST = 8  # how many games ended with a highest tile of each rank
REPORT_SIZE = HIGHEST + 17


def make_report(most_games: float = np.inf) -> NDArray[np.float64]:
    """An empty report."""
    report = np.zeros(REPORT_SIZE)
    report[MOST_GAMES] = most_games
    return report


@kernel
def tile_sum_of(board: U64) -> U64:
    """The sum of the tiles."""
    total = ZERO
    while board != ZERO:
        if board & NIBBLE:
            total += ONE << (board & NIBBLE)
        board >>= FOUR
    return total


@kernel
def bucket_of(tile_sum: U64) -> tuple[I64, U64]:
    """The ring of a tile sum, four for each octave, and the sum at which the next one begins."""
    octave = I64(2)
    while (tile_sum >> U64(octave + 1)) != ZERO:
        octave += 1
    quarter = max(tile_sum >> U64(octave - 2), U64(4))  # 4 to 7
    return 4 * octave + I64(quarter) - 4, (quarter + ONE) << U64(octave - 2)


@kernel
def begin_at(cursor: NDArray[np.uint64], player_dice: U64) -> U64:
    """Where to begin in turn: an afterstate of an earlier game, or 0 for anew."""
    turn = I64(cursor[TURN] % U64(TURNS))
    cursor[TURN] += ONE
    ring = I64(cursor[HIGHEST_RING]) + 1 - turn
    if turn == 0 or ring < 0:
        return ZERO
    return U64(cursor[RINGS + ring * RING_SIZE + pick(draw(player_dice, ZERO), RING_SIZE)])


@kernel
def in_corner(board: U64, corners: U64) -> F32:
    """The highest tile if it stands in a corner, otherwise nothing."""
    highest = packed.max_rank(board)
    return F32(I64(1) << highest) if packed.max_rank(board & corners) == highest else F32(0)


@kernel
def taught_by(net: I64, board: U64) -> U64:
    """The board that the stage before is asked about: lowered, or the board itself in the first stage.

    A lowered board has the same legal moves.
    """
    stage = lookup.stage_of(net, board)
    return downgrade_packed(board, I64(load_u64(net, lookup.STAGES + stage)) - 1) if stage > 0 else board


@kernel
def train(
    plan: Plan,
    net: I64,
    method: Method,
    cursor: NDArray[np.uint64],
    trail: Trail,
    report: NDArray[np.float64],
    budget: I64,
) -> I64:
    """Play and learn whole games until `budget` moves are made or games enough; return how many moves were."""
    n_moves, n_lookups = I64(plan[at.N_MOVES]), I64(load_u64(net, lookup.N_LOOKUPS))
    is_classic, is_fair = plan[at.IS_CLASSIC] != ZERO, plan[at.SPAWNER] == FAIR
    indexes, size = trail.room.ctypes.data, 8 * n_lookups
    before, share = indexes + (n_moves + 1) * size, F32(method.alpha / F32(n_lookups))
    ranks, afters = np.zeros(I64(plan[at.N_CELLS]), np.uint8), np.empty(n_moves, np.uint64)
    made, n_idle = I64(0), I64(0)  # a game without a move counts as one, or a call might never end
    while made + n_idle < budget and report[N_GAMES] < report[MOST_GAMES]:
        # 1. Begin anew, or half-way through the last game.
        seed = episode_seed(cursor[SEED], cursor[NUMBER])
        dice, player_dice = stream_key(seed, SPAWN), stream_key(seed, PLAYER)
        cursor[NUMBER] += cursor[STRIDE]
        if cursor[START] == ZERO:
            is_due = float(cursor[N_SYNTHETIC]) < method.synthetic * float(cursor[MADE])
            cursor[IS_SYNTHETIC] = U64(is_due)
            if is_due:
                cursor[START] = synthetic_start(player_dice)
            elif method.is_circling:
                cursor[START] = begin_at(cursor, player_dice)
        is_anew, is_full = cursor[START] == ZERO, False
        board, count, n, score = cursor[START], ZERO, I64(0), 0.0
        if is_anew:
            board, tile_sum, _, is_full = start_game(plan, ranks, dice)
            count = plan[at.N_START]
        else:
            tile_sum = tile_sum_of(board)
            board, rank = packed.spawn(plan, board, draw(dice, count))
            tile_sum, count = tile_sum + (ONE << rank), ONE
        errors, rates, next_ring = 0.0, 0.0, bucket_of(tile_sum)[1]
        end_sum = FULL_SUM
        if cursor[IS_SYNTHETIC] != ZERO and method.truncate > 0:
            # The next large tile is there soon after the others and the small ones add up to it.
            end_sum = min(end_sum, ((tile_sum >> U64(LARGE_RANK)) + U64(method.truncate)) * LARGE_TILE + SOON)
        guide = method.guide if I64(cursor[MADE]) < method.guided else F32(0)
        while not is_full:
            # 2. Find every afterstate and what it looks up, before anything is added up: memory takes its time.
            shown = taught_by(net, board) if I64(cursor[TAUGHT]) < method.taught else board
            here = packed.potential(shown)
            if is_classic:
                turned = classic.transpose(shown)
                afters[0], afters[1] = classic.transpose(classic.slide_low(turned)), classic.slide_high(shown)
                afters[2], afters[3] = classic.transpose(classic.slide_high(turned)), classic.slide_low(shown)
            else:
                for move in range(n_moves):
                    afters[move] = packed.slide(plan, shown, move)
            for move in range(n_moves):
                if afters[move] != shown:
                    lookup.find(net, afters[move], indexes + move * size)
            # 3. Take the best move.
            best, highest, target, n_legal = I64(-1), NOTHING, F32(0), I64(0)
            for move in range(n_moves):
                if afters[move] != shown:
                    worth = lookup.value_of(net, indexes + move * size)
                    total = F32(F32(packed.potential(afters[move]) - here) + method.discount * worth)
                    liking = total + guide * in_corner(afters[move], method.corners) if guide > F32(0) else total
                    n_legal += 1
                    if liking > highest:
                        best, highest, target = I64(move), liking, total
            if shown != board and best >= 0:
                # What was taught is the move; what it leads to is the true board's.
                cursor[TAUGHT] += ONE
                here = packed.potential(board)
                for move in range(n_moves):
                    afters[move] = packed.slide(plan, board, move)
                    lookup.find(net, afters[move], indexes + move * size)
                worth = lookup.value_of(net, indexes + best * size)
                target = F32(F32(packed.potential(afters[best]) - here) + method.discount * worth)
            # 4. Learn from it.
            if not method.is_backward and n > 0:
                # Its value as it is by now: learning the one before has moved weights that both look up.
                error = F32(target - lookup.value_of(net, before))
                _, rate = learn(net, before, share, error, method.is_coherent)
                errors, rates = errors + float(abs(error)), rates + float(rate)
            if best < 0:
                break
            # 5. Or a move at random: what is learnt is what the best one would have brought.
            trail.missed[n] = F32(np.nan)
            if method.epsilon > 0:
                word = draw(player_dice, tile_sum)
                if float(word >> N11) * 2.0**-53 < method.epsilon:
                    left, trail.missed[n] = pick(draw(player_dice, tile_sum | ONE), n_legal), target
                    for move in range(n_moves):
                        if afters[move] != board:
                            if left == 0:
                                best = I64(move)
                            left -= 1
            reward = packed.potential(afters[best]) - here
            trail.boards[n], trail.rewards[n] = afters[best], F32(reward)
            if not method.is_backward:
                for i in range(n_lookups):
                    store_u64(before, i, load_u64(indexes + best * size, i))
                if method.is_coherent:
                    ask_rates(net, before)
            score, n, made = score + reward, n + 1, made + 1
            # 6. Spawn.
            word = draw(dice, count)
            board, rank = (
                packed.fair_spawn(plan, afters[best], word) if is_fair else packed.forced_spawn(plan, afters[best])
            )
            tile_sum, count = tile_sum + (ONE << rank), count + ONE
            is_full = bool(tile_sum >= end_sum)
            # 7. Remember the board where a ring begins.
            if tile_sum >= next_ring and method.is_circling:
                ring, next_ring = bucket_of(tile_sum)
                cursor[RINGS + ring * RING_SIZE + pick(draw(player_dice, tile_sum), RING_SIZE)] = afters[best]
                cursor[HIGHEST_RING] = max(cursor[HIGHEST_RING], U64(ring))
        # 8. Look back, keep the books, and say where to go on.
        if method.is_backward:
            errors, rates = learn_backward(net, method, trail, n, not is_full, indexes)
        n_idle += I64(n == 0)
        cursor[MADE] += U64(n)
        cursor[N_SYNTHETIC] += U64(n) * cursor[IS_SYNTHETIC]
        report[N_MOVES] += float(n)
        report[ERROR] += errors
        report[RATE] += rates / n_lookups
        if is_anew:
            report[N_GAMES] += 1.0
            report[SCORE] += score
            report[BEST] = max(report[BEST], score)
            report[HIGHEST + packed.max_rank(board)] += 1.0
        cursor[START] = ZERO
        if method.is_restarting and n - n // 2 >= RESTART_LEAST:
            cursor[START] = trail.boards[n // 2]
    return made


def warm_up(plan: Plan) -> None:
    """Call every kernel of this file once, so that it is compiled."""
    weights, rates = np.zeros(16, F32), np.zeros(32, F32)
    net = lookup.idle_net(plan, weights)
    net[lookup.RATES] = address_of(rates)
    method = Method(F32(1), F32(1), F32(0), 0.0, True, True, False, True, F32(0), 0, U64(0), 0, 0.0, 0)
    cursor = np.zeros(CURSOR_SIZE, np.uint64)
    train(plan, address_of(net), method, cursor, make_trail(1), make_report(), 1)
