"""The searcher: owns the tables and the context of the search kernels."""

import math
import time
from concurrent.futures import Future, ThreadPoolExecutor, wait
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from lab2048.kernels.board import layout as at
from lab2048.kernels.board import packed
from lab2048.kernels.board.memory import address_of, clock_address
from lab2048.kernels.function_pointer import CHANCE, function_address
from lab2048.kernels.search import classic, confidence, downgrade, endgame, expectimax, forced, frontier, root, wide
from lab2048.kernels.search import context as of
from lab2048.kernels.search import network as search_network
from lab2048.kernels.search.leaf import NONE
from lab2048.models.ntuple.network import Network
from lab2048.players.evaluator import Evaluator, forward
from lab2048.rules import Board, Rules, Spawner
from lab2048.rules.plan import make_plan
from lab2048.rules.shape import FREE
from lab2048.stop_flag import StopFlag, current

if TYPE_CHECKING:
    from lab2048.solver.endgame.book import Book

UNITS = 4  # of the allowance per bit
LEAST = -1e30  # value of a legal move that the search did not see
LEAVES_BITS = 13  # entries of the cache of network values
TABLE_BITS = 15  # entries of a transposition table, 16 bytes each: one that fits the processor's cache is fastest
MAX_DEPTH = 12
LEAD = 100.0  # points
OVERHEAD = 35_000  # nanoseconds from the end of a search until the caller has the result
LARGE = 1_000_000  # nanoseconds: a shorter search is over before the other threads wake up, and runs on one
DEEP = 5  # depth from which the first search is assumed to be long
LIKELY = 0.25  # a spawn is likely if its probability is at least this share of the largest one


def allowance_of(cut: float) -> int:
    """Return the probability cutoff in the units of the search kernels; 0 means no limit."""
    return of.EVERYTHING if cut <= 0 else round(UNITS * -math.log2(cut))


