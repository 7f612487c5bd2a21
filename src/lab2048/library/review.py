"""Reviews: how well a game was played, how lucky it was, and where it was lost."""

from pathlib import Path
from typing import TYPE_CHECKING, Any

from lab2048.arena.batch import Batch, play_batch
from lab2048.arena.compile import groups_of
from lab2048.arena.executor.choice import executor_for
from lab2048.arena.review.batch import ReviewBatch
from lab2048.arena.review.player_review import PlayerReview
from lab2048.arena.review.review import Review, make_review, value_turns
from lab2048.arena.review.reviewer import (
    Reviewer,
    default_reviewer,
    default_totals_reviewer,
    groups_of_reviewer,
    make_reviewer,
)
from lab2048.arena.review.totals import Totals, total_up
from lab2048.errors import StoppedError, UsageError
from lab2048.extras import need
from lab2048.library.arguments import PlayerLike, RulesLike, read_rules, read_spec, read_whole
from lab2048.library.interrupt import interruptible, stopping
from lab2048.library.progress import make_ready, progress_line
from lab2048.players import fit_player
from lab2048.records.episode import Episode
from lab2048.records.exchange import find_game
from lab2048.rules import Game, Rules
from lab2048.rules.dice import check_seed
from lab2048.stop_flag import current
from lab2048.views.review import describe

if TYPE_CHECKING:
    from lab2048.records.store import Store


@interruptible()
def review(
    game: "Game | Episode | str | Path", *, reviewer: PlayerLike = None, progress: bool | None = None
) -> "GameReview":
    """Review a game: grade every move, and tell luck from skill.

    Instead of a game, you can give a file with one, or a pasted replay, in any form that `lab2048 games import` reads.
    The reviewer is a player that knows expected scores; by default the shipped network, on small boards perfect play.

    >>> import lab2048 as lab
    >>> found = lab.review(lab.Game("2x2", seed=1).play("random"))
    >>> round(found.initial_value + found.luck + found.skill + found.drift) == round(found.final_score)
    True
    """
    found = find_game(game) if game and isinstance(game, str | Path) else game
    the_game = found.prove() if isinstance(found, Episode) else found
    if not isinstance(the_game, Game):
        raise UsageError(f"{the_game!r} cannot be reviewed: expected a lab2048.Game, or a file with one", field="game")
    the_reviewer = _ready(reviewer, the_game.rules, progress)
    n, valuations = max(1, len(the_game.turns)), []
    with progress_line(progress) as show:
        for valuation in value_turns(the_game, the_reviewer):
            valuations.append(valuation)
            show(f"{len(valuations):,} of {n:,} moves", len(valuations) / n)
    return GameReview(make_review(the_game, the_reviewer, valuations))


@interruptible()
def review_stored_game(
    store: "Store", id_: int, *, reviewer: PlayerLike = None, progress: bool | None = None
) -> "GameReview":
    """Review a saved game, and keep the review with it; one that was stopped is continued."""
    from lab2048.arena.review.work import find_review, review_stored

    episode = store.get(id_).episode
    game = episode.prove()
    spec = default_reviewer(game.rules) if reviewer is None else read_spec(reviewer)
    if found := find_review(store, id_, episode, game, spec):
        return GameReview(found)
    the_reviewer = _ready(reviewer, game.rules, progress)
    n = max(1, len(game.turns))
    with progress_line(progress) as show:
        return GameReview(
            review_stored(
                store, id_, episode, game, the_reviewer, lambda done: show(f"{done:,} of {n:,} moves", done / n)
            )
        )


@interruptible()
def review_player(
    player: PlayerLike,
    *,
    rules: RulesLike = "4x4",
    games: int = 20,
    seed: int = 1,
    reviewer: PlayerLike = None,
    cluster: str | None = None,
    progress: bool | None = None,
) -> PlayerReview:
    """Play games with a player and review them; the result has means with intervals.

    The reviewer is the shipped network alone by default, without the search that replaces it where it hardly knows a
    board: so games are reviewed quickly.  Ctrl-C returns the result of the finished games.  `cluster` is a Ray cluster
    that plays: "auto", "local" or an address.

    >>> import lab2048 as lab
    >>> found = lab.review_player("random", rules="2x2", games=20)
    >>> found.figure("accuracy").value < 100
    True
    """
    the_rules, spec = read_rules(rules), read_spec(player)
    games, seed = read_whole("games", games, 1), check_seed(read_whole("seed", seed))
    fit_player(spec, the_rules)
    make_ready(*groups_of([spec], the_rules, games=True), progress=progress)
    the_reviewer = _ready(default_totals_reviewer(the_rules) if reviewer is None else reviewer, the_rules, progress)
    result = PlayerReview(spec, the_reviewer.spec, the_reviewer.unit, [])
    if cluster:
        batches = [ReviewBatch(spec, the_reviewer.spec, the_rules, seed, [i]) for i in range(games)]
        totals: dict[int, Totals] = {}
        with executor_for(cluster, 0, "review") as executor, progress_line(progress) as show, stopping(executor.stop):
            groups = {*groups_of([spec], the_rules, games=True), *groups_of_reviewer(the_reviewer.spec, the_rules)}
            executor.make_ready([spec, the_reviewer.spec], sorted(groups))
            for found in executor.run(batches):
                totals |= found
                show(f"{len(totals)} of {games} games", len(totals) / games)
        result.games += [totals[i] for i in sorted(totals)]
        return result
    with progress_line(progress) as show:
        for i in range(games):
            show(f"game {i + 1} of {games}", i / games)
            try:
                played = play_batch(Batch(spec, the_rules, seed, [i]), current().is_set)
                current().check()
                result.games.append(total_up(played.episodes[i], the_reviewer))
            except (KeyboardInterrupt, StoppedError):
                break
    return result


def _ready(reviewer: PlayerLike, rules: Rules, progress: bool | None) -> Reviewer:
    spec = default_reviewer(rules) if reviewer is None else read_spec(reviewer)
    make_ready(*groups_of_reviewer(spec, rules), progress=progress)
    return make_reviewer(spec, rules)


class GameReview:
    """The review of one game; `moves` has an entry per move.

    >>> import lab2048 as lab
    >>> found = lab.review(lab.Game("2x2", seed=1).play("random"))
    >>> found.moves[0].grade.value in ("best", "good", "inaccuracy", "mistake", "blunder")
    True
    """

    def __init__(self, found: Review) -> None:
        """Use `lab2048.review`."""
        ledger = found.ledger
        self.review, self.moves = found, ledger.entries
        self.initial_value, self.final_score = ledger.initial_value, ledger.final_value
        self.luck, self.skill, self.drift = ledger.luck, ledger.skill, ledger.drift
        self.accuracy, self.error_rate = ledger.accuracy, ledger.error_rate
        self.adjusted_score = ledger.adjusted_score

    def to_dict(self) -> dict[str, Any]:
        """Return the review as a dict, the same as `lab2048 review --json` prints.

        >>> import lab2048 as lab
        >>> lab.review(lab.Game("2x2", seed=1).play("random")).to_dict()["unit"]
        'score'
        """
        return self.review.to_json()

    def to_html(self, title: str = "Review") -> str:
        """Return the review as one HTML file that needs no server, the same as `lab2048 review --html` writes.

        >>> import lab2048 as lab
        >>> lab.review(lab.Game("2x2", seed=1).play("random")).to_html()[:15]
        '<!doctype html>'
        """
        need("app")
        from lab2048.views.web.review_page import make_page

        return make_page(self.review, title)

    def __repr__(self) -> str:
        return "\n".join(describe(self.review))
