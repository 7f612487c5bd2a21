"""Replay a recorded game move by move, verify it, review it, and continue it from any move."""

import asyncio

from rich.text import Text
from textual.app import ComposeResult
from textual.events import Key
from textual.timer import Timer
from textual.widgets import Static

from lab2048.arena.annotation import Annotator, has_notes
from lab2048.arena.player_service import AskedPlayer
from lab2048.errors import LabError
from lab2048.players import Decision, default_spec
from lab2048.records.entry import StoredGame
from lab2048.records.episode import names_of
from lab2048.rules import Board, Turn
from lab2048.rules.move import move_name
from lab2048.views.game_list import printable
from lab2048.views.number import count
from lab2048.views.tui.game_review import GameReview
from lab2048.views.tui.screens.base import Page
from lab2048.views.tui.widgets import facts
from lab2048.views.tui.widgets.panel import BoardAndPanel

STEPS = {"left": -1, "comma": -1, "right": 1, "full_stop": 1, "pageup": -10, "pagedown": 10}


class ReplayScreen(Page):
    """Replays a saved game."""

    def __init__(self, stored: StoredGame) -> None:
        super().__init__()
        self.stored, self.episode = stored, stored.episode
        self.at = 0  # moves made so far
        self.speed: float = 10
        self.n_moves = len(self.episode.moves)
        self.turns: list[Turn] = []  # empty until the game is verified
        self._first = self.episode.begin().board
        self._names = names_of(self.episode.player, self.episode.movers, self.n_moves)
        self._clock: Timer | None = None
        self._annotator = Annotator()
        self._note: tuple[int, str] = (0, "")  # the turn that was explained last, and why its move was made
        self.wants_values = False
        self.decision: tuple[int, Decision] | None = (
            None  # the board that was valued last, by its number, and its values
        )
        self.adviser = AskedPlayer(default_spec(self.episode.rules), self.episode.rules, self.episode.seed)
        self.review: GameReview | None = None

    def compose(self) -> ComposeResult:
        yield Static(id="header")
        yield BoardAndPanel(self._first, self.palette, "facts", "review", "values", "note")
        yield Static(id="message")
        yield Static(id="keys")

    def on_mount(self) -> None:
        """Verify the game on a thread, because long games take a moment."""
        self.run_worker(self._prove())
        self.say("verifying the game")

    async def _prove(self) -> None:
        try:
            self.turns = await asyncio.to_thread(lambda: list(self.episode.replay()))
        except LabError as error:
            self.say(printable(str(error)))
        else:
            self.say(f"verified: {count(len(self.turns), 'move')}, score {self.episode.score:,}")

    def on_resize(self) -> None:
        """Show the panel if it fits."""
        self.call_after_refresh(self._draw)

    @property
    def help(self) -> list[tuple[str, str]]:
        return [
            ("left right , .", "one move back or forward"),
            ("PgUp PgDn", "ten moves"),
            ("Home End", "first or last board"),
            ("Space", "start or stop the replay"),
            ("+ -", "faster, slower"),
            ("t", "values of all moves, by the player"),
            ("v", "review the game: grade every move, tell luck from skill"),
            ("b B", "next or previous mistake of the review"),
            ("c, Enter", "continue from here, as a new game"),
            ("Esc", "back to the games"),
        ]

    def on_key(self, event: Key) -> None:
        key = event.key
        if key in STEPS:
            self._stop()
            self._go(self.at + STEPS[key])
        elif key in ("home", "end"):
            self._stop()
            self._go(0 if key == "home" else self.n_moves)
        elif key == "space":
            self._run_or_stop()
        elif key in ("plus", "equals_sign", "minus"):
            self._change_speed(1 if key != "minus" else -1)
        elif key == "t":
            self.wants_values = not self.wants_values
            self._draw()
        elif key == "v":
            self._review()
        elif key in ("b", "B", "upper_b"):
            self._seek_fault(1 if key == "b" else -1)
        elif key in ("c", "enter"):
            self._continue()
        elif key == "q":
            self.lab.leave()
        else:
            return
        event.stop()

    def _go(self, at: int) -> None:
        self.at = max(0, min(at, self.n_moves))
        self._draw()

    def _run_or_stop(self) -> None:
        if self._clock:
            self._stop()
        else:
            if self.at == self.n_moves:
                self.at = 0
            self._clock = self.set_interval(1 / (self.speed or facts.SPEEDS[-2]), self._run)
        self._draw()

    def _run(self) -> None:
        """Show the next move; frames are dropped if the terminal is slow."""
        self.at = min(self.at + 1, self.n_moves)
        if self.at == self.n_moves:
            self._stop()
        if self.lab.is_free or self._clock is None:
            self._draw()

    def _stop(self) -> None:
        if self._clock:
            self._clock.stop()
            self._clock = None

    def _change_speed(self, step: int) -> None:
        speeds = facts.SPEEDS[:-1]
        at = speeds.index(int(self.speed)) + step
        self.speed = speeds[max(0, min(at, len(speeds) - 1))]
        is_running = self._clock is not None
        self._stop()
        if is_running:
            self._run_or_stop()
        self.say(f"speed: {facts.speed_text(self.speed)}")

    def _continue(self) -> None:
        """Continue the game from the shown move."""
        from lab2048.views.tui.screens.form import continue_game

        self._stop()
        try:
            self.app.switch_screen(continue_game(self.episode, self.lab.store, self.at))
        except LabError as error:
            self.say(printable(str(error)))

    def _review(self) -> None:
        """Review the game on a thread, or say how it was played."""
        if self.review and self.review.found:
            self.say(self.review.summary())
        elif not self.turns:
            self.say("the game is not verified yet")
        elif self.review is None or not self.review.is_running:
            self.review = GameReview(self.lab.store, self.stored)
            self.run_worker(self._follow(self.review), exclusive=True, group="review")

    async def _follow(self, review: GameReview) -> None:
        await asyncio.to_thread(review.run, lambda: self.app.call_from_thread(self._show_progress, review))
        if review is self.review and self.is_attached:
            self.say(review.summary() if review.found else printable(review.doing))

    def _show_progress(self, review: GameReview) -> None:
        if review is self.review and self.is_attached and self.lab.is_free:
            self.say(printable(review.doing))

    def _seek_fault(self, step: int) -> None:
        if self.review is None or self.review.found is None:
            self.say("v reviews the game first")
            return
        self._stop()
        at = self.review.next_fault(self.at, step)
        if at is None:
            self.say(f"no {'further' if step > 0 else 'earlier'} mistake")
        else:
            self._go(at)

    async def _value(self, at: int) -> None:
        """Ask the player for the values of a board."""
        board = self.turns[at - 1].board if at else self._first
        try:
            decision = await asyncio.wrap_future(self.adviser.ask(board))
        except LabError as error:
            self.wants_values = False
            self.say(printable(str(error)))
            return
        self.decision = at, decision
        self._draw()

    def _draw_values(self, board: Board) -> None:
        """Show the values of the moves from the shown board; they are asked for when the replay rests."""
        known = self.decision[1] if self.decision and self.decision[0] == self.at else None
        text = Text()
        if self.wants_values and known:
            text = facts.values_text(board, known, self.adviser.spec, self.adviser.measure)
        elif self.wants_values and board.legal_moves() and self._clock is None and len(self.turns) == self.n_moves:
            text = Text(f"asking {self.adviser.spec} ...", "dim")
            self.run_worker(self._value(self.at), exclusive=True, group="values")
        self.put("values", text)

    def _draw(self) -> None:
        if not self.is_mounted:
            return
        turn = self.turns[self.at - 1] if 0 < self.at <= len(self.turns) else None
        table = self.query_one(BoardAndPanel)
        table.view.show(turn.board if turn else self._first, turn.spawn[0] if turn else None)
        self.put("header", Text(f" game {self.stored.id}", "bold").append(f"  {facts.rules_text(self.episode.rules)}"))
        shown = {
            "move": f"{self.at:,} of {self.n_moves:,}",
            "made": move_name(turn.move) if turn else "-",
            "by": self._names[self.at - 1] if turn else "-",
            "reward": f"{turn.reward:,}" if turn else "-",
            "score": f"{turn.score if turn else 0:,}",
            "final score": f"{self.episode.score:,}",
            "highest tile": f"{self.episode.max_tile}",
            "seed": self.episode.seed,
            "saved": self.stored.created[:16].replace("T", " "),
            "from": self.stored.run.kind,
        }
        self.put("facts", facts.rows(shown))
        if turn and self._note[0] != self.at and has_notes(self._names[self.at - 1]):
            self._note = (self.at, "")
            self.run_worker(self._explain(self.at), exclusive=True, group="note")
        self.put("note", Text(f"\n{self._note[1]}" if turn and self._note[0] == self.at else "", "dim"))
        self.put("review", self.review.move_text(self.at) if self.review else Text())
        self._draw_values(turn.board if turn else self._first)
        state = f"playing, {facts.speed_text(self.speed)}" if self._clock else self.message
        if not table.has_panel:
            state = f"move {shown['move']}, score {shown['score']}"
        self.put("message", Text(f" {state}"))
        keys = [
            ("←→", "step"),
            ("Space", "run"),
            ("+-", "speed"),
            ("t", "values"),
            ("v", "review"),
            ("c", "continue"),
            ("Esc", "games"),
        ]
        self.put("keys", facts.join_keys([*keys, ("?", "keys")], self.size.width))
        if self._clock:
            self.lab.pace.ask()

    async def _explain(self, at: int) -> None:
        """Ask on a thread why the move was made: the player may have to be compiled or loaded."""
        board = self.turns[at - 2].board if at > 1 else self._first
        rules, seed, made = self.episode.rules, self.episode.seed, int(self.turns[at - 1].move)
        note = await asyncio.to_thread(self._annotator.note, self._names[at - 1], rules, seed, board, made)
        if note and self._note[0] == at:
            self._note = (at, printable(note.text))
            self._draw()

    def on_unmount(self) -> None:
        """Stop asking the player, and stop the review."""
        self.rest()
        self.adviser.close(cancel=True)

    def rest(self) -> None:
        self._stop()
        if self.review:
            self.review.stop()
