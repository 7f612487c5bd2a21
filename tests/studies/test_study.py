"""Studies: their files, published figures, verdicts from intervals, and figures of games."""

import math
from dataclasses import replace
from pathlib import Path

import pytest

from lab2048.arena.statistics import Interval
from lab2048.errors import FileError, UsageError
from lab2048.records.episode import Episode
from lab2048.rules import Game, Rules
from lab2048.studies.agreement import difference, find_agreement
from lab2048.studies.comparison import make_line, spread_of_mean
from lab2048.studies.game_figures import measure_evaluations, measure_games, paired_difference, tile_sum
from lab2048.studies.measure import Measure, Measured
from lab2048.studies.model import Figure
from lab2048.studies.published import Published
from lab2048.studies.reading import load_study, read_study, study_names
from lab2048.studies.result import GameResult, Result
from lab2048.studies.run.bound import chain_score, highest_score
from lab2048.views.study.text import write_run

SMALL = """
title = "Small"
question = "Does it work?"
source = "Nobody."

[[rows]]
id = "random"
title = "random"
kind = "match"
rules = "2x2"
goal = 16
player = "random"
full = 40
figures = [
  { measure = "won", published = "15 of 100", where = "nowhere" },
  { measure = "sum" },
]

[[rows]]
id = "best"
title = "best play"
kind = "match"
rules = "2x2"
goal = 16
player = "optimal:objective=win"
full = 40
figures = [{ measure = "won", against = "random" }, { measure = "score@30", against = "random" }]

[[rows]]
id = "regret"
title = "what greedy loses"
kind = "regret"
rules = "2x2"
objective = "score"
player = "greedy"
full = 3
figures = [{ measure = "loss" }, { measure = "best-moves" }]

[[rows]]
id = "missing"
title = "nobody knows this one"
kind = "match"
player = "nosuchplayer"
full = 1
figures = [{ measure = "score" }]

[[rankings]]
title = "Who wins"
by = "won"
rules = "2x2"
"""


@pytest.fixture
def small(tmp_path: Path) -> Path:
    path = tmp_path / "small.toml"
    path.write_text(SMALL)
    return path


# --- the files ---------------------------------------------------------------------------


def test_there_are_ten_studies() -> None:
    assert study_names() == [
        "000-lookahead",
        "000-network",
        "000-optimal",
        "000-threads",
        "001-compare",
        "002-formations",
        "003-shield",
        "004-methods",
        "all-players",
        "deep",
    ]


@pytest.mark.parametrize("name", study_names())
def test_every_study_says_what_it_assumes_and_where_figures_stand(name: str) -> None:
    study = load_study(name)
    assert study.assumptions
    assert any(row.amount("test") for row in study.rows)
    for row in study.rows:
        assert row.amount("test") <= row.amount("quick") <= row.amount("full") or row.kind == "none"
        for size in row.sizes:
            is_learnt = row.training_spec is not None and row.training_spec.trains_at(size)
            assert row.training_spec is None or row.training_spec.of or bool(row.amount(size)) == is_learnt
        for figure in row.figures:
            assert figure.where or figure.published is None, f"{row.id}: {figure}"


@pytest.mark.parametrize(
    ("before", "after", "message"),
    [
        ('kind = "match"', 'kind = "mach"', "did you mean match"),
        ('measure = "won"', 'measure = "wun"', "did you mean won"),
        ('"15 of 100"', '"15 out of 100"', "expected for example 15 of 100"),
        ('"15 of 100"', '"115 of 100"', "at most as many hits as games"),
        ('"15 of 100"', '"25-20%"', "the lower number first"),
        ("full = 40", 'full = "many"', "expected a whole number"),
        ("full = 40", "full = -3", "full is -3: expected a number of games"),
        ('measure = "won"', 'measure = "reached:500"', "500 is not a tile"),
        ('measure = "won"', 'measure = "tile@0"', "number of games after @"),
        ('measure = "won"', 'measure = "pairs:128"', "only available for player"),
        ('against = "random"', 'against = "best"', "against itself"),
        ('by = "won"', 'by = "wun"', "rankings: unknown measure 'wun': did you mean won"),
        ('player = "random"', 'player = "ntuple:weights={weights}"', "needs a row with train"),
        ('against = "random"', 'against = "randm"', "did you mean random"),
        ('id = "best"', 'id = "random"', "each id once"),
        ('player = "random"', "", "expected a player"),
        ('rules = "2x2"', 'rules = "2x"', "row random"),
        ("question", "questoin", "did you mean question"),
        ('title = "Small"', "", "has no title"),
        ('player = "random"', 'player = "{trained}"', "in a row of kind train"),
        ("full = 40", "full = 40\ntrainings = 0", "expected 1 to 100"),
        ('by = "won"', 'by = "win"', "no row on 2x2 has the figure win"),
        ("full = 40", 'full = 40\ntrain = { method = "ntuple" }', "for rows of kind train or regret"),
        ("full = 40", 'full = 40\nspawn = "2:0.9"', "row random: spawn"),
        (
            'kind = "match"\nrules = "2x2"\ngoal = 16\nplayer = "random"',
            'kind = "bound"\nspawn = "2:1"',
            "not allowed for kind bound",
        ),
    ],
)
def test_a_wrong_file_is_refused_in_a_line(small: Path, before: str, after: str, message: str) -> None:
    wrong = small.with_name("wrong.toml")
    wrong.write_text(SMALL.replace(before, after, 1))
    with pytest.raises(FileError, match=message):
        read_study(wrong)


