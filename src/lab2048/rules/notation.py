"""Boards as text: one reader and one writer, inverse to each other.

    4x4   3x5   hex2   tri3           a plain empty board: rows x columns, a radius, or a side
    ####|#xx#|####                    a map: # or . empty, x brick, A anchor, F free large tile, 2 4 8 tiles
    AAAA|AAAA|###G|####               in rules, G is an empty cell where the goal has to be made
    2 1024 # x / # # # # / ...        with spaces or commas, for tiles of several digits
    hex1:##|#2#|x#                    a map of hexagons, column by column
    tri2:#|#2x                        a map of triangles, row by row from the top
    edc1ba9187611110                  the ranks of the classic board, as other programs write them; 0x may precede them
    14 13 12 1 11 10 9 1 8 7 ...      the same as sixteen numbers, which may also be tiles
    [[2, 4], [0, 8]]                  rows of tiles as JSON; sixteen numbers in a flat list are read as above

Rows may be separated by | or / or a new line, and cells of a spreadsheet by tabs.
"""

import json
import re
from collections.abc import Iterable
from typing import Any

from lab2048.errors import BoardError, closest, unknown
from lab2048.rules.kind import CELL, KINDS, MAX_SIDE, SQUARES, Kind, Lengths, make_shape
from lab2048.rules.reference import Cells, Ranks
from lab2048.rules.shape import ANCHOR, BRICK, FREE, Shape

MAX_RANK = 31  # the largest tile that rules may spawn or set as goal: 2147483648
# Of a whole board.  A slide keeps the sum, so what is read can be played and read again; and
# merging 64 tiles into one scores at most 6 times the sum, which still fits a signed word.
MAX_TILE_SUM = 2**60
_GOAL = {"g", "G"}
_EMPTY = {"#", ".", "0"} | _GOAL
_MARKS = {"x": BRICK, "X": BRICK, "a": ANCHOR, "A": ANCHOR}
_FREE = {"f", "F"}
LETTERS = {BRICK: "x", ANCHOR: "A"}
FREE_LETTER = "F"
_MAX_TEXT = 2000
_CLASSIC = 4  # rows and columns of the classic board
_RANKS = re.compile(r"(?:0x)?([0-9a-g]{16})", re.IGNORECASE)  # as other programs write the classic board: g is 65536
_SIZE = re.compile(r"(\d{1,9})[xX](\d{1,9})", re.ASCII)
_NAMED = {kind.prefix: kind for kind in KINDS if kind.prefix}  # kinds whose boards are a prefix and one number
_NAME = re.compile(rf"({'|'.join(_NAMED)})(\d{{1,9}})(:?)", re.IGNORECASE | re.ASCII)
_ZEROS = re.compile(rf"(?:(?:{'|'.join(_NAMED)})\d+:)?[0xAF\s,|/\[\]]*0[0xAF\s,|/\[\]]*")
# What people type for a size: 4x, 4*4, 4 by 4, hex-2, hexagon3.
_ALMOST_SIZE = re.compile(r"(\d)\s*[^\d\s#|/]{0,3}\s*(\d?)[xX]?", re.ASCII)
_WORDS = {"classic": "4x4", "standard": "4x4", "normal": "4x4", "original": "4x4", "default": "4x4", "square": "4x4"}
_EXAMPLES = ", ".join(kind.example for kind in KINDS[:-1]) + f" or {KINDS[-1].example}"
_EXPECTED = f"expected a size such as {_EXAMPLES}, or a map such as ####|#xx#|####"


def rank_of(tile: str, where: str = "", largest: int = 2**MAX_RANK) -> int:
    """Return the rank of a tile; raise BoardError for any other number.

    `where` is the start of the error message, such as "row 1: ".

    >>> rank_of("2048")
    11
    """
    if not (tile.isascii() and tile.isdecimal() and len(tile) <= 19):
        raise BoardError(
            where + unknown("tile", tile, otherwise="expected #, x, A, F or a power of two such as 2, 4, 1024")
        )
    number = int(tile)
    if number < 2 or number & (number - 1) or number > largest:
        raise BoardError(f"{where}{tile} is not a tile: expected a power of two from 2 to {largest}")
    return number.bit_length() - 1


def read_board(text: str) -> tuple[Shape, Ranks]:
    """Read a board: its shape and its tiles."""
    shape, ranks, goal_cells = read_map(text)
    if goal_cells:
        raise BoardError("a board has no goal cells, only the rules of a game have: expected # instead of G")
    return shape, ranks


