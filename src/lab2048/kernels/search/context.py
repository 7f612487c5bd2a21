"""The context of a search: an array of words that recursive kernels access by one address.

    context[0 : LINES]       the numbers named below; fractions are kept as the bits of a float
    context[LINES : ]        for each axis the number of its lines, then for each line
                             (shift, mask, where its table begins)
    context[SPAWNS : ]       the number of entries of the spawn table, then for each
                             (rank, probability, cost), the likeliest first
    context[COSTS : ]        what choosing one of n empty cells costs
    context[TOLLS : ]        for each entry of the spawn table the score that a spawned tile seems to have earned

lab2048.players.searcher fills it and must keep it alive while kernels use it.
"""

N_STATES = 0  # states looked at
IS_STOPPED = 1  # 1 when the time is up: what is then returned means nothing
DEADLINE = 2  # nanoseconds of the clock; 0: none
CLOCK = 3  # address of the clock
LOOK_AT = 4  # the number of states at which to read the clock next
FAR = 5  # address of the transposition table for all but the last moves: threads share it
NEAR = 23  # the same for the last ones, which are many: each thread has its own, in its own cache
TABLE_SHIFT = 6
PLAN = 7  # address of the plan
PLAN_SIZE = 8
VALUES = 9  # address of the evaluator's line tables
TERMS = 10  # address of the evaluator's terms
WEIGHTS = 11  # address of the evaluator's weight of every cell
N_AXES = 12
CHANCE = 19  # address of the search itself
HOW = 13  # how a packed board is judged: one of the three below
LOST = 14  # value of a board without moves
IS_LOST_JUDGED = 15  # 1 if such a board is judged like any other instead
DEPTH = 16  # own moves to look ahead, at least
DEEPEN = 17  # when to look further: one of the three below
ALLOWANCE = 18  # and what is added for each own move of the depth:
ALLOWANCE_EACH = 20
MARGIN = 22  # how much worse than the best a move may be judged and still be searched
N_LIKELY = 21  # entries of the spawn table that are looked at where all moves are judged at once
CHOOSE = 24  # address of the kernel that chooses a move
NET = 25  # address of the network that judges, if one does
LEAVES = 26  # address of the table of its judgements
LEAVES_SHIFT = 27
INDEXES = 28  # address of room for the indexes of all moves of a board, and their size in bytes
INDEX_SIZE = 29
AFTERS = 30  # address of room for the afterstates and judgements of a state, AFTERS_SIZE words for each depth
TOP = 31  # boards with higher ranks are downgraded, if possible
LEAD = 32  # by how much a move must lead to be taken before the time is up
IS_STATE_JUDGED = 33  # 1 if what is judged at the end of the depth is the state, before its move, and not afterstates

FALLBACK = 34  # address of the context that is asked where a network is guessing; 0: none
TRUST = 35  # share of trained weights below which it is
CONFIDENT_CHOOSE = 36  # address of the kernel that chooses where it is not

LINES = 37
AXIS_SIZE = 1 + 3 * 16
SPAWNS = LINES + 3 * AXIS_SIZE
COSTS = SPAWNS + 1 + 3 * 16
TOLLS = COSTS + 65
SIZE = TOLLS + 16

BY_LINES, BY_LINES_AND_BOARD, BY_BYTES = range(
    3
)  # tables alone; tables and whole-board terms; lines too long for tables
MOST_MOVES = 6  # of a shape
AFTERS_SIZE = 2 * MOST_MOVES
LOST_DEPTH = -1  # asks a search to judge a board without moves
EVERYTHING = 2**15 - 1  # an allowance that is never used up

ALWAYS_EVEN, BY_TILES, BY_EMPTY = range(3)  # never; with the number of different tiles; one more if few cells are empty

# The transposition table: two words an entry; the second one holds value, depth and allowance.
DEPTH_SHIFT = 32
ALLOWANCE_SHIFT = 40