def test_a_row_may_have_spawns_of_its_own(small: Path) -> None:
    rows = []
    for i, spawn in enumerate(("", 'spawn = "2:0.9,4:0.1"', 'spawn = "2:0.5,4:0.5"')):
        path = small.with_name(f"spawns-{i}.toml")
        path.write_text(SMALL.replace("full = 40", f"full = 40\n{spawn}", 1))
        rows.append(read_study(path).row("random"))
    plain, same, even = rows
    assert plain.digest("full") == same.digest("full") != even.digest("full")
    assert even.rules("full") == Rules.from_text("2x2", goal=16, spawn="2:0.5,4:0.5")
    assert write_run(even, "full") == "random on 2x2, spawns 2:0.5,4:0.5"


def test_a_row_is_run_again_for_what_its_games_do_not_tell(small: Path) -> None:
    path = small.with_name("counts.toml")
    path.write_text(SMALL.replace('{ measure = "sum" }', '{ measure = "interventions" }', 1))
    before, after = (read_study(each).row("random").digest("full") for each in (small, path))
    assert before != after
    path = small.with_name("length.toml")
    path.write_text(SMALL.replace('{ measure = "sum" }', '{ measure = "length" }', 1))
    assert read_study(path).row("random").digest("full") == before


def test_an_unknown_name_gets_the_nearest() -> None:
    with pytest.raises(UsageError, match="did you mean 000-optimal"):
        load_study("000-optimol")


# --- published figures and verdicts ------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "value", "low", "high"),
    [
        ("15 of 100", 0.15, 0.0931, 0.2328),
        ("96.26%", 0.9626, 0.96255, 0.96265),
        ("3,932,156", 3932156, 3932155.5, 3932156.5),
        ("about 30 s", 30, 15, 45),
        ("2.75 x", 2.75, 2.745, 2.755),
        ("20-25%", 0.225, 0.2, 0.25),
        ("1,000-1,500", 1250, 1000, 1500),
        ("above 6, up to 7", 6.5, 6, 7),  # rounded up to 7
        ("exactly 0", 0, 0, 0),
        ("at least 1 of 15", None, 0.0119, 1),
        ("at least 21,600 s", None, 21600, math.inf),
        ("at most 1.5 s", None, -math.inf, 1.5),
    ],
)
def test_published_figures(text: str, value: float | None, low: float, high: float) -> None:
    found = Published.from_text(text)
    assert found.value == (value and pytest.approx(value))
    assert (found.low, found.high) == pytest.approx((low, high), abs=1e-4)


@pytest.mark.parametrize(
    ("measure", "published", "ours", "word"),
    [
        ("won", "15 of 100", Measured.rate(19, 100), "agrees"),
        ("won", "15 of 100", Measured.rate(40, 100), "better"),
        ("won", "85 of 100", Measured.rate(40, 100), "worse"),
        ("reached:2048", "at least 1 of 15", Measured.rate(900, 1000), "agrees"),
        ("reached:2048", "at least 1 of 15", Measured.rate(0, 1000), "worse"),
        ("loss", "at most 5", Measured.mean([1.0, 2.0] * 10), "agrees"),
        ("loss", "at most 5", Measured.mean([7.0, 7.5] * 10), "worse"),
        ("won", "20-25%", Measured.rate(200, 1000), "agrees"),
        ("won", "20-25%", Measured.rate(400, 1000), "better"),
        ("score", "at least 500", Measured.mean([600, 700] * 10), "agrees"),
        ("score", "at least 500", Measured.mean([300, 301] * 10), "worse"),
        ("score", "at most 500", Measured.mean([300, 301] * 10), "agrees"),
        ("score", "at most 500", Measured.mean([600, 601] * 10), "better"),
        ("score", "at most 500", Measured.mean([600, 601] * 9), "not comparable"),  # 18 games
        ("best-of-ten:512", "20 of 20", Measured.rate(0, 2), "worse"),  # of 20 games
        ("best-of-ten:512", "20 of 20", Measured.rate(0, 1), "not comparable"),
        ("pairs:32", "above 6, up to 7", Measured.mean([6.0, 7.0] * 10), "agrees"),
        ("pairs:32", "above 6, up to 7", Measured.mean([8.0, 8.5] * 10), "better"),
        ("counted", "33", Measured.exact(33), "agrees"),
        ("counted", "33", Measured.exact(34), "differs"),
        ("win", "96.26%", Measured.exact(0.962613), "agrees"),
        ("win", "96.14%", Measured.exact(0.961484), "differs"),
        ("bytes", "268,435,456", Measured.exact(1000), "better"),
        ("move-time", "about 1 s", Measured.mean([0.1, 0.2]), "not comparable"),
        ("move-time", "at most 1 s", Measured.mean([0.1, 0.2]), "not comparable"),
        ("training-time", "21,600 s", Measured.single(5.0), "not comparable"),
        ("training-time", "at least 21,600 s", Measured.single(5.0), "not comparable"),
        ("score", "100", Measured.mean([5.0]), "not comparable"),
    ],
)
def test_verdicts_come_from_intervals(measure: str, published: str, ours: Measured, word: str) -> None:
    figure = Figure(Measure.from_text(measure), Published.from_text(published), "a table")
    assert find_agreement(figure, ours).word == word


