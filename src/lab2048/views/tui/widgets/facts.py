"""Text beside a board: facts of the game, the player, and the values of moves."""

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING

from rich.text import Text

from lab2048.rules import Board, Game, Rules
from lab2048.rules.move import ARROWS, key_moves
from lab2048.rules.shape import Shape
from lab2048.views.game_list import printable
from lab2048.views.number import apart, count
from lab2048.views.text import fit, shortened

if TYPE_CHECKING:
    from lab2048.players import Decision

WIDTH = 32  # columns of the panel beside the board
_VI_KEYS = {"left": "h", "down": "j", "up": "k", "right": "l"}
_BAR = 6
SPEEDS = (1, 2, 5, 10, 20, 30, 60, 120, 0)  # moves per second; 0 = as fast as possible


def speed_text(speed: float) -> str:
    return f"{speed:g} moves per second" if speed else "as fast as possible"


def rows(facts: Mapping[str, object]) -> Text:
    """Return lines with names at the left and values at the right."""
    text = Text()
    for name, fact in facts.items():
        shown = printable(str(fact))
        room = WIDTH - len(name) - 1
        text.append("\n" if text else "").append(name, "dim").append(f"{shortened(shown, room):>{WIDTH - len(name)}}")
    return text


def rules_text(rules: Rules) -> str:
    """Return the board and every rule that differs from the default."""
    data = rules.to_json()
    usual = Rules.from_text(data["board"]).to_json()
    told = {
        "spawn": f"spawn {data['spawn']}",
        "start": count(rules.n_start, "first tile"),
        "spawner": f"{data['spawner']} spawner",
    }
    stops = ["stops at the goal"] * rules.stop_at_goal
    return ", ".join([data["board"], *(text for name, text in told.items() if data[name] != usual[name]), *stops])


def game_facts(game: Game) -> dict[str, str]:
    """Return the facts that change with every move."""
    return {"score": f"{game.score:,}", "moves": f"{len(game.turns):,}"}


def lasting_facts(game: Game, best: int) -> dict[str, str]:
    """Return the other facts; `best` is your best score with these rules, 0 if there is none."""
    goal = f"{game.rules.goal} reached" if game.moves_to_goal is not None else str(game.rules.goal)
    facts = {"highest tile": str(game.board.max_tile), "goal": goal, "seed": str(game.seed)}
    return facts | ({"your best": f"{best:,}"} if best else {})


def message_line(game: Game, message: str, columns: int) -> str:
    """Return the message line; it always says if the game is over."""
    if not game.is_over:
        return message
    forms = [f"game over: {what}" for what in ("u undoes a move, n starts a new game", "u undo, n new")] + ["game over"]
    return fit(columns, *("   ".join(filter(None, (message, form))) for form in forms), *forms)


def short_facts(game: Game, columns: int) -> str:
    """Return the facts in one line, if the panel does not fit."""
    facts = (f"score {game.score:,}", f"moves {len(game.turns):,}", f"highest {game.board.max_tile}")
    return fit(columns, *(gap.join(facts[:n]) for n in (3, 2, 1) for gap in ("   ", "  ")))


def values_text(board: Board, decision: "Decision", spec: str, measure: str) -> Text:
    """Return a line per legal move, best first: arrow, name, value, and a bar.

    Bars are true to the values, as on the page: a move that keeps half of the best value has half of its bar.
    """
    directions = board.shape.directions
    text = Text().append(shortened(f"{measure} by {printable(spec)}", WIDTH) + "\n", "dim")
    high = max(decision.values.values())
    shown = dict(zip(decision.values, apart(decision.values.values(), 10), strict=True))
    for move in ranked(decision):
        value = decision.values[move]
        direction = directions[move]
        part = max(0.0, value / high) if high > 0 else float(value == high)
        mark = "▸" if move == decision.move else " "
        line = f"{mark}{direction.glyph} {direction.label:<10} {shown[move]:>10} {'█' * round(_BAR * part)}\n"
        text.append(line, "bold" if move == decision.move else "")
    looked = [f"depth {decision.depth}"] * bool(decision.depth) + [f"{decision.nodes:,} boards"] * bool(decision.nodes)
    text.append(shortened(", ".join(looked), WIDTH), "dim")
    return text


def short_values(board: Board, decision: "Decision") -> str:
    """Return the values in one line, best move first."""
    directions = board.shape.directions
    shown = dict(zip(decision.values, apart(decision.values.values(), 10), strict=True))
    return "  ".join(f"{directions[m].glyph} {shown[m]}" for m in ranked(decision))


def ranked(decision: "Decision") -> list[int]:
    """Return the legal moves, best first."""
    return sorted(decision.values, key=lambda move: (-decision.values[move], move != decision.move))


def move_keys(shape: Shape) -> dict[str, int]:
    """Return the move of each key: letters, arrow keys, and h j k l if every arrow key is a different move."""
    names = {glyph: name for name, glyph in ARROWS.items()}
    keys = {names.get(key, key): move for key, move in key_moves(shape.moves).items()}
    return keys | ({letter: keys[name] for name, letter in _VI_KEYS.items()} if _has_arrow_keys(shape) else {})


def _has_arrow_keys(shape: Shape) -> bool:
    return ARROWS.keys() <= {direction.arrow_key for direction in shape.directions}


def play_help(shape: Shape) -> list[tuple[str, str]]:
    """Return every key of a game and its meaning."""
    quit_key = "q" if "q" not in shape.letters else "Q"
    return [
        (move_keys_text(shape), "move"),
        ("u, Backspace", "undo the last move, or a new game"),
        ("r, y, Ctrl-R", "redo"),
        ("n, x", "new game; the old one is saved"),
        ("t", "values of all moves, by the player"),
        ("Space", "let the player make one move"),
        ("Enter", "autoplay until you move"),
        ("p", "choose the player"),
        ("+ -", "faster, slower"),
        ("Esc", "back to the menu; the game is saved"),
        (f"{quit_key}, Ctrl-Q", "leave lab2048"),
    ]


def move_keys_text(shape: Shape) -> str:
    return f"arrows {shape.keys_text} {' '.join(_VI_KEYS.values())}" if _has_arrow_keys(shape) else shape.keys_text


def join_keys(pairs: Iterable[tuple[str, str]], columns: int) -> Text:
    """Return a line of keys and their meanings, as many as fit."""
    text = Text()
    for key, doc in pairs:
        if len(text) + len(key) + len(doc) + 3 > columns:
            break
        text.append(f" {key}", "bold").append(f" {doc} ", "dim")
    return text
