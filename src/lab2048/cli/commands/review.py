"""`lab2048 review`: how well a game was played, how lucky it was, and where it was lost."""

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from lab2048.cli.options import (
    GAMES,
    PLAYER,
    SEED,
    ClusterOption,
    ForceOption,
    JsonOption,
    PlayerFileOption,
    RulesOption,
    StoreOption,
    load_players,
    say,
)
from lab2048.cli.output import print_json
from lab2048.cli.progress import again, say_how
from lab2048.errors import UsageError
from lab2048.extras import need

if TYPE_CHECKING:
    from lab2048.arena.review.player_review import PlayerReview
    from lab2048.library.review import GameReview


def review(
    game: Annotated[
        str | None,
        typer.Argument(
            metavar="GAME",
            help="Number of a saved game; a file with one, also of 2048verse, 2048next, 2048league or "
            "2048EndgameTablebase; a pasted replay; or - for standard input.",
        ),
    ] = None,
    reviewer: Annotated[
        str | None,
        typer.Option(
            "--reviewer",
            metavar="PLAYER",
            help="Player that reviews (default: ntuple on 4x4, optimal on small boards).",
        ),
        PLAYER,
    ] = None,
    player: Annotated[
        str | None,
        typer.Option("--player", "-p", metavar="PLAYER", help="Review a player instead of a game: it plays --games."),
        PLAYER,
    ] = None,
    games: Annotated[int, typer.Option("--games", "-n", metavar="N", help="Games of the player."), GAMES] = 20,
    rules: RulesOption = "4x4",
    seed: Annotated[int, typer.Option("--seed", "-s", metavar="N", help="Seed of its games."), SEED] = 1,
    cluster: ClusterOption = None,
    html: Annotated[
        Path | None, typer.Option("--html", metavar="FILE", help="Write one HTML file that works offline.")
    ] = None,
    force: ForceOption = False,
    as_json: JsonOption = False,
    store: StoreOption = None,
    player_file: PlayerFileOption = None,
) -> None:
    """Review a game: grade every move, and tell luck from skill.

    The value at the start + luck + skill + drift is the score.  Drift is what the reviewer changed its mind by: it says
    how far the reviewer is to be believed.  The review of a saved game is kept with it; after Ctrl-C, the same command
    continues it.

    Example: lab2048 review 12
    """
    from lab2048.library.review import review as review_game
    from lab2048.library.review import review_player

    load_players(player_file)
    if (not game) == (player is None):
        raise UsageError("expected a game, as in lab2048 review 12, or a player: --player greedy", field="game")
    if html is not None:
        _check_html(html, player, force=force)
    if player is not None:
        found = review_player(
            player, rules=rules, games=games, seed=seed, reviewer=reviewer, cluster=cluster, progress=True
        )
        if as_json:
            print_json("review-player-1", found.to_json())
        else:
            _print_player(found)
        return
    from lab2048.records.atomic_file import replacing
    from lab2048.records.exchange import read_single
    from lab2048.views.review import describe

    text = game or ""
    if text.isdecimal():
        result = _review_saved(int(text), reviewer, store)
    else:
        source = read_single(sys.stdin.buffer.read(), "standard input") if text == "-" else text
        result = review_game(source, reviewer=reviewer, progress=True)
    if html is not None:
        with replacing(html, force=force) as file:
            file.write(result.to_html(f"Game {text}" if text.isdecimal() else "Review"))
        say(f"{html} is written")
    if as_json:
        print_json("review-1", result.to_dict())
    elif html is None:
        print("\n".join(describe(result.review)))


def _check_html(html: Path, player: str | None, *, force: bool) -> None:
    """Raise an error before anything is reviewed if the file cannot be written."""
    from lab2048.records.atomic_file import check_target

    if player is not None:
        raise UsageError("--html: expected a game, as the review of a player has no page", field="html")
    need("app")
    check_target(html, force=force)


def _review_saved(id_: int, reviewer: str | None, path: Path | None) -> "GameReview":
    from lab2048.library.review import review_stored_game
    from lab2048.records.store import Store

    with Store.open(path, create=False) as store:
        try:
            return review_stored_game(store, id_, reviewer=reviewer, progress=True)
        except KeyboardInterrupt:
            say_how("stopped; what is reviewed is kept; continue with", again())
            raise


def _print_player(found: "PlayerReview") -> None:
    print(f"{found.player}, {len(found.games)} games, reviewed by {found.reviewer}")
    names = {
        "accuracy": "accuracy, %",
        "error_rate": "lost per 1,000 moves",
        "luck": "luck per game",
        "skill": "skill per game",
        "drift": "drift per game",
        "final_value": "score",
        "adjusted_score": "score without luck",
    }
    for name, title in names.items():
        figure = found.figure(name)
        print(f"  {title:<22}{figure.value:>14,.2f}  [{figure.low:,.2f}, {figure.high:,.2f}]")
    print(f"  without luck, scores have {found.variance_ratio:.2f} times the variance")
