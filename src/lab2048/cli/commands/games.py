"""`lab2048 games`: list, show, replay, export and import saved games."""

import contextlib
import os
import sys
from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, BinaryIO

import typer

from lab2048.cli.command import Commands
from lab2048.cli.option_types import Above, AtLeast, OneOf, Readable
from lab2048.cli.options import JsonOption, StoreOption, say
from lab2048.cli.output import make_console, print_json
from lab2048.cli.progress import again, progress_line, say_how
from lab2048.errors import FileError, StoreError, StoreNotFoundError, UsageError, reason_of

if TYPE_CHECKING:
    from lab2048.records.store import Entry, Store

KINDS = ("play", "match", "import")
MAX_REPORTS = 20  # bad lines reported one by one; a wrong file has thousands

app = Commands("List, show, replay, export, import and delete saved games.\n\nExample: lab2048 games replay 12")


def _board_text(rules: str | None) -> str | None:
    """Return a board as the store writes it."""
    if rules is None:
        return None
    from lab2048.rules import Board

    return Board.from_text(rules).to_text()


IdArgument = Annotated[int, typer.Argument(metavar="ID", help="Number of the game, from `lab2048 games list`.")]
BoardFilter = Annotated[
    str | None, typer.Option("--rules", "-r", metavar="BOARD", help="Only games on this board."), Readable(_board_text)
]
PlayerFilter = Annotated[str | None, typer.Option("--player", metavar="PLAYER", help="Only games of this player.")]


@app.command("list")
def list_games(
    limit: Annotated[
        int, typer.Option("--limit", "-n", metavar="N", help="Number of games, newest first."), AtLeast(1)
    ] = 20,
    player: PlayerFilter = None,
    rules: BoardFilter = None,
    kind: Annotated[
        str | None,
        typer.Option("--kind", metavar="KIND", help="Only games from play, match or import."),
        OneOf(KINDS),
    ] = None,
    min_score: Annotated[
        int | None, typer.Option("--min-score", metavar="N", help="Only games with at least this score.")
    ] = None,
    best: Annotated[bool, typer.Option("--best", help="Highest scores first.")] = False,
    as_json: JsonOption = False,
    as_csv: Annotated[bool, typer.Option("--csv", help="CSV, one line per game.")] = False,
    store: StoreOption = None,
) -> None:
    """List the games, newest first.

    Damaged games are counted and skipped; the exit code is then 3.

    Example: lab2048 games list --kind play --best --limit 5
    """
    if as_json and as_csv:
        raise UsageError("--json and --csv: expected only one of them")
    _check_player(player)
    board = _board_text(rules)
    entries: list[Entry] = []
    damages: list[StoreError] = []
    if not _is_missing(store):
        with _open(store) as the_store:
            entries = the_store.entries(
                board=board,
                player=player,
                kind=kind,
                min_score=min_score,
                best=best,
                limit=limit + 1,
                on_damage=damages.append,
            )
    has_more = len(entries) + len(damages) > limit
    del entries[limit:]
    if as_json:
        games = [{**entry._asdict(), "won": entry.moves_to_goal is not None} for entry in entries]
        print_json("games-1", {"games": games, "has_more": has_more})
    elif as_csv:
        from lab2048.views.game_list import games_csv

        print(games_csv(entries), end="")
    elif entries:
        from lab2048.views.game_list import games_table

        # Lines in a pipe are not wrapped: another program reads them.
        make_console(width=None if sys.stdout.isatty() else 1000).print(games_table(entries))
        if has_more:
            say(f"the {'best' if best else 'newest'} {limit}; --limit N shows more")
    elif not damages:
        say("no such games: lab2048 play starts one")
    if damages:
        _report_damages(damages)
        say(f"damaged {len(damages)}")
        raise typer.Exit(FileError.exit_code)


