"""Lists of games, for a terminal and for a spreadsheet."""

import csv
import io
import json
from collections.abc import Iterable

from rich.table import Table
from rich.text import Text

from lab2048.records.store import Entry


def games_table(entries: Iterable[Entry]) -> Table:
    """A row a game, as a player asks for it: when, where, who, how well."""
    table = Table(box=None, pad_edge=False, header_style="bold")
    table.add_column("id", justify="right")
    for name in ("date", "board", "player"):
        table.add_column(name, overflow="fold")
    for name in ("score", "highest tile", "moves", "won"):
        table.add_column(name, justify="right")
    for entry in entries:
        date = entry.created[:16].replace("T", " ")
        players = ", ".join(dict.fromkeys([entry.player, *(player for _, player in entry.movers)]))
        words = [Text(printable(word)) for word in (str(entry.id), date, entry.board, players)]
        won = "no" if entry.moves_to_goal is None else "yes"
        table.add_row(*words, str(entry.score), str(entry.max_tile), str(entry.n_moves), won)
    return table


def games_csv(entries: Iterable[Entry]) -> str:
    """A line a game with everything but the moves, and a line of names before them."""
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(Entry._fields)
    writer.writerows([*entry[:-1], json.dumps(entry.movers)] for entry in entries)
    return text.getvalue()


def printable(text: str) -> str:
    r"""A text that cannot take over the terminal, wherever it comes from.

    >>> printable("\x1b[2Jrandom")
    '?[2Jrandom'
    """
    return "".join(letter if letter.isprintable() else "?" for letter in text)
