"""Practise endgames: choose a formation, make moves, see their exact success rates, and meet your mistakes again."""

import asyncio

import numpy as np
from rich.text import Text
from textual.app import ComposeResult
from textual.events import Key
from textual.widgets import OptionList, Static
from textual.widgets.option_list import Option

from lab2048.arena.practice import Difficulty, Made, Outcome, Position, Practice, practice_folders
from lab2048.errors import LabError
from lab2048.records.practice_table import PracticeFigures
from lab2048.rules.move import move_name
from lab2048.views.game_list import printable
from lab2048.views.number import count, percent
from lab2048.views.text import fit, shortened
from lab2048.views.tui.screens.base import Choices, Page
from lab2048.views.tui.widgets import facts
from lab2048.views.tui.widgets.panel import BoardAndPanel

STEP = 0.1  # of the spawner, per key
LEVELS = list(Difficulty)


class PracticeScreen(Page):
    """Lists the formations that can be practised."""

    def compose(self) -> ComposeResult:
        yield Static(id="header")
        yield Static(id="columns")
        yield Choices()
        yield Static(id="message")
        yield Static(id="keys")

    def on_mount(self) -> None:
        self._load()

    def on_screen_resume(self) -> None:
        """Reload, because the figures have changed."""
        if self.query_one(Choices).option_count:
            self._load()

    @property
    def help(self) -> list[tuple[str, str]]:
        return [("arrows, Enter", "choose a formation and practise it"), ("Esc", "back to the menu"), ("q", "quit")]

    def on_key(self, event: Key) -> None:
        if event.key == "q":
            self.lab.leave()

    def _load(self) -> None:
        choices = self.query_one(Choices)
        at = choices.highlighted or 0
        try:
            figures = self.lab.store.practice_figures()
        except LabError as error:
            figures, self.message = {}, printable(str(error))
        options = []
        for name in practice_folders():
            try:
                options.append(Option(_line(Practice.open(name), figures.get(name, PracticeFigures())), id=name))
            except LabError as error:
                self.message = printable(str(error))
        choices.set_options(options)
        choices.highlighted = min(at, len(options) - 1) if options else None
        choices.focus()
        self._draw()

    def _draw(self) -> None:
        self.put(
            "header", Text(" practice", "bold").append("  make the next large tile while the others stay", "not bold")
        )
        self.put("columns", _columns("formation", "free cells", "best rate", "good moves", "streak", "due"))
        self.put("message", Text(f" {self.message or 'larger ones: lab2048 endgame list, lab2048 endgame build NAME'}"))
        keys = [("Enter", "practise"), ("Esc", "menu"), ("?", "keys"), ("q", "quit")]
        self.put("keys", facts.join_keys(keys, self.size.width))

    def on_option_list_option_selected(self, event: OptionList.OptionSelected) -> None:
        try:
            self.app.push_screen(DrillScreen(Practice.open(str(event.option_id))))
        except LabError as error:
            self.say(printable(str(error)))