def read_map(text: str) -> tuple[Shape, Ranks, Cells]:
    """Read a board and its goal cells.

    >>> read_map("A A # G / A A # #")[1:]
    ((0, 0, 0, 0), (1,))
    """
    text = _without_tabs(text).strip()
    if not text:
        raise BoardError(f"the board is empty: expected rows such as ####|####, or a size such as {_EXAMPLES}")
    if len(text) > _MAX_TEXT:
        raise BoardError(f"the board has {len(text)} characters: expected at most {_MAX_TEXT}", code="board.too_large")
    if size := _SIZE.fullmatch(text):
        return *_empty(SQUARES.plain(int(size[1]), int(size[2]))), ()
    if digits := _RANKS.fullmatch(text):
        return SQUARES.plain(4, 4), tuple(int(digit, 17) for digit in digits[1]), ()
    if text.startswith("["):
        return *_read_json(text), ()
    if (name := _NAME.match(text)) and (name[3] or name.end() == len(text)):
        kind, size_number = _NAMED[name[1].lower()], int(name[2])
        if not name[3]:
            return *_empty(kind.plain(size_number)), ()
        return _read_map(text[name.end() :], kind, kind.checked_lengths(size_number))
    try:
        return _read_map(text, SQUARES, None)
    except BoardError:
        if (len(text) == 1 and text.isdecimal()) or meant_by(text) or not re.search(r"[#|/\n]|^[0-9.xXA\s]+$", text):
            raise BoardError(
                f"board {_short(text)} is not understood: {meant_by(text) or _EXPECTED}", code="board.invalid"
            ) from None
        raise


def is_of_zeros(text: str) -> bool:
    """Return True if a text writes a position without tiles: zeros in place of tiles, where a map has # or a dot.

    >>> is_of_zeros("0 0 / 0 0"), is_of_zeros("[[0, 0], [0, 0]]"), is_of_zeros("0 2 / 0 0"), is_of_zeros("# # / # #")
    (True, True, False, False)
    """
    return _ZEROS.fullmatch(text.strip()) is not None


def _empty(shape: Shape) -> tuple[Shape, Ranks]:
    return shape, (0,) * shape.n_cells


def meant_by(text: str) -> str:
    """Suggest the size that a misspelt text may mean, for an error message; empty if there is none.

    >>> meant_by("4*4"), meant_by("3x"), meant_by("hexx2"), meant_by("clasic"), meant_by("oops")
    ('did you mean 4x4?', 'did you mean 3x3?', 'did you mean hex2?', 'did you mean 4x4?', '')
    """
    meant = ""
    if size := _ALMOST_SIZE.fullmatch(text):
        meant = f"{size[1]}x{size[2] or size[1]}"
        is_one = 1 <= int(size[1]) <= MAX_SIDE and 1 <= int(size[2] or size[1]) <= MAX_SIDE and meant != "1x1"
        meant = meant if is_one else ""
    elif named := _meant_kind(text):
        meant = named
    else:
        meant = _WORDS.get(closest(text.lower(), _WORDS), "")
    return f"did you mean {meant}?" if meant else ""


def _meant_kind(text: str) -> str:
    for kind in _NAMED.values():
        if found := re.fullmatch(rf"{kind.misspelt}[\s:_-]*(\d?)", text, re.IGNORECASE | re.ASCII):
            limits, number = kind.parameters[0], int(found[1] or kind.example.removeprefix(kind.prefix))
            return kind.name(number) if limits.smallest <= number <= limits.largest else ""
    return ""


def _short(text: str) -> str:
    return repr(text if len(text) <= 40 else f"{text[:40]}...")


def _without_tabs(text: str) -> str:
    r"""Separate the cells of a spreadsheet by commas, which may have nothing between them.

    >>> _without_tabs("2\t\n\t4")
    '2,\n,4'
    """
    lines = text.strip("\r\n").splitlines()
    is_sheet = len(lines) > 1 and {line.count("\t") for line in lines} == {lines[0].count("\t")} != {0}
    return "\n".join(line.replace("\t", ",") for line in lines) if is_sheet else text