def test_what_cannot_be_compared_says_why() -> None:
    figure, published = Figure(Measure("score")), Published.from_text("100")
    assert str(find_agreement(figure, Measured.mean([1, 2, 3]))) == "nothing published"
    assert str(find_agreement(Figure(Measure("solve-time")), Measured.single(0.5))) == "nothing published"
    assert str(find_agreement(figure, None)) == "not measured"
    few = find_agreement(Figure(Measure("score"), published), Measured.mean([1, 2, 3]))
    assert str(few) == "not comparable: only 3 games, and a verdict needs 20"
    many = Measured.mean([1.0, 2.0] * 10)
    few = find_agreement(Figure(Measure("score"), against="other"), many, Measured.mean([1, 2]))
    assert "other has only 2 games" in str(few)
    assert "picture" in str(
        find_agreement(Figure(Measure("score"), published, differs="a picture"), Measured.mean([1, 2]))
    )
    assert "measured once" in str(find_agreement(Figure(Measure("score"), published), Measured.mean([5.0])))
    against = Figure(Measure("training-time"), against="other")
    assert "measured once" in str(find_agreement(against, Measured.single(5.0), Measured.mean([4.0, 5.0])))
    assert "other is not measured" in str(find_agreement(against, Measured.single(5.0)))


def test_a_row_of_another_method_says_so() -> None:
    figure, ours = Figure(Measure("won"), Published.from_text("15 of 100"), "a table"), Measured.rate(40, 100)
    found = find_agreement(figure, ours, other_method="a network instead of a search")
    assert (found.word, found.brief) == ("better", "better, other method")
    assert str(found) == "better, other method: a network instead of a search"
    against = Figure(Measure("won"), against="other")  # our rows differ, of course
    assert str(find_agreement(against, ours, Measured.rate(10, 100), other_method="a network")) == "better"
    few = find_agreement(figure, Measured.rate(4, 10), other_method="a network")
    assert str(few) == "not comparable: only 10 games, and a verdict needs 20"


def test_a_published_mean_without_a_spread_varies_as_ours_do(small: Path) -> None:
    # A mean of n games whose standard deviation is s has the half interval 1.96 s / sqrt(n).
    one = Measured(100, 100 - 1.96 * 50 / 20, 100 + 1.96 * 50 / 20, 400)
    assert spread_of_mean([one], 25) == pytest.approx(1.96 * 50 / 5)
    other = Measured(140, 140, 140, 400)  # trainings apart by 40: a standard deviation of 28.3 among them
    assert spread_of_mean([other, replace(other, value=100)], 25) == pytest.approx(1.96 * 28.284, rel=1e-3)
    path = small.with_name("spread.toml")
    path.write_text(SMALL.replace('{ measure = "sum" }', '{ measure = "sum", published = "14", games = 10 }'))
    row = read_study(path).row("random")
    games = [GameResult(i, 100, 10, 8, 20 + i % 2, None, 0.5) for i in range(40)]
    result = Result("random", row.digest("full"), 1, games=games)
    line = make_line(read_study(path), row, row.figures[1], {"random": result}, "full")
    assert line.reference is not None
    assert line.reference.value == 14
    assert 14.5 < line.reference.high < 15
    path = small.with_name("rate.toml")
    path.write_text(SMALL.replace('"15 of 100"', '"15 of 100", games = 100'))
    with pytest.raises(FileError, match="of a published mean"):
        read_study(path)


