"""Show a recorded game turn by turn, for `lab2048 games replay`."""

import contextlib
import shutil
import sys
import textwrap
import time
from collections.abc import Callable, Iterator
from typing import Any

from lab2048.arena.annotation import Annotator, has_notes
from lab2048.cli.progress import make_ready
from lab2048.errors import LabError
from lab2048.players.player import Note
from lab2048.records.episode import Episode, names_of
from lab2048.rules import Turn
from lab2048.rules.move import move_name
from lab2048.views.text import render, wants_codes

Explain = Callable[[Turn], Note | None]  # why a move was made


def explainer(episode: Episode) -> Explain:
    """Return a function that explains the moves of a game, after compiling what its players need."""
    annotator, first = Annotator(), episode.begin().board
    names = names_of(episode.player, episode.movers, len(episode.moves))
    boards = [first, *(turn.board for turn in episode.replay())]
    for spec in filter(has_notes, dict.fromkeys(names)):
        with contextlib.suppress(LabError):  # the notes say what is wrong
            make_ready(*annotator.player(spec, episode.rules, episode.seed).groups)
    return lambda turn: annotator.note(
        names[turn.number - 1], episode.rules, episode.seed, boards[turn.number - 1], int(turn.move)
    )


def tell(episode: Episode, turns: Iterator[Turn], explain: Explain) -> None:
    """Print one line per turn, number, move, score and board, and below it why it was made."""
    print(f"0 start 0 {episode.begin().board.to_text(spaced=True)}")
    for turn in turns:
        print(f"{turn.number} {move_name(turn.move)} {turn.score} {turn.board.to_text(spaced=True)}")
        if note := explain(turn):
            print(f"  {note.text}")


def animate(episode: Episode, turns: Iterator[Turn], seconds: float, explain: Explain) -> None:
    """Draw each turn over the previous one."""
    colour = wants_codes(sys.stdout)
    picture = f"{render(episode.begin().board, colour=colour)}\n"
    print(picture, flush=True)
    for turn in turns:
        time.sleep(seconds)
        up = f"\x1b[{picture.count(chr(10)) + 1}F\x1b[J"
        why = note.text if (note := explain(turn)) else ""
        told = f"move {turn.number} {move_name(turn.move)}, score {turn.score}"
        lines = [told, *textwrap.wrap(why, shutil.get_terminal_size().columns)]
        picture = "\n".join([render(turn.board, colour=colour), *lines])
        print(f"{up}{picture}", flush=True)


def replay_data(id_: int, episode: Episode, turns: Iterator[Turn], explain: Explain) -> dict[str, Any]:
    """Return the game as data, one row per turn; replaying it checks the record."""
    rows = []
    for turn in turns:
        row = {"turn": turn.number, "move": move_name(turn.move), "score": turn.score, "board": turn.board.to_text()}
        rows.append(row | ({"note": note.to_json()} if (note := explain(turn)) else {}))
    return {
        "id": id_,
        "rules": episode.rules.to_json(),
        "seed": episode.seed,
        "start": episode.begin().board.to_text(),
        "turns": rows,
        "moves": len(episode.moves),
        "score": episode.score,
        "max_tile": episode.max_tile,
    }
