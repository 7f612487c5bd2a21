"""The layout of the plan: rules compiled into one array of words for kernels.

    plan[0 : SPAWN_ENDS]        the numbers named below
    plan[SPAWN_ENDS : ]         spawn table: where each entry ends in units of 2^-32, SPAWN_SIZE words
    plan[SPAWN_RANKS : ]        ranks, as many
    plan[SPAWN_CHANCES : ]      exact probabilities, the bits of a float64 each, as many
    plan[MOVES_AT : ]           packed slides: MOVE_SIZE words per move
    plan[plan[SYMMETRIES_AT]:]  packed symmetries: SYMMETRY_SIZE words each; none of byte boards
    plan[plan[WALK_AT]:]        a walk through all symmetries: two numbers of pairs, then the pairs of two
                                shuffles, PAIRS_SIZE words each, to be done in turn; none of byte boards
    plan[plan[LINES_AT]:]       lines for byte boards: for each move an offset from the start of
                                the plan to its number of lines, then a length and the cells of each
    plan[plan[HOLDING_AT]:]     those of them that hold anchors, in the same form

A shuffle permutes the nibbles of a word: a list of (mask, rotation) pairs, one per distance.  A packed
slide is a shuffle that makes each line contiguous (a lane), a table lookup per lane, and the inverse
shuffle.

One array, because arrays are expensive kernel arguments; lab2048.rules.plan creates it.
"""

from enum import IntEnum

# Numbers
IS_PACKED = 0  # 1 if boards fit one word
IS_CLASSIC = 1  # 1 on the plain 4x4
N_CELLS = 2
N_MOVES = 3
CELL_BITS = 4  # the lowest bit of the nibble of every cell
GOAL_RANK = 5
SPAWNER = 6
N_SPAWN = 7  # entries of the spawn table
N_START = 8  # tiles that spawn first
N_SYMMETRIES = 9  # of packed boards; 0 if boards do not fit one word
SYMMETRIES_AT = 10
LINES_AT = 11
BOARD_AT = 12  # the ranks before the first spawn, a word a cell
WALK_AT = 13
STOP_AT_GOAL = 14  # 1 if a game ends when the goal is reached
HAS_NULL_MOVES = 15  # 1 if some moves may change nothing; not a rule of 2048
HOLDING_AT = 16
GOAL_NIBBLES = 17  # the nibbles of cells where the goal counts; of packed boards
GOAL_BITS = 18  # the same for byte boards, a bit a cell
FREE_RANK = 19  # of free large tiles, which never merge; 0: the board has none.  Packed boards merge no rank 15

# The spawn table
SPAWN_SIZE = 16
SPAWN_ENDS = 20
SPAWN_RANKS = SPAWN_ENDS + SPAWN_SIZE
SPAWN_CHANCES = SPAWN_RANKS + SPAWN_SIZE

# A packed slide
MOVES_AT = SPAWN_CHANCES + SPAWN_SIZE
N_PAIRS = 0  # of the shuffle, and as many of the shuffle back
N_LANES = 1
KEEP = 2  # nibbles that no lane touches
HOLDING = 3  # the lowest bit of the nibble of every cell that holds an anchor
PAIRS = 4
PAIRS_SIZE = 32
BACK = PAIRS + PAIRS_SIZE
LANES = BACK + PAIRS_SIZE  # (shift, mask, table) each
MOVE_SIZE = LANES + 3 * 8

# Instead of a table: the lane is longer than four cells and slides cell by cell.
LONG = 2**32

SYMMETRY_SIZE = 1 + PAIRS_SIZE


class SpawnerCode(IntEnum):
    """lab2048.rules.Spawner as a number."""

    FAIR = 0
    FIRST = 1
    WORST = 2
