"""The context of a search: an array of words that recursive kernels access by one address.

    context[0 : LINES]       the fields named below; fractions are stored as the bits of a float
    context[LINES : ]        for each axis the number of lines, then for each line
                             (shift, mask, start of its table)
    context[SPAWNS : ]       the number of entries of the spawn table, then for each entry
                             (rank, probability, cost), the most probable first
    context[COSTS : ]        the cost of choosing one of n empty cells
    context[TOLLS : ]        for each entry of the spawn table the potential of the spawned tile, which was not earned
    context[LENGTHS : ]      for each length of lines the start of its table

lab2048.players.searcher fills it and must keep it alive while kernels use it.
"""

N_STATES = 0  # states searched
IS_STOPPED = 1  # 1 when the time is up or the stop flag is set: results are then invalid
DEADLINE = 2  # clock time in nanoseconds; 0: none
CLOCK = 3  # address of the clock
LOOK_AT = 4  # number of states at which to look at the stop flag and the clock next
FAR = 5  # address of the transposition table for larger depths, shared by all threads
NEAR = 23  # the same for the smallest depths: each thread has its own, which fits its cache
TABLE_SHIFT = 6
PLAN = 7  # address of the plan
PLAN_SIZE = 8
VALUES = 9  # address of the evaluator's line tables
TERMS = 10  # address of the evaluator's terms
WEIGHTS = 11  # address of the evaluator's weights by cell
N_AXES = 12
CHANCE = 19  # address of the search kernel for chance nodes
HOW = 13  # how boards are evaluated: BY_LINES, BY_LINES_AND_BOARD, BY_BYTES or BY_LENGTH
LOST = 14  # value of a board without moves
IS_LOST_EVALUATED = 15  # 1 if such boards are evaluated like any other instead
DEPTH = 16  # minimum search depth, in own moves
DEEPEN = 17  # when to search deeper: ALWAYS_EVEN, BY_TILES or BY_EMPTY
ALLOWANCE = 18  # how improbable a line of play may become before its cutoff, and the increase per depth:
ALLOWANCE_EACH = 20
MARGIN = 22  # moves whose static value is worse than the best by more than this are not searched
N_LIKELY = 21  # entries of the spawn table that are expanded just above the leaves
CHOOSE = 24  # address of the kernel that chooses a move
NET = 25  # address of the n-tuple network, if it evaluates leaves
LEAVES = 26  # address of the cache of leaf values
LEAVES_SHIFT = 27
INDEX = 28  # address of scratch memory for the indexes of new leaves
NEW = 29  # address of scratch memory for the list of new leaves
AFTERS = 30  # address of scratch memory for afterstates and their values, AFTERS_SIZE words per depth
TOP = 31  # boards with higher ranks are downgraded if possible
LEAD = 32  # lead over the second-best move at which a timed search stops early
IS_STATE_EVALUATED = 33  # 1 if leaves are states (before the move) instead of afterstates

FALLBACK = 34  # address of the context that chooses where the network is guessing; 0: none
TRUST = 35  # share of trained weights below which the network is guessing
CONFIDENT_CHOOSE = 36  # address of the kernel that chooses where it is not guessing

BATCH = 37  # address of scratch memory for the afterstates of a batch, and their values
OWN = [LEAVES, INDEX, NEW, BATCH, AFTERS]  # scratch memory that threads do not share
STOP = 38  # address of the stop flag (lab2048.stop_flag), which another thread may set
LEAF_CHANCE = 39  # address of the chance kernel that evaluates leaves if no spawn is left to chance

HAS_EXTRA_TILE = 40  # 1 if a random tile appears after every move of the search, before the spawns that are counted
ENDS_AT_STATE = 41  # 1 if leaves are states in this search: with BY_EMPTY a board with few empty cells gets a last move

BOOK = 42  # address of the endgame tables; 0: none
SEARCH_CHOOSE = 43  # address of the kernel that chooses where they do not

LINES = 44
AXIS_SIZE = 1 + 3 * 16
SPAWNS = LINES + 3 * AXIS_SIZE
COSTS = SPAWNS + 1 + 3 * 16
TOLLS = COSTS + 65
LENGTHS = TOLLS + 16
LONGEST = 5  # line with a table of its own in BY_LENGTH
SIZE = LENGTHS + LONGEST + 1

# Line tables only; line tables and whole-board terms; cell by cell, for lines too long for tables; one table per
# length of lines, for wide boards and long lines.
BY_LINES, BY_LINES_AND_BOARD, BY_BYTES, BY_LENGTH = range(4)
MOST_MOVES = 6  # of any shape
AFTERS_SIZE = 2 * MOST_MOVES
BATCH_STATES = 4  # states whose leaves are evaluated together
LOST_DEPTH = -1  # the depth that asks for the value of a board without moves
EVERYTHING = 2**15 - 1  # an allowance that is never used up

ALWAYS_EVEN, BY_TILES, BY_EMPTY = range(3)  # never; by the number of different tiles; by 1 if few cells are empty

# The transposition table has two words per entry; the second holds value, depth and allowance.
DEPTH_SHIFT = 32
ALLOWANCE_SHIFT = 40
END_SHIFT = 56
