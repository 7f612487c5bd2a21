"""Reviews: how well a game was played, how lucky it was, and where it was lost."""

from collections.abc import Callable
from itertools import chain
from typing import Any

from lab2048.arena.compile import groups_of
from lab2048.arena.episode import play_game
from lab2048.arena.review.ledger import Grade
from lab2048.arena.review.review import PlayerReview, Review, review_game
from lab2048.arena.review.reviewer import Reviewer, default_reviewer, groups_of_reviewer, make_reviewer
from lab2048.library.arguments import PlayerLike, RulesLike, read_rules, read_spec, read_whole
from lab2048.library.interrupt import interruptible
from lab2048.library.progress import make_ready, progress_line
from lab2048.players import fit_player
from lab2048.records.episode import Episode
from lab2048.rules import Game, Rules
from lab2048.rules.dice import check_seed, episode_seed
from lab2048.rules.move import move_name
from lab2048.views.number import number


@interruptible()
def review(game: "Game | Episode", *, reviewer: PlayerLike = None, progress: bool | None = None) -> "GameReview":
    """Review a game: grade every move, and tell luck from skill.

    The reviewer is a player that knows expected scores; by default the shipped network, on small boards perfect play.

    >>> import lab2048 as lab
    >>> found = lab.review(lab.Game("2x2", seed=1).play("random"))
    >>> round(found.initial_value + found.luck + found.skill + found.drift) == round(found.final_score)
    True
    """
    the_game = game.prove() if isinstance(game, Episode) else game
    the_reviewer = _ready(reviewer, the_game.rules, progress)
    n = max(1, len(the_game.turns))
    with progress_line(progress) as show:
        found = review_game(the_game, the_reviewer, lambda done: show(f"{done:,} of {n:,} moves", done / n))
    return GameReview(found)


@interruptible()
def review_player(
    player: PlayerLike,
    *,
    rules: RulesLike = "4x4",
    games: int = 20,
    seed: int = 1,
    reviewer: PlayerLike = None,
    progress: bool | None = None,
) -> PlayerReview:
    """Play games with a player and review them; the result has means with intervals.

    Ctrl-C returns the result of the finished games.

    >>> import lab2048 as lab
    >>> found = lab.review_player("random", rules="2x2", games=20)
    >>> found.figure("accuracy").value < 100
    True
    """
    the_rules, spec = read_rules(rules), read_spec(player)
    games, seed = read_whole("games", games, 1), check_seed(read_whole("seed", seed))
    the_player = fit_player(spec, the_rules)
    make_ready(*groups_of([spec], the_rules), progress=progress)
    the_reviewer = _ready(reviewer, the_rules, progress)
    result = PlayerReview(spec, the_reviewer.spec, the_reviewer.unit, [])
    with progress_line(progress) as show:
        for i in range(games):
            show(f"game {i + 1} of {games}", i / games)
            try:
                game, _ = play_game(the_player, spec, the_rules, episode_seed(seed, i))
                result.ledgers.append(review_game(game, the_reviewer).ledger)
            except KeyboardInterrupt:
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

    def __repr__(self) -> str:
        return "\n".join(describe(self.review))


def describe(found: Review) -> list[str]:
    """Return a review as lines of text."""
    ledger, say = found.ledger, _amounts(found.unit)
    grades = ", ".join(f"{ledger.count(grade):,} {grade.value}{grade.sign and f' ({grade.sign})'}" for grade in Grade)
    end = "" if found.game.is_over else ", with the value of the last board: the game is not over"
    lines = [
        f"reviewed by {found.reviewer}: accuracy {ledger.accuracy:.2f}%, {say(ledger.error_rate)} lost per 1,000 moves",
        f"{len(ledger.entries):,} moves: {grades}",
        "",
        f"  value at the start  {say(ledger.initial_value):>14}",
        f"  luck                {say(ledger.luck, signed=True):>14}   what the spawns gave",
        f"  skill               {say(ledger.skill, signed=True):>14}   what the moves lost",
        f"  drift               {say(ledger.drift, signed=True):>14}   what the reviewer changed its mind by",
        f"  result              {say(ledger.final_value):>14}   {say(ledger.adjusted_score)} without luck{end}",
    ]
    for title, entries, figure in (
        ("Costliest moves", found.key_moments, _moment),
        ("Luckiest spawns", found.luckiest[:3], _spawn),
        ("Unluckiest spawns", found.unluckiest[:3], _spawn),
    ):
        if entries:
            lines += ["", f"{title}:", *(f"  {figure(found, entry, say)}" for entry in entries)]
    return lines


def _amounts(unit: str) -> Callable[..., str]:
    def say(amount: float, *, signed: bool = False) -> str:
        text = f"{100 * amount:+.4g}%" if unit == "chance" else f"{amount:+,.0f}"
        return text if signed else text.lstrip("+")

    return say


def _moment(found: Review, entry: Any, say: Callable[..., str]) -> str:
    best = move_name(found.game.rules.shape.moves[entry.best])
    made = move_name(entry.turn.move)
    return f"move {entry.turn.number:,}: {made}{entry.grade.sign} loses {say(entry.loss)}; {best} is better"


def _spawn(found: Review, entry: Any, say: Callable[..., str]) -> str:
    cell, rank = entry.turn.spawn
    shape = found.game.rules.shape
    name = dict(zip(chain(*shape.rows), chain(*shape.names), strict=True))[cell]
    return f"after move {entry.turn.number:,}: {number(2**rank)} in {name}, {say(entry.luck, signed=True)}"