def test_trainings_are_summed_up_by_the_wider_interval() -> None:
    apart = Measured.mean_of([Measured(10, 9, 11, 50), Measured(20, 19, 21, 50), Measured(30, 29, 31, 50)])
    assert (apart.value, apart.n) == (20, 150)
    assert apart.high - 20 == pytest.approx(4.302653 * 10 / 3**0.5, abs=1e-4)
    alike = Measured.mean_of([Measured.rate(0, 200)] * 3)  # three times none is not certainly none
    assert alike.low == 0 < alike.high == pytest.approx(Measured.rate(0, 200).high / 3**0.5)
    far = Measured.mean_of([Measured.rate(0, 200), Measured.rate(200, 200)], most=1.0)
    assert (far.low, far.value, far.high) == (0, 0.5, 1)
    assert Measured.mean_of([Measured.exact(7)] * 3) == Measured.exact(7)
    single = Measured.mean_of([Measured.single(1), Measured.single(3)])
    assert single.has_interval
    assert (single.value, single.n) == (2, 2)


def test_the_difference_of_two_rates_is_newcombes() -> None:
    # 56/70 and 48/80: the example of Newcombe (1998), method 10, which gives 0.0524 to 0.3339.
    a, b = Measured.rate(56, 70).interval, Measured.rate(48, 80).interval
    assert difference(a, b) == pytest.approx(Interval(0.2, 0.0524, 0.3339), abs=1e-4)


# --- games -------------------------------------------------------------------------------


def test_the_tile_sum_is_that_of_the_last_board() -> None:
    for text in ("4x4", "2 2 / # #"):
        rules = Rules.from_text(text, spawn="2:0.5,4:0.3,8:0.2")
        for seed in range(5):
            game = Game(rules, seed)
            while not game.is_over:
                game.play(game.board.legal_moves()[0])
            episode = Episode.from_game(game, "first", 0.0)
            assert tile_sum(rules, seed, len(episode.moves)) == game.board.tile_sum


def test_figures_of_games() -> None:
    games = [GameResult(i, 100 * i, 10, 2**i, 4 * i, 5 if i > 2 else None, 0.5) for i in range(1, 5)]
    found = {name: measure_games(games, Measure.from_text(name)) for name in ("won", "score", "tile", "sum", "score@3")}
    assert {name: each.value for name, each in found.items() if each} == {
        "won": 0.5,
        "score": 250,
        "tile": 7.5,
        "sum": 10,
        "score@3": 150,
    }
    assert measure_games(games, Measure.from_text("overrides")) is None
    assert measure_games(games, Measure.from_text("interventions")) is None  # as of files of before it was counted
    counted = [game._replace(n_overridden=9, n_replaced=game.number) for game in games]
    found_replaced = measure_games(counted, Measure.from_text("interventions"))
    assert found_replaced is not None
    assert found_replaced.value == 2.5
    richer = [game._replace(score=game.score + 7) for game in games]
    assert paired_difference(richer, games, Measure("score")) == Interval(7, 7, 7)
    assert paired_difference(richer[:2], games, Measure("score")) is None


def test_figures_of_the_evaluations_in_a_training() -> None:
    curve = [{"n_games": 25.0 * i, "n": 10, "max_tile": 256 << i % 2, "tile_sum": 400 + i} for i in range(3)]
    curve.append({"n_games": 80.0, "max_tile": 4096, "tile_sum": 9999})  # a point of the training itself
    reached = measure_evaluations(curve, Measure.from_text("evaluations:512"))
    assert reached == Measured.rate(1, 3)
    assert measure_evaluations(curve, Measure("evaluation-sum")) == Measured.mean([400, 401, 402])
    assert measure_evaluations(curve, Measure("score")) is None
    assert measure_evaluations([], Measure.from_text("evaluations:512")) is None
    assert Measure.from_text("evaluations:512").n_games(3) == 30
    with pytest.raises(FileError, match="expected for example"):
        Measure.from_text("evaluations")


def test_the_highest_score() -> None:
    for board in ("2x2", "1x3"):
        rules = Rules.from_text(board)
        assert highest_score(rules) <= chain_score(rules.shape.n_cells)
    assert highest_score(Rules.from_text("2x2")) == chain_score(4)


def test_the_best_of_ten_games_is_counted_in_whole_tens() -> None:
    tiles = [128] * 9 + [256] + [128] * 10 + [512] * 9  # the last ten is not whole
    games = [GameResult(i, 0, 100, tile, 0, None, 1.0) for i, tile in enumerate(tiles)]
    found = measure_games(games, Measure.from_text("best-of-ten:256"))
    assert found is not None
    assert (found.value, found.n) == (0.5, 2)
    assert measure_games(games[:9], Measure.from_text("best-of-ten:256")) is None