def _read_json(text: str) -> tuple[Shape, Ranks]:
    try:
        rows = json.loads(text)
    except (ValueError, RecursionError):
        raise BoardError(
            f"board {_short(text)} is not JSON: expected rows such as [[2, 4], [0, 8]]", code="board.invalid"
        ) from None
    if any(isinstance(row, list) for row in rows):
        return read_tiles(rows)
    if len(rows) != _CLASSIC**2 or _are_ranks([_entry(each) for each in rows]):
        return read_ranks(rows, "4x4")
    return read_tiles(rows[i : i + _CLASSIC] for i in range(0, len(rows), _CLASSIC))


def read_tiles(rows: Iterable[Iterable[Any]]) -> tuple[Shape, Ranks]:
    """Read rows of tiles: numbers, 0 or None for an empty cell, "x" a brick, "A" an anchor, "F" a free large tile.

    >>> read_tiles([[2, None], ["x", 4.0]])[1]
    (1, 0, 2)
    """
    try:
        entries = [[_entry(each) for each in row] for row in rows]
    except TypeError:
        raise BoardError(
            "the rows of the board are not lists: expected [[2, 4], [0, 8]]", code="board.invalid"
        ) from None
    if any(tile.isdecimal() and int(tile) % 2 for row in entries for tile in row):
        raise BoardError(
            "rows of a board are tiles such as 2, 4, 8: expected Board.from_ranks(rows) for exponents",
            code="board.invalid",
        )
    shape, ranks, goal_cells = _read_entries(entries, SQUARES, None)
    if goal_cells:
        raise BoardError("a board has no goal cells: expected 0 instead of G", code="board.invalid")
    return shape, ranks


def _entry(tile: Any) -> str:
    if tile is None:
        return "#"
    if isinstance(tile, float) and tile.is_integer():
        tile = int(tile)
    return str(tile)


def read_ranks(ranks: Iterable[Any], shape: str = "") -> tuple[Shape, Ranks]:
    """Read ranks: rows of a rectangle, or a flat sequence for the cells of a shape given as text."""
    rows = [list(row) if hasattr(row, "__len__") and not isinstance(row, str) else row for row in ranks]
    is_nested = any(isinstance(row, list) for row in rows)
    flat = [entry for row in rows for entry in (row if isinstance(row, list) else [row])]
    try:
        numbers = [int(entry) for entry in flat]
        is_whole = all(number == entry for number, entry in zip(numbers, flat, strict=True))
    except (TypeError, ValueError, OverflowError):  # the last: int(inf)
        is_whole = False
    highest = MAX_TILE_SUM.bit_length() - 1
    if not is_whole or not all(0 <= number <= highest for number in numbers):
        raise BoardError(
            f"ranks {_short(str(flat))}: expected exponents from 0 to {highest} (11 is the tile 2048)",
            code="board.invalid",
        )
    if shape:
        of, _ = read_board(shape)
    elif is_nested and len({len(row) if isinstance(row, list) else -1 for row in rows}) == 1:
        of, _ = _empty(SQUARES.plain(len(rows), len(rows[0])))
    else:
        raise BoardError(
            f"ranks of {len(flat)} cells: expected rows of equal length, or the text of a shape such as hex2",
            code="board.invalid",
        )
    if len(numbers) != of.n_cells:
        raise BoardError(
            f"there are {len(numbers)} ranks: expected {of.n_cells}, one per cell of {of.size_name}",
            code="board.invalid",
        )
    if of.n_free and numbers.count(FREE) != of.n_free:
        raise BoardError(
            f"rank {FREE} is a free large tile on {shape}: expected {of.n_free} of them", code="board.invalid"
        )
    return of, _check_sum(numbers)


def _read_map(text: str, kind: Kind, expected: Lengths | None) -> tuple[Shape, Ranks, Cells]:
    """Read the rows of a map; without `expected` lengths, any rectangle is accepted."""
    rows = [row.strip() for row in re.split(r"[|/\n]", text.strip().rstrip("|/"))]
    if "," in text:
        entries = [[entry.strip() or "#" for entry in row.split(",")] for row in rows]
    else:
        entries = [row.split() if re.search(r"\s", text_without_breaks(text)) else list(row) for row in rows]
    if expected is None and len(rows) == 1 and len(entries[0]) == _CLASSIC**2:
        return _read_sixteen(entries[0])
    return _read_entries(entries, kind, expected)


def _read_sixteen(entries: list[str]) -> tuple[Shape, Ranks, Cells]:
    """Read the classic board in one line: tiles, or ranks if one of the numbers is not a tile."""
    if _are_ranks(entries):
        return *read_ranks(map(int, entries), "4x4"), ()
    rows = [entries[i : i + _CLASSIC] for i in range(0, len(entries), _CLASSIC)]
    return _read_entries(rows, SQUARES, None)