@app.command()
def show(id_: IdArgument, as_json: JsonOption = False, store: StoreOption = None) -> None:
    """Show one game: its facts, its moves and its last board.

    Example: lab2048 games show 12
    """
    from lab2048.views.game_list import game_facts
    from lab2048.views.text import render, wants_codes

    with _open(store) as the_store:
        stored = the_store.get(id_)
    episode, run = stored.episode, stored.run
    if as_json:
        origin = {"id": stored.id, "run": run.id, "number": stored.number, "kind": run.kind, "kept": stored.created}
        print_json(episode.schema.partition("/")[2], {**episode.to_json(), "provenance": stored.provenance, **origin})
        return
    print(game_facts(stored), end="")
    board = episode.begin().board
    for turn in episode.replay():
        board = turn.board
    print(render(board, colour=wants_codes(sys.stdout)))


@app.command()
def replay(
    id_: IdArgument,
    speed: Annotated[
        float, typer.Option("--speed", metavar="N", help="Moves per second on a terminal."), Above(0, 1000)
    ] = 8.0,
    every: Annotated[
        int, typer.Option("--every", metavar="N", help="Show only every N-th board, and the last."), AtLeast(1)
    ] = 1,
    plain: Annotated[bool, typer.Option("--plain", help="Print one line per move, even on a terminal.")] = False,
    explain: Annotated[
        bool, typer.Option("--explain", help="Say why each move was made, for players that can (shield).")
    ] = False,
    as_json: JsonOption = False,
    store: StoreOption = None,
) -> None:
    """Replay a game move by move, and verify it.

    Example: lab2048 games replay 12 --speed 20
    """
    from lab2048.cli.replay_view import animate, explainer, replay_data, tell
    from lab2048.views.number import count

    with _open(store) as the_store:
        episode = the_store.get(id_).episode
    last = len(episode.moves)
    turns = (turn for turn in episode.replay() if turn.number % every == 0 or turn.number == last)
    why = explainer(episode) if explain else lambda _: None
    if as_json:
        print_json("replay-1", replay_data(id_, episode, turns, why))
        return
    if plain or not sys.stdout.isatty() or os.environ.get("TERM") == "dumb":
        tell(episode, turns, why)
    else:
        animate(episode, turns, every / speed, why)
    print(f"verified: {count(last, 'move')}, score {episode.score}, highest tile {episode.max_tile}")


@app.command()
def export(
    ids: Annotated[list[int] | None, typer.Argument(metavar="[ID]...", help="Games to export (default: all).")] = None,
    out: Annotated[
        Path | None, typer.Option("--out", "-o", metavar="FILE", help="Output file (default: standard output).")
    ] = None,
    force: Annotated[bool, typer.Option("--force", help="Overwrite the file if it exists.")] = False,
    player: PlayerFilter = None,
    rules: BoardFilter = None,
    as_json: Annotated[bool, typer.Option("--json", help="With --out: print a JSON summary.")] = False,
    store: StoreOption = None,
) -> None:
    """Write games as JSON lines.

    Damaged games are reported and skipped; the exit code is then 3.

    Example: lab2048 games export --out games.jsonl
    """
    from lab2048.records.atomic_file import replacing
    from lab2048.records.exchange import write_line

    if ids and (player or rules):
        raise UsageError("IDs and --player or --rules: expected only one of the two")
    is_file = out is not None and str(out) != "-"
    if as_json and not is_file:
        raise UsageError("--json: the exported games are JSON already; expected --json only with --out FILE")
    _check_player(player)
    with contextlib.ExitStack() as stack:
        the_store = stack.enter_context(_open(store))
        known = the_store.ids(player=player, board=_board_text(rules))
        _check_ids(the_store, ids or (), known)
        damages: list[StoreError] = []
        chosen = list(dict.fromkeys(ids)) if ids else known
        file = stack.enter_context(replacing(out, force=force)) if out and is_file else sys.stdout
        show = stack.enter_context(progress_line())
        for n, id_ in enumerate(chosen):
            show(f"game {n} of {len(chosen)}", n / len(chosen))
            try:
                line = write_line(the_store.get(id_))
            except StoreError as error:
                damages.append(error)
            else:
                file.write(line + "\n")
    _report_damages(damages)
    if as_json:
        counts = {"exported": len(chosen) - len(damages), "damaged": len(damages)}
        print_json("games-export-1", {"file": str(out), **counts})
    else:
        say(f"exported {len(chosen) - len(damages)}, damaged {len(damages)}")
    if damages:
        raise typer.Exit(FileError.exit_code)