class DrillScreen(Page):
    """Practises one formation."""

    def __init__(self, practice: Practice, seed: int | None = None) -> None:
        """Draw positions and tiles by a seed; None takes a new one."""
        super().__init__()
        self.practice = practice
        self.position = Position(practice.rules.board)
        self.level = Difficulty.MEDIUM
        self.worst = 0.0  # share of tiles that are the worst possible
        self.made: Made | None = None
        self._past: list[Position] = []
        self._rng = np.random.default_rng(seed)
        self._moves = facts.move_keys(practice.rules.shape)

    def compose(self) -> ComposeResult:
        yield Static(id="header")
        yield BoardAndPanel(self.position.board, self.palette, "facts", "values")
        yield Static(id="message")
        yield Static(id="keys")

    def on_mount(self) -> None:
        self.run_worker(self._next(), exclusive=True)

    def on_resize(self) -> None:
        """Show the panel if it fits."""
        self.call_after_refresh(self._draw)

    @property
    def help(self) -> list[tuple[str, str]]:
        return [
            (facts.move_keys_text(self.practice.rules.shape), "move"),
            ("n, Enter", "next position; mistakes that are due come first"),
            ("u, Backspace", "take back a move"),
            ("v", f"difficulty: {', '.join(LEVELS)}"),
            ("+ -", "a more or less hostile spawner, from fair to the worst tile"),
            ("Esc", "back to the formations"),
            ("q", "quit"),
        ]

    def on_key(self, event: Key) -> None:
        key = event.key
        if key in self._moves:
            self._make(self._moves[key])
        elif key in ("n", "enter"):
            self.run_worker(self._next(), exclusive=True)
        elif key in ("u", "backspace"):
            self._take_back()
        elif key == "v":
            self.level = LEVELS[(LEVELS.index(self.level) + 1) % len(LEVELS)]
            self.run_worker(self._next(), exclusive=True)
        elif key in ("plus", "equals_sign", "minus"):
            step = -STEP if key == "minus" else STEP
            self.worst = min(1.0, max(0.0, round(self.worst + step, 1)))
            self._draw()
        elif key == "q":
            self.lab.leave()
        else:
            return
        event.stop()

    async def _next(self) -> None:
        """Show the next position; drawing one may take a moment."""
        try:
            returned = self.practice.returning(self.lab.store)
            if returned is None:
                self.position = await asyncio.to_thread(self.practice.draw, self.level, self._rng)
            else:
                self.position = returned
        except LabError as error:
            self.say(printable(str(error)))
            return
        self._past, self.made = [], None
        self.say("from your notebook: find a good move" if returned else "your move")

    def _make(self, move: int) -> None:
        board, id_, store = self.position.board, self.position.puzzle, self.lab.store
        if move not in map(int, board.legal_moves()) or self._is_over:
            name = move_name(self.practice.rules.shape.moves[move])
            self.say("n shows another position" if self._is_over else f"{name} would move nothing, or a large tile")
            return
        try:
            puzzle = None if id_ is None else store.puzzle(id_)
            made = self.practice.make(board, move, store=store, rng=self._rng, worst=self.worst, puzzle=puzzle)
        except LabError as error:
            self.say(printable(str(error)))
            return
        self._past.append(Position(board))
        self.position, self.made = Position(made.board), made
        self.say(_verdict(made, self.practice.rules.goal))

    def _take_back(self) -> None:
        if self._past:
            self.position = self._past.pop()
            self.say("taken back: try another move")
        else:
            self.say("nothing to take back")

    @property
    def _is_over(self) -> bool:
        return self.practice.problem.is_decided(self.position.board) or not self.position.board.legal_moves()

    def _draw(self) -> None:
        if not self.is_mounted:
            return
        practice, made = self.practice, self.made
        panel = self.query_one(BoardAndPanel)
        fresh = made.spawn[0] if made and made.spawn and made.board == self.position.board else None
        panel.view.show(self.position.board, fresh)
        places = ", ".join(_place(practice, cell) for cell in practice.rules.goal_cells)
        where = f" on {places}" if places else ""
        self.put("header", Text(f" {practice.name}", "bold").append(f"  make {practice.rules.goal}{where}"))
        try:
            figures = practice.figures(self.lab.store)
        except LabError:
            figures = PracticeFigures()
        shown = {
            "streak": f"{figures.streak:,}, longest {figures.best_streak:,}",
            "good moves": f"{figures.n_good:,} of {figures.n_moves:,}",
            "won": f"{figures.n_won:,} of {figures.n_ended:,}",
            "notebook": f"{count(figures.n_mistakes, 'mistake')}, {figures.n_due:,} due",
            "positions": str(self.level),
            "spawner": _spawner(self.worst),
        }
        self.put("facts", facts.rows(shown))
        self.put("values", _values(made) if made else Text("success rates appear when you have moved", "dim"))
        line = self.message
        if made and not panel.has_panel:
            line = fit(self.size.width - 2, f"{line}   streak {figures.streak:,}", line)
        self.put("message", Text(f" {shortened(line, self.size.width - 2)}", overflow="ellipsis", no_wrap=True))
        keys = [
            ("n", "next"),
            ("u", "take back"),
            ("v", "difficulty"),
            ("+-", "spawner"),
            ("Esc", "formations"),
            ("?", "keys"),
        ]
        self.put("keys", facts.join_keys(keys, self.size.width))


def _line(practice: Practice, figures: PracticeFigures) -> Text:
    good = percent(figures.n_good / figures.n_moves) if figures.n_moves else "-"
    free = str(practice.endgame.formation.n_cells)
    return _columns(practice.name, free, percent(practice.start_rate), good, str(figures.streak), str(figures.n_due))


def _columns(name: str, free: str, rate: str, good: str, streak: str, due: str) -> Text:
    words = f" {shortened(name, 16):<16}{free:>11}{rate:>11}{good:>12}{streak:>8}{due:>6}"
    return Text(words, no_wrap=True, overflow="ellipsis")


def _place(practice: Practice, cell: int) -> str:
    shape = practice.rules.shape
    pairs = zip(sum(shape.rows, ()), sum(shape.names, ()), strict=True)
    return next(name for found, name in pairs if found == cell)


def _spawner(worst: float) -> str:
    if worst in (0.0, 1.0):
        return "always the worst" if worst else "fair"
    return f"{worst:.0%} the worst tile"


def _verdict(made: Made, goal: int) -> str:
    value, grade = made.chosen.value, made.chosen.grade
    told = f"{move_name(value.move)}: {percent(value.value)}, {grade} {grade.sign}".rstrip()
    if not made.is_good:
        best = made.moves[0].value
        told += f"; {move_name(best.move)} keeps {percent(best.value)}"
    ends = {
        None: "",
        Outcome.WON: f". You made {goal}!",
        Outcome.LOST: ". No move is left that keeps the large tiles",
        Outcome.MISPLACED: f". {goal} does not count on that cell",
    }
    return told + ends[made.outcome]


def _values(made: Made) -> Text:
    """Return a line per move, best first: the move that was made is marked."""
    text = Text("\nsuccess rates of the last position\n", "dim")
    for each in made.moves:
        mark = "▸" if each.move == made.chosen.move else " "
        line = f"{mark}{move_name(each.value.move):<10} {percent(each.value.value):>9}  {each.grade} {each.grade.sign}"
        text.append(line.rstrip() + "\n", "bold" if each.move == made.moves[0].move else "")
    return text