def _are_ranks(entries: list[str]) -> bool:
    """Return True for numbers of which one is not a tile."""
    is_number = all(entry.isascii() and entry.isdecimal() and len(entry) <= 19 for entry in entries)
    return is_number and any(int(entry) == 1 or int(entry) & (int(entry) - 1) for entry in entries)


def _read_entries(entries: list[list[str]], kind: Kind, expected: Lengths | None) -> tuple[Shape, Ranks, Cells]:
    if not any(entries):
        raise BoardError("the board is empty: expected rows such as ####|####")
    lengths = tuple(map(len, entries))
    if expected is None:
        for i, length in enumerate(lengths, 1):
            if length != lengths[0]:
                raise BoardError(f"row {i} of the board has {length} cells: expected {lengths[0]}, as in row 1")
        if len(entries) > MAX_SIDE or lengths[0] > MAX_SIDE:
            raise BoardError(
                f"the board is {len(entries)}x{lengths[0]}: expected at most {MAX_SIDE}x{MAX_SIDE}",
                code="board.too_large",
            )
    elif lengths != expected:
        found, wanted = (", ".join(map(str, numbers)) for numbers in (lengths, expected))
        raise BoardError(f"the {kind.row_noun}s have {found} cells: expected {wanted}")
    ranks: list[int] = []
    marks, goal_cells, n_free = [], [], 0
    for i, row in enumerate(entries, 1):
        marks.append(tuple(_MARKS.get(entry, CELL) for entry in row))
        for j, entry in enumerate(row, 1):
            if entry in _GOAL:
                goal_cells.append(len(ranks))
            if entry in _EMPTY:
                ranks.append(0)
            elif entry in _FREE:
                n_free += 1
                ranks.append(FREE)
            elif entry not in _MARKS:
                ranks.append(rank_of(entry, f"{kind.row_noun} {i}, entry {j}: ", MAX_TILE_SUM))
    if n_free and ranks.count(FREE) > n_free:
        raise BoardError(f"{2**FREE} stands beside free large tiles: expected tiles of at most {2 ** (FREE - 1)}")
    return make_shape(kind, tuple(marks), n_free), _check_sum(ranks), tuple(goal_cells)


def _check_sum(ranks: list[int]) -> Ranks:
    if (total := sum(2**rank for rank in ranks if rank)) > MAX_TILE_SUM:
        raise BoardError(
            f"the tiles of the board sum to {total}: expected at most {MAX_TILE_SUM}", code="board.too_large"
        )
    return tuple(ranks)


def text_without_breaks(text: str) -> str:
    """Remove spaces around row separators; the remaining spaces separate cells."""
    return re.sub(r"\s*[|/\n]\s*", "|", text.strip())


def write_board(shape: Shape, ranks: Ranks, goal_cells: Cells = (), *, spaced: bool = False) -> str:
    """Write the shortest text of a board and its goal cells; with `spaced`, always separate cells by spaces.

    Goal cells must be empty.

    >>> write_board(*read_board("2 2 . . / . . 8 x")), write_board(*read_board("22|##"), spaced=True)
    ('22##|##8x', '2 2 / # #')
    """
    if not any(ranks) and shape.is_plain and not goal_cells and not spaced:
        return shape.size_name
    faces = {cell: face_of(shape, rank) or "#" for cell, rank in enumerate(ranks)} | dict.fromkeys(goal_cells, "G")
    rows = [[LETTERS[cell] if cell < 0 else faces[cell] for cell in row] for row in shape.rows]
    compact = "|".join("".join(row) for row in rows)
    # The one row with the tiles 2 and 4 beside a brick would read as a size: 2x4.
    if spaced or any(rank > 3 and rank != shape.free_rank for rank in ranks) or _SIZE.fullmatch(compact):
        return shape.map_prefix + " / ".join(" ".join(row) for row in rows)
    return shape.map_prefix + compact


def face_of(shape: Shape, rank: int) -> str:
    """Return what stands on a tile: its number, or F on a free large tile; empty for an empty cell.

    >>> shape, _ = read_board("F#|24")
    >>> face_of(shape, 15), face_of(shape, 4), face_of(shape, 0)
    ('F', '16', '')
    """
    return FREE_LETTER if rank and rank == shape.free_rank else str(2**rank) if rank else ""