@app.command()
def delete(
    ids: Annotated[list[int], typer.Argument(metavar="ID", help="Games to delete, from `lab2048 games list`.")],
    as_json: JsonOption = False,
    store: StoreOption = None,
) -> None:
    """Delete games from the store, for good.

    If one of the games does not exist, none is deleted.

    Example: lab2048 games delete 12 13
    """
    from lab2048.views.number import count

    chosen = list(dict.fromkeys(ids))
    with _open(store) as the_store:
        _check_ids(the_store, chosen)
        for id_ in chosen:
            the_store.remove(id_)
    if as_json:
        print_json("games-delete-1", {"deleted": chosen})
    else:
        print(f"deleted {count(len(chosen), 'game')}")


@app.command("import")
def import_games(
    file: Annotated[
        str,
        typer.Argument(
            metavar="FILE",
            help="JSON lines written by `export`, or a replay of 2048verse, 2048next, 2048league or "
            "2048EndgameTablebase; - reads standard input.",
        ),
    ],
    as_json: JsonOption = False,
    store: StoreOption = None,
) -> None:
    """Import games from JSON lines, or a replay of another program.

    Every game is checked and replayed before it is saved.  Bad lines are reported and skipped; the exit code is
    then 3.  A game that breaks a rule is refused with the number of the move.

    Example: lab2048 games import games.jsonl
    """
    from lab2048.records.exchange import ImportCounts, import_lines
    from lab2048.records.input_file import open_file
    from lab2048.records.store import Store

    counts = ImportCounts()
    name = "standard input" if file == "-" else file

    def refuse(number: int, reason: str) -> None:
        if counts.refused <= MAX_REPORTS:
            say(f"line {number}: {reason}" if number else f"{name}: {reason}")

    with contextlib.ExitStack() as stack:
        show = stack.enter_context(progress_line())
        try:
            stream = _standard_input() if file == "-" else stack.enter_context(open_file(Path(file), accept_pipes=True))
            the_store = stack.enter_context(Store.open(store))
            try:
                import_lines(the_store, stream, counts, refuse=refuse, progress=lambda: show(f"{counts} so far"))
            except (StoreError, KeyboardInterrupt):
                say_how(f"stopped: {counts}; the imported games are saved; continue with", again())
                raise
        except OSError as error:
            raise FileError(f"{file} cannot be read: {reason_of(error)}", code="file.unreadable") from None
    if counts.refused > MAX_REPORTS:
        say(f"and {counts.refused - MAX_REPORTS} more lines")
    if as_json:
        print_json("games-import-1", vars(counts))
    else:
        print(counts)
    if counts.refused:
        raise typer.Exit(FileError.exit_code)


def _check_ids(store: "Store", ids: Iterable[int], known: Iterable[int] | None = None) -> None:
    """Raise StoreNotFoundError if there is no game with one of these ids."""
    for missing in sorted(set(ids) - set(store.ids() if known is None else known)):
        raise StoreNotFoundError(f"there is no game {missing} in {store.path}", code="game.not_found")


def _report_damages(damages: list[StoreError]) -> None:
    from lab2048.views.game_list import printable

    for error in damages[:MAX_REPORTS]:
        say(printable(str(error)))
    if len(damages) > MAX_REPORTS:
        say(f"and {len(damages) - MAX_REPORTS} more damaged games")


def _check_player(player: str | None) -> None:
    if player is not None and not player.isprintable():
        raise UsageError(f"player {player!r} is not a name: expected printable characters", field="player")


def _standard_input() -> BinaryIO:
    stream: BinaryIO | None = getattr(sys.stdin, "buffer", None)
    if stream is None:
        raise FileError("standard input is closed: expected games")
    return stream


def _open(path: Path | None) -> "Store":
    """Open a store for reading; never create one."""
    from lab2048.records.store import Store

    return Store.open(path, create=False)


def _is_missing(path: Path | None) -> bool:
    from lab2048.records.database import default_path, explained

    path = path or default_path()
    with explained(path):
        try:
            path.lstat()  # a link that leads nowhere is one that cannot be read
        except (FileNotFoundError, NotADirectoryError):
            return True
        return False
