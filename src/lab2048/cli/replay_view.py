"""Show a recorded game turn by turn, for `lab2048 games replay`."""

import sys
import time
from collections.abc import Iterator
from typing import Any

from lab2048.records.episode import Episode
from lab2048.rules import Game, Turn
from lab2048.rules.move import move_name
from lab2048.views.text import render, wants_codes


def tell(episode: Episode, turns: Iterator[Turn]) -> None:
    """Print one line per turn: number, move, score, board."""
    print(f"0 start 0 {Game(episode.rules, episode.seed).board.to_text(spaced=True)}")
    for turn in turns:
        print(f"{turn.number} {move_name(turn.move)} {turn.score} {turn.board.to_text(spaced=True)}")


def animate(episode: Episode, turns: Iterator[Turn], seconds: float) -> None:
    """Draw each turn over the previous one."""
    colour = wants_codes(sys.stdout)
    picture = f"{render(Game(episode.rules, episode.seed).board, colour=colour)}\n"
    print(picture, flush=True)
    for turn in turns:
        time.sleep(seconds)
        up = f"\x1b[{picture.count(chr(10)) + 1}F\x1b[J"
        picture = f"{render(turn.board, colour=colour)}\nmove {turn.number} {move_name(turn.move)}, score {turn.score}"
        print(f"{up}{picture}", flush=True)


def replay_data(id_: int, episode: Episode, turns: Iterator[Turn]) -> dict[str, Any]:
    """Return the game as data, one row per turn; replaying it checks the record."""
    rows = [
        {"turn": turn.number, "move": move_name(turn.move), "score": turn.score, "board": turn.board.to_text()}
        for turn in turns
    ]
    return {
        "id": id_,
        "rules": episode.rules.to_json(),
        "seed": episode.seed,
        "start": Game(episode.rules, episode.seed).board.to_text(),
        "turns": rows,
        "moves": len(episode.moves),
        "score": episode.score,
        "max_tile": episode.max_tile,
    }
