"""The list of saved games: browse, search, replay and continue them."""

from rich.text import Text
from textual.app import ComposeResult
from textual.events import Key
from textual.widgets import Input, OptionList, Static
from textual.widgets.option_list import Option

from lab2048.errors import LabError, StoreError
from lab2048.records.entry import Entry, StoredGame
from lab2048.views.game_list import printable
from lab2048.views.text import shortened
from lab2048.views.tui.screens.base import Choices, Line, Page
from lab2048.views.tui.widgets import facts

PAGE = 200  # games per page
# Filters: name, kind in the store, and whether every move must be yours.
KINDS: tuple[tuple[str, str | None, bool], ...] = (
    ("all", None, False),
    ("yours: every move by you", "play", True),
    ("played or watched, by anyone", "play", False),
    ("of matches", "match", False),
    ("imported", "import", False),
)


class GamesScreen(Page):
    """Lists saved games, one per line, newest or best first."""

    def __init__(self) -> None:
        super().__init__()
        self.is_best = False
        self.kind = 0  # which of KINDS
        self.search = ""
        self._offset = 0

    def compose(self) -> ComposeResult:
        yield Static(id="header")
        yield Static(id="columns")
        yield Choices()
        yield Line(placeholder="words: an id, a date, a board, a player, a tile", id="search")
        yield Static(id="message")
        yield Static(id="keys")

    def on_mount(self) -> None:
        self.query_one(Line).display = False
        self._load()

    def on_screen_resume(self) -> None:
        """Reload, because there may be new games."""
        if self.query_one(Choices).option_count:
            self._load()

    def on_resize(self) -> None:
        self._load(self._offset)

    @property
    def help(self) -> list[tuple[str, str]]:
        return [
            ("arrows, Enter", "choose a game and replay it"),
            ("b", "best or newest first"),
            ("k", "filter: yours, played or watched, matches, imported, all"),
            ("/", "search; Enter keeps what is found, Esc shows all games again"),
            ("c", "continue a game where it ended, as a new game"),
            ("[ ]", f"previous or next {PAGE} games"),
            ("Esc", "back to the menu"),
        ]

    def on_input_changed(self, event: Input.Changed) -> None:
        self.search = event.value
        self._load(has_focus=False)

    def on_input_submitted(self) -> None:
        self._end_search()

    def key_escape(self) -> None:
        """Leave the search, then what was found, then the screen."""
        if not self.search and not self.query_one(Line).display:
            super().key_escape()
            return
        self.query_one(Line).value = self.search = ""
        self._end_search()

    def _end_search(self) -> None:
        self.query_one(Line).display = False
        self._load()

    def on_key(self, event: Key) -> None:
        if self.query_one(Line).has_focus:
            if event.key in ("up", "down"):
                self.query_one(Choices).focus()
            return
        if event.key == "slash":
            event.prevent_default()
            self.query_one(Line).display = True
            self.query_one(Line).focus()
            return
        if event.key == "b":
            self.is_best = not self.is_best
        elif event.key == "k":
            self.kind = (self.kind + 1) % len(KINDS)
        elif event.key == "c":
            self._go_on()
            return
        elif event.key == "right_square_bracket" and self.query_one(Choices).option_count == PAGE:
            self._load(self._offset + PAGE)
            return
        elif event.key == "left_square_bracket":
            self._load(max(0, self._offset - PAGE))
            return
        elif event.key == "q":
            self.lab.leave()
            return
        else:
            return
        self._load()

    def _load(self, offset: int = 0, *, has_focus: bool = True) -> None:
        """Reload the games; keep the selected one if it still exists."""
        games = self.query_one(Choices)
        at = games.highlighted if offset == self._offset else None
        self._offset, damages = offset, list[StoreError]()
        _, kind, is_alone = KINDS[self.kind]
        try:
            entries = self.lab.store.entries(
                kind=kind,
                alone=is_alone,
                best=self.is_best,
                search=self.search,
                limit=PAGE,
                offset=offset,
                on_damage=damages.append,
            )
        except StoreError as error:
            entries, self.message = [], printable(str(error))
        else:
            none = "no such games" if self.kind or self.search.strip() else "no games yet: play one"
            left_out = f"{len(damages)} damaged games are skipped" if damages else ""
            self.message = left_out or ("" if entries or offset else none)
        games.set_options(Option(_line(entry, self.size.width), id=str(entry.id)) for entry in entries)
        if entries:
            games.highlighted = min(at or 0, len(entries) - 1)
        if has_focus:
            games.focus()
        self._draw()

    def _draw(self) -> None:
        kind = KINDS[self.kind][0]
        order = "best first" if self.is_best else "newest first"
        found = f", with {self.search.strip()}" if self.search.strip() else ""
        begin = f", from {self._offset + 1}" if self._offset else ""
        self.put("header", Text(" games", "bold").append(f"  {kind}{found}, {order}{begin}", "not bold"))
        self.put("columns", _columns(self.size.width, "id", "date", "board", "player", "score", "tile", "moves"))
        self.put("message", Text(f" {self.message}"))
        keys = [("Enter", "replay"), ("c", "continue"), ("b", "newest" if self.is_best else "best")]
        keys += [("k", "yours" if self.kind == 0 else "next kind")]
        keys += [("/", "search"), ("Esc", "menu"), ("?", "keys"), ("[ ]", "page"), ("q", "quit")]
        self.put("keys", facts.join_keys(keys, self.size.width))

    def on_option_list_option_selected(self, event: OptionList.OptionSelected) -> None:
        from lab2048.views.tui.screens.replay import ReplayScreen

        if stored := self._get(event.option_id):
            self.app.push_screen(ReplayScreen(stored))

    def _get(self, id_: str | None) -> StoredGame | None:
        """Return a game; show a message and return None if it cannot be read."""
        try:
            return self.lab.store.get(int(id_ or 0))
        except LabError as error:
            self.say(printable(str(error)))
            return None

    def _go_on(self) -> None:
        from lab2048.views.tui.screens.form import continue_game

        option = self.query_one(Choices).highlighted_option
        stored = self._get(option.id) if option else None
        if stored is None:
            return
        try:
            self.app.push_screen(continue_game(stored.episode, self.lab.store))
        except LabError as error:
            self.say(printable(str(error)))


def _line(entry: Entry, columns: int) -> Text:
    date = entry.created[:16].replace("T", " ")
    players = ", ".join(dict.fromkeys([entry.player, *(player for _, player in entry.movers)]))
    won = "!" if entry.moves_to_goal is not None else ""
    facts = (f"{entry.score:,}", f"{entry.max_tile}{won}", f"{entry.n_moves:,}")
    return _columns(columns, str(entry.id), date, entry.board, players, *facts)


def _columns(columns: int, id_: str, date: str, board: str, player: str, score: str, tile: str, moves: str) -> Text:
    """Return one line of the list; long texts are cut, and columns that do not fit are dropped."""
    words = {"id": f"{id_:>6}", "date": f"  {date:<16}", "board": f"  {printable(shortened(board, 9)):<9}  "}
    words |= {"player": f"{printable(shortened(player, 18)):<18}", "score": f"{score:>10}", "tile": f"{tile:>7}"}
    words["moves"] = f"{moves:>7}"
    for name in ("date", "moves", "player"):
        if sum(map(len, words.values())) > columns:
            del words[name]
    return Text("".join(words.values()), no_wrap=True, overflow="ellipsis")
