"""Stored games as tables for terminals and as CSV.

Imported games may contain anything: every text goes through `printable`.
"""

import csv
import io
import json
from collections.abc import Iterable

from rich.table import Table
from rich.text import Text

from lab2048.records.entry import Entry, StoredGame
from lab2048.views.number import count

_MOVES_A_LINE = 60


def games_table(entries: Iterable[Entry]) -> Table:
    """Return a table with one row per game."""
    table = Table(box=None, pad_edge=False, header_style="bold")
    table.add_column("id", justify="right")
    for name in ("date", "board", "player"):
        table.add_column(name, overflow="fold")
    for name in ("score", "highest tile", "moves", "won"):
        table.add_column(name, justify="right")
    for entry in entries:
        date = entry.created[:16].replace("T", " ")
        players = ", ".join(dict.fromkeys([entry.player, *(player for _, player in entry.movers)]))
        won = "no" if entry.moves_to_goal is None else "yes"
        row = (entry.id, date, entry.board, players, entry.score, entry.max_tile, entry.n_moves, won)
        table.add_row(*(Text(printable(str(word))) for word in row))
    return table


def games_csv(entries: Iterable[Entry]) -> str:
    """Return CSV with one line per game, without the moves."""
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow((*Entry._fields, "won"))
    for entry in entries:
        won = "false" if entry.moves_to_goal is None else "true"
        row = (*entry[:-1], json.dumps(entry.movers), won)
        writer.writerow("" if field is None else printable(str(field)) for field in row)
    return text.getvalue()


def game_facts(stored: StoredGame) -> str:
    """Return the facts of a game, one per line, and its moves."""
    episode, run, rules = stored.episode, stored.run, stored.episode.rules
    won = (
        f"{rules.goal} after {count(episode.moves_to_goal or 0, 'move')}"
        if episode.is_won
        else f"no, the goal is {rules.goal}"
    )
    facts = {
        "game": f"{stored.id} (number {stored.number} of run {run.id}, {run.kind})",
        "saved": stored.created,
        "player": ", then ".join([episode.player, *(f"{name} from move {number}" for number, name in episode.movers)]),
        "board": rules.board.to_text(),
        "spawn": f"{rules.to_json()['spawn']} ({rules.spawner.value}), {rules.n_start} at the start",
        "seed": episode.seed,
        "score": episode.score,
        "highest tile": episode.max_tile,
        "won": won + ("; the game stops there" if rules.stop_at_goal else ""),
        "seconds": f"{episode.seconds:.3g}",
        "checksum": episode.checksum,
        "made by": stored.provenance.get("program", "unknown"),
        "command": stored.provenance.get("command", "unknown"),
        "moves": len(episode.moves),
    }
    for i in range(0, len(episode.moves), _MOVES_A_LINE):
        line = episode.moves[i : i + _MOVES_A_LINE]
        facts[f"moves {i + 1}-{i + len(line)}"] = line
    width = max(map(len, facts))
    return "".join(f"{name:>{width}}  {printable(str(fact))}\n" for name, fact in facts.items())


def printable(text: str) -> str:
    r"""Replace control characters, so that a text cannot control the terminal.

    >>> printable("\x1b[2Jrandom")
    '?[2Jrandom'
    """
    return "".join(letter if letter.isprintable() else "?" for letter in text)
