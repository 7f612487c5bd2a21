"""The screen of a game: you and a player can take over from each other at any move."""

import asyncio
import time
from typing import TYPE_CHECKING

from rich.text import Text
from textual.app import ComposeResult
from textual.events import Key
from textual.widgets import Static

from lab2048.arena.annotation import has_notes
from lab2048.arena.player_service import AskedPlayer
from lab2048.errors import IllegalMoveError, LabError, SessionEndedError
from lab2048.rules.move import move_name
from lab2048.views.game_list import printable
from lab2048.views.tui.screens.base import Page
from lab2048.views.tui.widgets import facts
from lab2048.views.tui.widgets.panel import BoardAndPanel

if TYPE_CHECKING:
    from collections.abc import Callable, Coroutine

    from lab2048.arena.session import Session
    from lab2048.players import Decision
    from lab2048.rules import Board, Turn

MOTION_SPEED = 5  # moves per second above which slide and spawn are shown in one frame
FRAMES = 30.0  # maximum per second
SAVE_SECONDS = 0.5


class PlayScreen(Page):
    """Plays a session: you move with the keys, Space and Enter let the player move."""

    def __init__(self, session: "Session", spec: str, *, speed: float = 10, is_auto: bool = False) -> None:
        """Start with a player for hints and autoplay."""
        super().__init__()
        self.session, self.speed, self.is_auto = session, speed, is_auto
        self.wants_hint = False
        self.decision: Decision | None = None  # the player's last decision
        self._evaluated: Board | None = None  # the board of that decision
        self.adviser = self._new_adviser(spec)
        self._moves = facts.move_keys(session.rules.shape)
        self._is_stale = False
        self._doing = ""  # the last message about preparing the player
        self._n_asked = 0  # open questions to the player
        self._best = 0  # of your earlier games
        self._notes: dict[int, tuple[Turn, str]] = {}  # by number of the turn: why the player made that move
        self._commands = {
            "u": self.undo, "backspace": self.undo, "r": self.redo, "y": self.redo, "ctrl+r": self.redo,
            "n": self.new_game, "x": self.new_game, "space": self.step, "enter": self.toggle_auto,
            "t": self.toggle_hint, "p": self.choose_player, "plus": self.faster, "equals_sign": self.faster,
            "right_square_bracket": self.faster, "minus": self.slower, "left_square_bracket": self.slower,
        }  # fmt: skip

    def compose(self) -> ComposeResult:
        """Lay out the header, the board, the panel, the message and the keys."""
        yield Static(id="header")
        yield BoardAndPanel(self.session.game.board, self.palette, "facts", "lasting", "who", "values", "note")
        yield Static(id="message")
        yield Static(id="keys")

    def on_mount(self) -> None:
        """Draw the game, save it in pauses, and start autoplay if requested."""
        self._best = self.lab.best_score(self.session.rules)
        self.set_interval(1 / FRAMES, self._tick)
        self.set_interval(SAVE_SECONDS, lambda: self.session.save(at_once=False))
        self._draw()
        if self.is_auto:
            self._start_auto()

    def on_unmount(self) -> None:
        """Save the game and stop asking the player."""
        self.is_auto = False
        self.adviser.close(cancel=True)
        self.session.close()
        self.lab.unsaved += self.session.unsaved()
        self.lab.unsaved_reason = self.session.failure or self.lab.unsaved_reason
        self.lab.last = self.session if self.session.last_played else self.lab.last

    def on_resize(self) -> None:
        """Show the panel if it fits, otherwise one line."""
        self.call_after_refresh(self._draw)

    @property
    def help(self) -> list[tuple[str, str]]:
        return facts.play_help(self.session.rules.shape)

    # --- keys ------------------------------------------------------------------------

    def on_key(self, event: Key) -> None:
        try:
            if event.key in self._moves:
                self.move(self._moves[event.key])
            elif event.key in self._commands:
                self._commands[event.key]()
            elif event.key in ("q", "Q", "upper_q"):
                self.lab.leave()
            else:
                return
        except SessionEndedError as error:
            self.say(f"{error}; n starts a new game")
        event.stop()

    def move(self, move: int) -> None:
        """Make your move and stop the player."""
        self.is_auto = False
        name = move_name(self.session.rules.shape.moves[move])
        try:
            self._turned(self.session.play(move), is_slow=True)
        except IllegalMoveError:
            self.say(f"{name} is not a legal move")

    def undo(self) -> None:
        """Undo a move, or a new game."""
        self.is_auto = False
        self._changed("" if self.session.undo() else "nothing to undo")

    def redo(self) -> None:
        self.is_auto = False
        self._changed("" if self.session.redo() else "nothing to redo")

    def new_game(self) -> None:
        """Start a new game; until its first move, undo returns to the old one."""
        self._changed(f"new game, seed {self.session.new_game().seed}; u goes back to the old one")
        self._best = self.lab.best_score(self.session.rules)

    def step(self) -> None:
        self.is_auto = False
        self._work(self._step, "player")

    def toggle_auto(self) -> None:
        """Start or stop autoplay."""
        self.is_auto = not self.is_auto
        if self.is_auto:
            self._start_auto()
        self._advise()
        self._draw()

    def rest(self) -> None:
        """Stop the player and save the game."""
        self.is_auto = False
        self.session.save()

    def toggle_hint(self) -> None:
        """Show or hide the values of all moves."""
        self.wants_hint = not self.wants_hint
        self._advise()
        self._draw()

    def faster(self) -> None:
        self._change_speed(1)

    def slower(self) -> None:
        self._change_speed(-1)

    def _change_speed(self, step: int) -> None:
        at = min(range(len(facts.SPEEDS)), key=lambda i: abs((facts.SPEEDS[i] or 1e9) - (self.speed or 1e9)))
        self.speed = facts.SPEEDS[max(0, min(at + step, len(facts.SPEEDS) - 1))]
        self.say(f"speed: {facts.speed_text(self.speed)}")

    def choose_player(self) -> None:
        """Open the dialog to choose a player; the game continues meanwhile."""
        from lab2048.views.tui.screens.choose_player import ChooseScreen

        self.app.push_screen(ChooseScreen(self.adviser.spec), self._take_player)

    def _take_player(self, spec: str | None) -> None:
        if spec is not None and spec != self.adviser.spec:
            self.adviser.close(cancel=True)
            self.adviser, self._evaluated = self._new_adviser(spec), None
            self._changed(f"{printable(spec)} selected; Enter starts autoplay")
            if self.is_auto:
                self._start_auto()

    def _new_adviser(self, spec: str) -> AskedPlayer:
        return AskedPlayer(spec, self.session.rules, self.session.game.seed)

    # --- the player ------------------------------------------------------------------

    def _work(self, work: "Callable[[], Coroutine[None, None, object]]", group: str) -> None:
        """Start a task for the player and cancel other tasks of the same group.

        The coroutine is created only when the task starts, so a cancelled task leaves none unawaited.
        """
        self.run_worker(work, group=group, exclusive=True)  # type: ignore[arg-type] # Textual accepts two kinds

    def _start_auto(self) -> None:
        self._work(self._play_on, "player")

    async def _play_on(self) -> None:
        """Play at the chosen speed, even if fewer frames can be drawn."""
        due = time.monotonic()
        while self.is_auto and not self._is_over:
            if not await self._step(due):
                break
            due = max(due + (1 / self.speed if self.speed else 0), time.monotonic() - 1)
        self.is_auto = False
        self._is_stale = True
        self._advise()

    async def _step(self, due: float = 0.0) -> bool:
        """Ask the player and make its move when it is due; return False if that failed."""
        while not self._is_over:
            board, adviser = self.session.game.board, self.adviser
            decision = await self._ask(adviser)
            if decision is None:
                return False
            await asyncio.sleep(max(0.0, due - time.monotonic()))
            if board is self.session.game.board and adviser is self.adviser:
                try:
                    turn = self.session.play(decision.move, by=adviser.spec)
                except SessionEndedError as error:
                    self.say(f"{error}; n starts a new game")
                    return False
                self._turned(turn, is_slow=0 < self.speed <= MOTION_SPEED)
                if has_notes(adviser.spec):
                    await self._explain(adviser, board, decision, turn)
                return True
            if not self.is_auto:
                return False  # you moved first
        return False

    async def _ask(self, adviser: AskedPlayer) -> "Decision | None":
        """Return the player's decision for the current board; show a message and return None if it fails."""
        board = self.session.game.board
        if board is self._evaluated:
            return self.decision
        self._n_asked += 1
        self._is_stale = True  # the next frame shows that the player is thinking
        try:
            decision = await asyncio.wrap_future(adviser.ask(board))
        except LabError as error:
            self.say(printable(str(error)))
            return None
        finally:
            self._n_asked -= 1
        if board is self.session.game.board and adviser is self.adviser:
            self.decision, self._evaluated = decision, board
        return decision

    async def _explain(self, adviser: AskedPlayer, board: "Board", decision: "Decision", turn: "Turn") -> None:
        """Show why the player made a move."""
        number = len(self.session.game.turns)
        try:
            note = await asyncio.to_thread(adviser.note, board, decision)
        except LabError as error:
            self.say(printable(str(error)))
            return
        if note:
            self._notes[number] = turn, printable(note.text)
            self._is_stale = True

    def _advise(self) -> None:
        """Ask for a hint if hints are on and the player is not already thinking."""
        is_known = self._evaluated is self.session.game.board
        if self.wants_hint and not self.is_auto and not is_known and not self._is_over and self.is_attached:
            self._work(self._hint, "hint")

    async def _hint(self) -> None:
        await self._ask(self.adviser)
        self._draw()

    # --- showing ---------------------------------------------------------------------

    @property
    def _is_over(self) -> bool:
        return self.session.game.is_over

    def _turned(self, turn: "Turn", *, is_slow: bool) -> None:
        further = "" if self._is_over else ", and you can play on"
        message = f"{self.session.rules.goal}! You reached the goal{further}" if turn.reaches_goal else ""
        self._changed(message, after=turn if is_slow and self.lab.has_motion else None)

    def _changed(self, message: str, after: "Turn | None" = None) -> None:
        """Redraw and ask for a new hint after any change."""
        self.say(message, is_shown=False)
        self._advise()
        if self.is_auto and after is None:
            self._is_stale = True  # drawn with the next frame if the terminal keeps up
        else:
            self._draw(after)

    def _tick(self) -> None:
        doing = self.adviser.doing
        is_old = self.message == self._doing  # keep other messages, such as an error of the player
        if doing != self.message and (doing or (is_old and self._doing)):
            self.say(doing)  # after every move, so that the reason for waiting stays visible
        self._doing = doing
        if self._is_stale:
            self._draw()

    def _draw(self, slide: "Turn | None" = None) -> None:
        """Draw the game, unless the terminal is still busy with the last frame."""
        self._is_stale = not self.lab.is_free
        if self._is_stale or not self.is_mounted:
            return
        game, columns = self.session.game, self.size.width
        fresh = game.turns[-1].spawn[0] if game.turns else None
        table = self.query_one(BoardAndPanel)
        table.view.show(game.board, fresh, slide.after if slide else None)
        self.put("header", Text(f" 2048 on {facts.rules_text(game.rules)}", "bold", overflow="ellipsis", no_wrap=True))
        best = max(self._best, game.score if self.session.is_by_person else 0)
        self.put("facts", facts.rows(facts.game_facts(game)))
        self.put("lasting", facts.rows(facts.lasting_facts(game, best)))
        self.put("who", facts.rows({"player": self.adviser.spec, "now": self._state}))
        decision = self.decision if self.wants_hint and (self.is_auto or self._evaluated is game.board) else None
        asking = f"asking {self.adviser.spec} ..." if self._n_asked and not self.is_auto and not decision else ""
        values = decision and facts.values_text(game.board, decision, self.adviser.spec, self.adviser.measure)
        self.put("values", values if values and not self._is_over else Text(asking, "dim"))
        turn, note = self._notes.get(len(game.turns), (None, ""))
        self.put("note", Text(f"\n{note}" if turn and turn == game.turns[-1] else "", "dim"))
        line = facts.message_line(game, self.message, columns - 2)
        if not line and self.session.failure:
            line = f"not saved yet: {self.session.failure}"
        elif not line and not table.has_panel:
            short = facts.short_values(game.board, decision) if decision else asking
            line = short or facts.short_facts(game, columns - 2)
        self.put("message", Text(f" {printable(line)}", overflow="ellipsis", no_wrap=True))
        keys = [("?", "keys"), ("Esc", "menu"), ("u", "undo"), ("n", "new"), ("t", "values"), ("Enter", "auto")]
        keys += [("Space", "step"), ("p", "player"), ("+-", "speed")]
        self.put("keys", facts.join_keys(keys, columns))
        if self.is_auto:
            self.lab.pace.ask()

    @property
    def _state(self) -> str:
        """Return who moves now."""
        if self._is_over:
            return "game over"
        return f"plays, {facts.speed_text(self.speed)}" if self.is_auto else "you play"
