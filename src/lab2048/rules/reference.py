"""The rules of 2048 in plain Python: the specification.

This module is slow and imports nothing.  Property tests compare every kernel with
these functions.

A board is a tuple of ranks, one per cell: 0 is empty, 1 is the tile 2, 11 is 2048.
A line is a tuple of cells, from the wall that the tiles slide to.  For each move
there is a list of lines; a brick simply splits a line in two.

An anchor is a large tile that never merges and may not be moved.  To the tiles behind it
an anchor is a wall, so it also splits a line in two.  The cells before it hold it in place
as long as all of them stay filled.  If one is left empty, the anchor would move, and the
whole move is illegal:

    2 4 A 2 2   ->   2 4 A 4 .       the anchor stays
    2 2 A 2 2                        illegal: 4 A 4 . . would move the anchor
    . 2 A 2 2                        illegal, for the same reason

A free large tile never merges either, but it slides like any other tile.  It is a rank of its own, `free`, which no
other tile of such a board can reach (0: the board has none):

    F . F 2 2   ->   F F 4 . .       two free large tiles stay two
"""

Ranks = tuple[int, ...]
Line = tuple[int, ...]
Lines = tuple[Line, ...]
Cells = tuple[int, ...]
SpawnTable = tuple[tuple[int, float], ...]  # (rank, probability), probabilities sum to 1


def slide_line(ranks: Ranks, free: int = 0) -> tuple[Ranks, int]:
    """Push the tiles of one line towards its first cell; return the line and the reward.  `free` never merges.

    2 2 2 .   ->   4 2 . .     the pair nearest to the wall merges first
    4 2 2 .   ->   4 4 . .     a tile made by this slide does not merge again
    """
    slid: list[int] = []
    reward = 0
    may_merge = False
    for rank in ranks:
        if rank == 0:
            continue
        if may_merge and slid[-1] == rank:
            slid[-1] += 1
            reward += 2 ** slid[-1]
            may_merge = False
        else:
            slid.append(rank)
            may_merge = rank != free
    return tuple(slid) + (0,) * (len(ranks) - len(slid)), reward


def slide(ranks: Ranks, lines: Lines, holding: Cells = (), free: int = 0) -> tuple[Ranks, int]:
    """Slide every line of one move; return the board and the reward.

    `holding` are the cells that hold anchors in place: those between the wall and an anchor.
    The move is legal if the board has changed.
    """
    board = list(ranks)
    total = 0
    for line in lines:
        slid, reward = slide_line(tuple(ranks[cell] for cell in line), free)
        total += reward
        for cell, rank in zip(line, slid, strict=True):
            board[cell] = rank
    if any(board[cell] == 0 for cell in holding):
        return ranks, 0
    return tuple(board), total


def legal_moves(ranks: Ranks, lines: tuple[Lines, ...], holding: tuple[Cells, ...], free: int = 0) -> tuple[int, ...]:
    """Return the moves that change the board, in order; if there are none, the game is over.

    `lines` and `holding` have an entry per move.
    """
    return tuple(move for move, each in enumerate(lines) if slide(ranks, each, holding[move], free)[0] != ranks)


def is_null_move(ranks: Ranks, lines: Lines) -> bool:
    """Return True if a move changes nothing, but the game of Datta et al. 2022 allows it.  Not a rule of 2048.

    It does so if two adjacent cells of a line are empty.  Then a tile spawns on the same board:

    2 . . .   left is a null move     2 4 . 8   it is not
    """
    has_gap = any(ranks[line[i]] == ranks[line[i + 1]] == 0 for line in lines for i in range(len(line) - 1))
    return has_gap and slide(ranks, lines)[0] == ranks


def spawns(ranks: Ranks, table: SpawnTable) -> list[tuple[int, int, float]]:
    """Return every possible spawn on this afterstate: (cell, rank, probability)."""
    empty = [cell for cell, rank in enumerate(ranks) if rank == 0]
    return [(cell, rank, p / len(empty)) for cell in empty for rank, p in table]


def put(ranks: Ranks, cell: int, rank: int) -> Ranks:
    """Return the board with a new tile."""
    return (*ranks[:cell], rank, *ranks[cell + 1 :])


def worst_spawn(
    ranks: Ranks, table: SpawnTable, lines: tuple[Lines, ...], holding: tuple[Cells, ...], free: int = 0
) -> tuple[int, int]:
    """Return the spawn (cell, rank) of an adversary that looks one move ahead.

    It leaves the fewest legal moves; among those the smallest best reward; among
    those the first cell, and there the first tile of the table.
    """

    def hope(spawn: tuple[int, int]) -> tuple[int, int]:
        board = put(ranks, *spawn)
        slides = [slide(board, *each, free) for each in zip(lines, holding, strict=True)]
        rewards = [reward for after, reward in slides if after != board]
        return len(rewards), max(rewards, default=0)

    return min(((cell, rank) for cell, rank, _ in spawns(ranks, table)), key=hope)


def potential(ranks: Ranks) -> int:
    """Return the score of building these tiles by merging 2s.

    Merging two tiles v raises it by exactly the reward 2v.  So the reward of a slide
    is the difference of potentials, and the score of a game is the potential of its
    board minus that of every spawned tile.  A free large tile counts like a tile of its
    rank, which changes no difference.
    """
    return sum((rank - 1) * 2**rank for rank in ranks if rank)