@dataclass
class Searcher:
    """Searches boards of one set of rules with one evaluator or network.

    The arrays behind the addresses in the context live as long as the searcher.
    """

    rules: Rules
    evaluator: Evaluator | Network
    depth: int = 1
    deepen: int = of.ALWAYS_EVEN
    cut: float | None = 0.0  # None: 1/2 per own move of the depth
    n_threads: int = 1
    shared_from: int | None = None  # nanoseconds of a search from which threads share it; None: LARGE
    table_bits: int = TABLE_BITS
    top: int | None = None  # highest rank that is not downgraded
    is_state_evaluated: bool = False  # True: leaves are states after the last spawn, not afterstates
    has_extra_tile: bool = False  # True: a random tile appears after every move of the search, before the spawns
    fallback: "Searcher | None" = None  # searches instead where a network is guessing
    trust: float = 0.0  # share of trained weights below which it is guessing
    is_by_value: bool = False  # True: a network at depth 1 chooses without the reward
    context: NDArray[np.uint64] = field(init=False)
    book: "Book | None" = field(init=False, default=None)  # endgame tables
    _flag: StopFlag = field(init=False)  # kept, because the context has its address

    def __post_init__(self) -> None:
        """Fill the tables and the context."""
        self.plan = make_plan(self.rules)
        shape = self.rules.shape
        self.context = np.zeros(of.SIZE, np.uint64)
        self.far, self.near = np.zeros((2, 2 << self.table_bits), np.uint64)
        self.is_packed = bool(self.plan[at.IS_PACKED])
        self.is_fair = self.rules.spawner is Spawner.FAIR
        self._rooms: list[tuple[NDArray[np.uint64], ...]] = []
        self._fill_context()
        if isinstance(self.evaluator, Network):
            self._fill_network(self.evaluator)
        else:
            self._fill_evaluator(self.evaluator)
        self._nears = [np.zeros_like(self.near) for _ in range(self.n_threads - 1)]
        if self.n_threads > 1:
            self._futures: list[Future[None]] = []
            self._pool = ThreadPoolExecutor(self.n_threads - 1, "search")
            self._helpers = [self.context.copy() for _ in range(self.n_threads - 1)]
            self._spent: dict[int, int] = {}  # nanoseconds, by the last search of a depth
            if isinstance(self.evaluator, Network):
                self._rooms += [self._give_room(self.evaluator, words) for words in self._helpers]
            size = len(shape.moves) * shape.n_cells * len(self.rules.spawn_table)
            self._frontier = frontier.make_frontier(size)
        # Load the code and touch the memory before any time limit starts.
        self.root_values(self.rules.board, 2 if self.is_packed else 1)
        self.forget()
        self.context[of.N_STATES] = 0

    def load_clock(self) -> None:
        """Load the code of `deepen_until` before any time limit starts."""
        n_states = self.context[of.N_STATES]
        self.deepen_until(time.monotonic_ns(), self.rules.board)
        self.forget()
        self.context[of.N_STATES] = n_states

    def forget(self) -> None:
        """Clear the transposition tables."""
        for table in (self.far, self.near, *self._nears, *(room[0] for room in self._rooms)):
            table.fill(0)

    @property
    def address(self) -> int:
        """Return the address of the context, which kernels take."""
        return address_of(self.context)

    def games_address(self) -> int:
        """Return the same for whole games, which choose moves by an address in the context."""
        words = self.context
        is_quick = isinstance(self.evaluator, Network) and self.depth == 1 and self.deepen == of.ALWAYS_EVEN
        quick = search_network.choose_address(is_by_value=self.is_by_value) if is_quick else None
        words[of.CHOOSE] = quick or root.choose_address()
        if self.fallback is not None:
            self.fallback.games_address()
            words[of.CONFIDENT_CHOOSE], words[of.CHOOSE] = words[of.CHOOSE], confidence.choose_address()
        if self.book is not None and not isinstance(self.evaluator, Network):
            words[of.SEARCH_CHOOSE], words[of.CHOOSE] = words[of.CHOOSE], endgame.choose_address()
        return self.address

    def use_tables(self, book: "Book | None") -> None:
        """Use endgame tables: at the leaves of a network, and before the search of the fallback or an evaluator."""
        self.book = book if book is not None and book.tables else None
        self.context[of.BOOK] = self.book.address if self.book is not None else 0
        self.forget()
        if self.fallback is not None:
            self.fallback.use_tables(book)

    def begin(self, deadline: int = 0) -> None:
        """Prepare for a search by this thread: until `deadline` (time.monotonic_ns; 0 = none) or its stop flag."""
        words, self._flag = self.context, current()
        words[of.IS_STOPPED], words[of.DEADLINE], words[of.LOOK_AT] = 0, deadline, words[of.N_STATES]
        words[of.STOP] = self._flag.address
        if self.fallback is not None:
            self.fallback.begin(deadline)

    def _fill_context(self) -> None:
        words = self.context
        words[of.CLOCK] = clock_address()
        words[of.FAR], words[of.NEAR] = address_of(self.far), address_of(self.near)
        words[of.TABLE_SHIFT] = 64 - self.table_bits
        words[of.PLAN], words[of.PLAN_SIZE] = address_of(self.plan), len(self.plan)
        words[of.DEPTH], words[of.DEEPEN] = self.depth, self.deepen
        words[of.IS_STATE_EVALUATED], words[of.HAS_EXTRA_TILE] = self.is_state_evaluated, self.has_extra_tile
        words[of.TOP] = FREE if self.rules.shape.n_free else downgrade.TOP_RANK if self.top is None else self.top
        if self.cut is None:
            words[of.ALLOWANCE] = words[of.ALLOWANCE_EACH] = UNITS
        else:
            words[of.ALLOWANCE] = allowance_of(self.cut)
        margin = self.evaluator.margin
        words[of.MARGIN] = _bits(math.inf if self.cut == 0 or margin is None else margin)
        words[of.LEAD] = _bits(self._lead)
        spawns = self.spawns
        words[of.SPAWNS] = len(spawns)
        words[of.N_LIKELY] = len(spawns) if self.cut == 0 else sum(p >= LIKELY * spawns[0][1] for _, p in spawns)
        for i, (rank, p) in enumerate(spawns):
            words[of.SPAWNS + 1 + 3 * i : of.SPAWNS + 4 + 3 * i] = rank, _bits(p), round(UNITS * -math.log2(p))
        for n in range(1, self.rules.shape.n_cells + 1):
            words[of.COSTS + n] = round(UNITS * math.log2(n))

    @property
    def _lead(self) -> float:
        """Return the lead at which a move is chosen before the time is up; only network values are in points."""
        return LEAD if isinstance(self.evaluator, Network) else math.inf

    @property
    def spawns(self) -> list[tuple[int, float]]:
        """Return the spawn table, likeliest first."""
        return sorted(self.rules.spawn_table, key=lambda entry: -entry[1])

    def _fill_evaluator(self, evaluator: Evaluator) -> None:
        """Set up leaf evaluation by an evaluator."""
        words, lost = self.context, evaluator.lost
        self.weights = evaluator.weights(self.rules.shape)
        self.terms = evaluator.make_terms(self.rules.shape)
        words[of.TERMS], words[of.WEIGHTS] = address_of(self.terms), address_of(self.weights)
        words[of.LOST], words[of.IS_LOST_EVALUATED] = _bits(lost or 0.0), lost is None
        if evaluator.function is not None and not (self.is_packed and evaluator.has_tables(self.rules.shape)):
            self._fill_lengths(evaluator)
        elif self.is_packed:
            self._fill_values(evaluator)
        if self.is_packed:
            is_general = evaluator.has_board_terms or self.is_state_evaluated or self.has_extra_tile
            is_fast = bool(self.plan[at.IS_CLASSIC]) and not is_general and not self.rules.null_moves
            kernel = classic.chance_classic if is_fast else expectimax.chance_packed
            self._set_chance(function_address(kernel, CHANCE))

    def _set_chance(self, address: int) -> None:
        """Set the kernel of chance nodes; it evaluates only the leaves if the spawner leaves nothing to chance."""
        self.context[of.LEAF_CHANCE] = address
        self.context[of.CHANCE] = address if self.is_fair else forced.chance_address()

    def _fill_network(self, network: Network) -> None:
        """Set up leaf evaluation by a network, whose values are future scores: 0 for a lost board."""
        words = self.context
        words[of.IS_LOST_EVALUATED], words[of.NET] = 1, network.address
        words[of.N_LIKELY] = len(self.spawns)  # all of them: without spawned 4s, networks play much worse
        for i, (rank, _) in enumerate(self.spawns):
            words[of.TOLLS + i] = _bits((rank - 1) << rank)
        words[of.LEAVES_SHIFT] = 64 - LEAVES_BITS
        self._set_chance(search_network.chance_address())
        if self.fallback is not None:
            words[of.FALLBACK], words[of.TRUST] = self.fallback.address, _bits(self.trust)
        self._rooms = [self._give_room(network, words)]

    def _give_room(self, network: Network, words: NDArray[np.uint64]) -> tuple[NDArray[np.uint64], ...]:
        """Give a context its own buffers for network values; return them, to be kept as long as the context."""
        leaves = np.zeros(2 << LEAVES_BITS, np.uint64)
        n_new = of.BATCH_STATES * of.MOST_MOVES
        index, new = np.zeros(n_new * network.design.n_lookups, np.uint64), np.zeros(n_new, np.uint64)
        batch = np.zeros(of.BATCH_STATES * of.AFTERS_SIZE, np.uint64)
        afters = np.zeros((MAX_DEPTH + 2) * of.AFTERS_SIZE, np.uint64)
        own = leaves, index, new, batch, afters
        words[of.OWN] = [address_of(memory) for memory in own]
        return own

    def _fill_values(self, evaluator: Evaluator) -> None:
        """Make a table of values per kind of line, and tell each line where its table is."""
        shape = self.rules.shape
        n_axes = len(shape.moves) // 2
        tables: dict[tuple[float, ...], int] = {}
        parts: list[NDArray[np.float32]] = []
        words, size = self.context, 0
        words[of.N_AXES] = n_axes
        if not evaluator.has_tables(shape):
            words[of.HOW] = of.BY_BYTES
            return
        words[of.HOW] = of.BY_LINES_AND_BOARD if evaluator.has_board_terms else of.BY_LINES
        for axis in range(n_axes):
            here, position = of.LINES + axis * of.AXIS_SIZE, 0
            lines = sorted(shape.lines[axis], key=min)  # in the order of the plan
            words[here] = len(lines)
            for i, line in enumerate(lines):
                kind = tuple(float(self.weights[cell]) for cell in forward(line))
                if kind not in tables:
                    part = evaluator.line_table(kind, n_axes)
                    tables[kind] = size
                    parts.append(part)
                    size += len(part)
                words[here + 1 + 3 * i : here + 4 + 3 * i] = 4 * position, 16 ** len(line) - 1, tables[kind]
                position += len(line)
        self.values = np.concatenate(parts)
        words[of.VALUES] = address_of(self.values)

    def _fill_lengths(self, evaluator: Evaluator) -> None:
        """Make a table of values per length of lines."""
        words, n_axes, size = self.context, len(self.rules.shape.moves) // 2, 0
        parts = []
        for length in sorted({len(line) for lines in self.rules.shape.lines for line in lines}):
            parts.append(evaluator.line_table((0.0,) * length, n_axes))
            words[of.LENGTHS + length] = size
            size += len(parts[-1])
        self.values = np.concatenate(parts)
        words[of.HOW], words[of.VALUES] = of.BY_LENGTH, address_of(self.values)

    def root_values(self, board: Board, depth: int) -> dict[int, float]:
        """Return the value of every legal move, searched `depth` own moves deep; raise StoppedError if stopped."""
        self.begin()
        values = np.empty(len(self.rules.shape.moves), np.float32)
        self._search(self._boards(board), depth, values)
        self._flag.check()
        return self._by_move(board, values)

    def deepen_until(self, deadline: int, board: Board) -> tuple[dict[int, float], int]:
        """Search by iterative deepening; return the value of every legal move, and the depth reached.

        Ends at `deadline` (time.monotonic_ns), or when one move has led clearly at several depths in a row.  Raises
        StoppedError if the search was stopped.
        """
        self.begin(deadline - OVERHEAD)
        values, depth = np.empty(len(self.rules.shape.moves), np.float32), 1
        boards = self._boards(board)
        if self.is_packed and self.n_threads == 1:
            depth = int(root.deepen(self.address, self.plan, boards[1], MAX_DEPTH, values))
        else:
            self._search(boards, 1, values)
            deeper, lead, ahead, times = values.copy(), np.float32(self._lead), -1, 0
            while depth < MAX_DEPTH and (values > NONE).sum() > 1 and times < root.STEADY:
                begun = time.monotonic_ns()
                self._search(boards, depth + 1, deeper)
                if self.context[of.IS_STOPPED]:
                    break
                values, deeper, depth = deeper, values, depth + 1
                ahead, times = root.leader(values, lead, ahead, times)
                if not root.is_worth_more(self.address, begun):
                    break
        self._flag.check()
        return self._by_move(board, values), depth

    def _boards(self, board: Board) -> tuple[NDArray[np.uint8], np.uint64]:
        ranks = np.array(board.ranks, np.uint8)
        return ranks, self._word(ranks)

    def _word(self, ranks: NDArray[np.uint8]) -> np.uint64:
        """Return the packed board to search, downgraded if its tiles are too high; 0 if boards do not fit a word."""
        if not self.is_packed:
            return np.uint64(0)
        if self.rules.shape.n_free:  # rank 15 never merges, and no other tile is as high
            return np.uint64(sum(rank << 4 * cell for cell, rank in enumerate(ranks.tolist())))
        return np.uint64(downgrade.packed_board(ranks, int(self.context[of.TOP])))

    def _search(self, boards: tuple[NDArray[np.uint8], np.uint64], depth: int, values: NDArray[np.float32]) -> None:
        ranks, word = boards
        if not self.is_packed:
            wide.root_values_wide(self.address, self.plan, ranks, depth, values)
        elif self.n_threads == 1 or not self.is_fair:
            root.root_values(self.address, self.plan, word, depth, values)
        else:
            begun = time.monotonic_ns()
            if self._spent.get(depth, LARGE * (depth >= DEEP)) >= (
                LARGE if self.shared_from is None else self.shared_from
            ):
                self._search_together(word, depth, values)
            else:
                root.root_values(self.address, self.plan, word, depth, values)
            self._spent[depth] = time.monotonic_ns() - begun

    def _search_together(self, word: np.uint64, depth: int, values: NDArray[np.float32]) -> None:
        """Search on several threads, which begin at different states, until the values of all are known."""
        wait(self._futures)  # for the previous search; not at its end, because waking up takes long
        n = int(frontier.fill_frontier(self.address, self.plan, word, depth, self._frontier))
        if n == 0:
            root.root_values(self.address, self.plan, word, depth, values)
            return
        self._futures.clear()
        for k, words in enumerate(self._helpers, start=1):
            own = words[of.OWN]
            words[:] = self.context
            words[of.OWN] = own
            words[of.N_STATES] = words[of.LOOK_AT] = 0
            words[of.NEAR] = address_of(self._nears[k - 1])
            first, step = (n * k // self.n_threads, 1) if k % 2 == 0 else (n * (k + 1) // self.n_threads - 1, -1)
            self._futures.append(self._pool.submit(self._help, words, n, depth, first, step))
        frontier.search_frontier(self.address, self.plan, self._frontier, n, depth, 0, 1)
        for words in self._helpers:
            words[of.IS_STOPPED] = 1  # another thread has found the values meanwhile
        frontier.join_frontier(self.address, self._frontier, n, values)
        self.context[of.N_STATES] += sum(words[of.N_STATES] for words in self._helpers)

    def _help(self, words: NDArray[np.uint64], n: int, depth: int, first: int, step: int) -> None:
        """Run one helper thread; a method, so that the arrays behind the addresses outlive it."""
        frontier.search_frontier(address_of(words), self.plan, self._frontier, n, depth, first, step)

    def _by_move(self, board: Board, values: NDArray[np.float32]) -> dict[int, float]:
        if isinstance(self.evaluator, Network):
            values = np.where(values > NONE, values - np.float32(packed.potential(self._boards(board)[1])), NONE)
        if not self.is_packed or max(board.ranks) <= downgrade.TOP_RANK:
            return {move: float(value) for move, value in enumerate(values) if value > NONE}
        # A downgraded board may have other legal moves than the true one.
        return {int(move): max(float(values[move]), LEAST) for move in board.legal_moves()}

    def is_guessing(self, board: Board) -> bool:
        """Return True if a network evaluates leaves, hardly knows this board, and has a fallback."""
        # As in the kernel of the same name, which would have to be compiled.
        word = int(self._boards(board)[1]) if self.fallback is not None else 0
        is_late = max(word >> 4 * cell & 15 for cell in range(16)) >= confidence.LATE_RANK
        share = np.float32(confidence.confidence(self.address, np.uint64(word))) if is_late else np.inf
        return bool(share < np.float32(self.trust))

    def confidence(self, board: Board) -> float | None:
        """Return the share of trained weights behind the values of a board; None without a network."""
        if not isinstance(self.evaluator, Network):
            return None
        return float(confidence.confidence(self.address, self._boards(board)[1]))

    @property
    def ends_at_state(self) -> bool:
        """Return True if the leaves of the last search were states after a spawn."""
        return bool(self.context[of.ENDS_AT_STATE]) if self.is_packed else self.is_state_evaluated

    def depth_of(self, board: Board) -> int:
        """Return the search depth for a board."""
        if not self.is_packed:
            return self.depth + (self.deepen == of.BY_EMPTY and board.n_empty < root.FEW_EMPTY)
        return int(root.depth_of(self.address, self.plan, self._word(np.array(board.ranks, np.uint8))))

    @property
    def n_states(self) -> int:
        """The number of boards evaluated so far, those of the fallback included."""
        return int(self.context[of.N_STATES]) + (self.fallback.n_states if self.fallback else 0)


def _bits(number: float) -> int:
    return int(np.array(number, np.float32).view(np.uint32))
