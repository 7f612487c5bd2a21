"""Games through the page: the server is the truth, and nothing is lost."""

import json
import shlex
from itertools import pairwise

import pytest
from web_server import Web, serving

from lab2048.arena.session import Session
from lab2048.cli.app import run
from lab2048.players import Decision
from lab2048.records.store import Store
from lab2048.rules import Board, Game, Rules


@pytest.fixture(scope="module")
def web(tmp_path_factory):
    with serving(tmp_path_factory.mktemp("web")) as found:
        yield found


def stored(web: Web, id_: int):
    """A game as another program sees it in the file."""
    with Store.open(web.lab.store.path, create=False) as store:
        return store.get(id_).episode


def test_a_move_is_kept_at_once_and_told_in_full(web):
    state = web.begin(seed=7)
    game = Game(Rules.from_text("4x4"), 7)
    assert state["ranks"] == list(game.board.ranks)
    change = web.post(f"/api/games/{state['id']}/moves", {"moves": "w", "rev": state["rev"]})
    turn = game.play(0)
    [told] = change["turns"]
    assert (told["cell"], told["rank"], told["reward"]) == (*turn.spawn, turn.reward)
    assert change["state"]["ranks"] == list(turn.board.ranks)
    assert change["state"]["rev"] > state["rev"]
    assert stored(web, state["id"]).moves == "w"


def test_the_command_of_a_game_has_all_of_its_rules(web):
    rules = {"goal": 64, "spawn": "2:0.5,4:0.5", "start": 1, "spawner": "worst"}
    state = web.begin("##x|###|#4#", seed=7, **rules)
    command = web.get(f"/api/games/{state['id']}")["commands"]["play"]
    options = "--goal 64 --spawn 2:0.5,4:0.5 --start 1 --spawner worst --seed 7"
    assert command == f"lab2048 play --rules '##x|###|#4#' {options}"
    assert web.get(f"/api/games/{state['id']}/replay")["command"] == f"lab2048 games replay {state['id']}"
    assert web.get(f"/api/games/{web.begin(seed=7)['id']}")["commands"]["play"] == "lab2048 play --rules 4x4 --seed 7"


def test_letters_that_are_illegal_when_their_turn_comes_are_passed_over(web):
    state = web.begin("1x2", seed=1)
    change = web.post(f"/api/games/{state['id']}/moves", {"moves": "wsdaw"})
    assert {turn["move"] for turn in change["turns"]} <= {1, 3}
    assert change["state"]["n_moves"] == len(change["turns"]) == len(stored(web, state["id"]).moves)


def test_a_stale_change_is_refused_and_the_game_told(web):
    state = web.begin()
    path = f"/api/games/{state['id']}"
    change = web.post(f"{path}/moves", {"moves": "wa", "rev": state["rev"]})
    for what, body in (
        ("moves", {"moves": "s"}),
        ("undo", {"n": 1}),
        ("redo", {"n": 1}),
        ("step", {"player": "first"}),
    ):
        answer = web.post(f"{path}/{what}", {**body, "rev": state["rev"]}, status=409)
        assert "has changed meanwhile" in answer["error"]
        assert answer["state"] == change["state"]
    assert stored(web, state["id"]).moves == "wa"


def test_undo_crosses_a_win_and_redo_wins_again(web):
    state = web.begin("44|##|##", goal=8)
    path = f"/api/games/{state['id']}"
    won = web.post(f"{path}/moves", {"moves": "a"})["state"]
    assert won["won"]
    assert won["score"] == 8
    undone = web.post(f"{path}/undo", {"n": 1, "rev": won["rev"]})["state"]
    assert not undone["won"]
    assert undone["score"] == 0
    assert undone["can_redo"]
    again = web.post(f"{path}/redo", {"n": 1})
    assert again["state"]["won"]
    assert again["state"]["ranks"] == won["ranks"]
    assert [turn["number"] for turn in again["turns"]] == [1]


def test_who_made_which_move_is_recorded(web):
    state = web.begin()
    path = f"/api/games/{state['id']}"
    web.post(f"{path}/moves", {"moves": "w"})
    web.post(f"{path}/step", {"player": "first:order=sd"})
    change = web.post(f"{path}/step", {"player": "random"})
    last = web.post(f"{path}/moves", {"moves": "wasd"})["state"]
    assert change["state"]["mover"] == "random"
    assert last["movers"] == [[1, "human"], [2, "first:order=sd"], [3, "random"], [4, "human"]]
    assert stored(web, state["id"]).movers == ((2, "first:order=sd"), (3, "random"), (4, "human"))
    undone = web.post(f"{path}/undo", {"n": last["n_moves"] - 2})["state"]
    assert undone["movers"] == [[1, "human"], [2, "first:order=sd"]]
    assert stored(web, state["id"]).movers == ((2, "first:order=sd"),)


def test_a_player_plays_by_itself_and_the_tab_that_watches_sees_every_move(web):
    state = web.begin(seed=3)
    path = f"/api/games/{state['id']}"
    seen = []
    with web.events(str(state["id"])) as events:
        web.ask("PUT", f"{path}/auto", {"player": "random", "speed": 0})
        for event, data in events:
            if event == "game":
                seen += data["turns"]
                if data["state"]["over"] and not data["state"]["auto"]["running"]:
                    break
    game = Game(Rules.from_text("4x4"), 3)
    for turn in seen:
        made = game.play(turn["move"])
        assert (turn["number"], turn["cell"], turn["rank"]) == (made.number, *made.spawn)
    assert game.is_over
    episode = stored(web, state["id"])
    assert (episode.moves, episode.player) == (game.moves_text(), "random")
    assert data["state"]["best"] < data["state"]["best_assisted"]


def test_a_person_takes_over_from_a_player(web):
    state = web.begin(seed=4)
    path = f"/api/games/{state['id']}"
    with web.events(str(state["id"])) as events:
        web.ask("PUT", f"{path}/auto", {"player": "first", "speed": 100})
        next(data for event, data in events if event == "game" and data["turns"])
        paused = web.ask("PUT", f"{path}/auto", {"player": "first", "speed": 100, "running": False})
        assert not paused["auto"]["running"]
        mine = web.post(f"{path}/moves", {"moves": "wdsa", "rev": paused["rev"]})
    assert [turn["mover"] for turn in mine["turns"]] == ["human"] * len(mine["turns"])
    assert web.get(path)["state"]["n_moves"] == mine["state"]["n_moves"]


def test_own_changes_are_not_echoed_but_others_see_them(web):
    state = web.begin()
    path = f"/api/games/{state['id']}"
    with web.events(str(state["id"]), "tab-number-1") as mine, web.events(str(state["id"]), "tab-number-2") as others:
        for events in (mine, others):
            next(data for event, data in events if event == "game")
        web.post(f"{path}/moves", {"moves": "w"}, **{"X-Tab": "tab-number-1"})
        web.post(f"{path}/undo", {"n": 1}, **{"X-Tab": "tab-number-2"})
        assert next(data["kind"] for event, data in mine if event == "game") == "undo"
        assert next(data["kind"] for event, data in others if event == "game") == "moves"


def test_replay_fork_and_export_tell_the_same_game(web):
    state = web.begin(seed=5)
    path = f"/api/games/{state['id']}"
    for _ in range(10):
        web.post(f"{path}/moves", {"moves": "wasd"})
    whole = web.get(f"{path}/replay")
    part = web.get(f"{path}/replay?first=6&last=9")
    assert part["turns"] == whole["turns"][5:9]
    game = Game(Rules.from_text("4x4"), 5)
    assert whole["first"] == list(game.board.ranks)
    game.replay(web.get(path)["moves"][:5])
    assert part["first"] == list(game.board.ranks)
    assert part["score"] == game.score
    fork = web.post(f"{path}/fork", {"at": 5})["state"]
    assert fork["ranks"] == part["first"]
    assert fork["id"] != state["id"]
    assert "expected at most" in web.error("POST", f"{path}/fork", {"at": 1000})


def test_a_deleted_game_comes_back(web):
    state = web.begin(seed=6)
    path = f"/api/games/{state['id']}"
    before = web.post(f"{path}/moves", {"moves": "wasd"})["state"]
    assert web.ask("DELETE", path) == {"deleted": state["id"]}
    assert "there is no game" in web.error("GET", path)
    assert state["id"] not in [game["id"] for game in web.get("/api/games")["games"]]
    back = web.post(f"{path}/restore")
    assert {**back, "rev": 0} == {**before, "rev": 0, "best": back["best"], "best_assisted": back["best_assisted"]}
    assert "was not deleted" in web.error("POST", f"{path}/restore", {})


@pytest.mark.parametrize(
    ("player", "speed", "n"), [("random", 0, 25), ("random", 100, 25), ("expectimax:depth=3", 0, 50)]
)
def test_a_game_that_plays_by_itself_stays_deleted(web, player, speed, n):
    for seed in range(n):
        state = web.begin(seed=seed)
        path = f"/api/games/{state['id']}"
        with web.events(str(state["id"])) as events:
            web.ask("PUT", f"{path}/auto", {"player": player, "speed": speed})
            next(data for event, data in events if event == "game" and data["turns"])
        autoplay = web.lab.open_games._autoplays[state["id"]]
        web.ask("DELETE", path)
        autoplay.join()
        assert (autoplay.is_running, autoplay.error) == (False, "")
        assert not web.lab.store.has(state["id"])
        assert "there is no game" in web.error("GET", path)
        assert "there is no game" in web.error("POST", f"{path}/moves", {"moves": "wasd"})
        assert not web.lab.store.has(state["id"])
    assert web.get("/api/status")["store"] == ""


def test_those_who_watch_a_game_are_told_that_it_is_deleted_and_restored(web):
    state = web.begin(seed=6)
    id_, path = state["id"], f"/api/games/{state['id']}"
    web.post(f"{path}/moves", {"moves": "wasd"})
    with web.events(str(id_)) as events:
        next(data for event, data in events if event == "game")
        web.ask("DELETE", path)
        assert next(data for event, data in events if event != "status") == {"deleted": id_}
        with web.events(str(id_), "tab-that-comes-late") as late:
            assert next(data for event, data in late if event == "deleted") == {"deleted": id_}
        back = web.post(f"{path}/restore")
        assert next(data["state"] for event, data in events if event == "game") == back
        with Store.open(web.lab.store.path, create=False) as other:
            other.remove(id_)
        web.error("POST", f"{path}/moves", {"moves": "wasd"})
        assert next(event for event, _ in events if event != "status") == "deleted"


def test_a_game_that_another_program_deletes_is_gone(web):
    state = web.begin(seed=6)
    path = f"/api/games/{state['id']}"
    web.post(f"{path}/moves", {"moves": "wasd"})
    with Store.open(web.lab.store.path, create=False) as other:
        other.remove(state["id"])
    assert "there is no game" in web.error("POST", f"{path}/moves", {"moves": "wasd"})
    assert not web.lab.store.has(state["id"])
    assert web.get("/api/status")["store"] == ""


def test_a_game_that_another_program_changes_is_told_as_it_is(web):
    state = web.begin(seed=6)
    path = f"/api/games/{state['id']}"
    with Store.open(web.lab.store.path, create=False) as store, Session.open(store, state["id"]) as other:
        other.play_letters("dsdsds")
    answer = web.post(f"{path}/moves", {"moves": "wa"}, status=409)
    assert answer["state"]["ranks"] == list(other.game.board.ranks)
    assert web.post(f"{path}/undo", {"n": 100})["state"]["n_moves"] == 0


def test_exported_games_are_imported_elsewhere(web, tmp_path):
    state = web.begin(seed=8)
    web.post(f"/api/games/{state['id']}/moves", {"moves": "wasd"})
    text = web.client.get(f"/api/games/export?ids={state['id']}").text
    with serving(tmp_path) as other:
        answer = other.client.post(
            "/api/games/import", content=text + "nonsense\n", headers={"content-type": "application/x-ndjson"}
        ).json()
        assert (answer["imported"], answer["refused"]) == (1, 1)
        assert answer["errors"][0].startswith("line 2:")
        [id_] = answer["ids"]
        assert other.get(f"/api/games/{id_}")["moves"] == stored(web, state["id"]).moves


def test_games_are_listed_from_their_first_move_on(web):
    state = web.begin("2x3", seed=9)
    assert state["id"] not in [game["id"] for game in web.get("/api/games")["games"]]
    web.post(f"/api/games/{state['id']}/moves", {"moves": "wasd"})
    listed = web.get("/api/games?board=2x3&limit=5")["games"]
    assert [game["id"] for game in listed] == [state["id"]]
    assert listed[0]["players"] == ["human"]


def test_best_stays_when_another_game_is_deleted(web):
    mine, other = web.begin("4x4", seed=1), web.begin("4x4", seed=2)
    played = web.post(f"/api/games/{mine['id']}/moves", {"moves": "wasd" * 25})["state"]
    web.post(f"/api/games/{mine['id']}/undo", {"n": 20})
    web.post(f"/api/games/{other['id']}/moves", {"moves": "wasd"})
    web.ask("DELETE", f"/api/games/{other['id']}")
    assert web.get(f"/api/games/{mine['id']}")["state"]["best"] == played["best"] > 0


def test_best_is_of_people_alone_with_the_same_rules(web):
    first = web.begin("2x2", seed=1)
    mine = web.post(f"/api/games/{first['id']}/moves", {"moves": "wasd" * 5})["state"]
    other = web.begin("2x2", seed=2)
    assert (other["best"], other["score"]) == (mine["score"], 0)
    assert web.begin("2x2", seed=2, goal=16)["best"] == 0


@pytest.mark.parametrize("board", ["4x4", "##x|#2#|###", "hex1", "hex2", "8x8"])
def test_a_shape_has_all_that_a_renderer_needs(web, board):
    shape = web.client.get("/api/shape", params={"board": board}).json()
    true = Board.from_text(board).shape
    assert shape["lines"] == [[list(line) for line in lines] for lines in true.lines]
    cells = {entry["cell"]: (entry["x"], entry["y"]) for entry in shape["entries"] if entry["cell"] >= 0}
    assert len(cells) == shape["n_cells"] == true.n_cells
    for move, lines in zip(shape["moves"], shape["lines"], strict=True):
        for line in lines:
            for near, far in pairwise(line):  # tiles slide from far to near
                step = (cells[near][0] - cells[far][0], cells[near][1] - cells[far][1])
                assert step == pytest.approx((move["dx"], move["dy"]), abs=1e-5)
    assert shape["n_symmetries"] == len(true.symmetries)


@pytest.mark.parametrize(
    ("rules", "player", "named"),
    [
        ({"board": "4x4"}, "greedy:eval=snake", ["--seed"]),
        ({"board": "3x3", "goal": 64, "spawn": "2:0.5,4:0.5"}, "expectimax:depth=2", ["--goal", "--spawn", "--seed"]),
        ({"board": "##x|###|###", "spawner": "first"}, "montecarlo:rollouts=50", ["--spawner", "--seed"]),
        ({"board": "hex2", "start": 4}, "random", ["--seed"]),
    ],
)
def test_the_command_of_a_hint_gives_the_same_hint(web, capsys, rules, player, named):
    state = web.post("/api/games", {"rules": rules, "seed": 11})["state"]
    hint = web.post("/api/hint", {"game": state["id"], "player": player})
    program, *words = shlex.split(hint["command"])
    assert (program, [word for word in words if word.startswith("--")]) == ("lab2048", [*named, "--player"])
    assert run([*words, "--json"]) == 0
    typed = json.loads(capsys.readouterr().out)
    assert typed["best"] == next(value["name"] for value in hint["values"] if value["move"] == hint["move"])
    assert typed["values"] == {value["name"]: value["value"] for value in hint["values"]}


def test_readiness_is_asked_for_by_player_or_for_estimates(web, monkeypatch):
    assert web.get("/api/ready") == {"ready": True, "doing": "preparing the players"}
    monkeypatch.setattr(
        web.lab.players.preparation, "has", lambda groups: set(groups) <= {"search", "search-classic", "search-packed"}
    )
    assert web.get("/api/ready?player=greedy")["ready"]
    assert not web.get("/api/ready?player=ntuple")["ready"]
    assert not web.get("/api/ready?solve=true")["ready"]
    assert "unknown" in web.error("GET", "/api/ready?player=nobody")


def test_hints_value_every_legal_move(web):
    state = web.begin(seed=7)
    hint = web.post("/api/hint", {"game": state["id"], "player": "greedy"})
    assert sorted(value["move"] for value in hint["values"]) == state["legal"]
    assert hint["values"][0]["move"] == hint["move"]
    assert hint["rev"] == state["rev"]
    assert hint["command"].startswith("lab2048 hint ")
    over = web.post("/api/hint", {"board": "24|42", "player": "random"})
    assert (over["move"], over["values"]) == (None, [])


def test_a_shield_says_why_it_moved(web):
    id_ = web.begin(seed=7)["id"]
    web.post(f"/api/games/{id_}/moves", {"moves": "w"})
    for _ in range(3):
        change = web.post(f"/api/games/{id_}/step", {"player": "shield:warm_up=0"})
    turn = change["turns"][-1]
    note = web.get(f"/api/games/{id_}/notes/{turn['number']}")
    assert note["text"].startswith("Safe: ")
    assert note["made"] == ["up", "right", "down", "left"][turn["move"]]
    assert note["made"] in [each["move"] for each in note["considered"]]
    assert web.get(f"/api/games/{id_}/notes/1") == {
        "turn": 1, "text": "", "inner": "", "proposed": "", "safe": [], "masked": "", "made": "", "considered": [],
    }  # by a person  # fmt: skip
    assert "has no move 99" in web.error("GET", f"/api/games/{id_}/notes/99")


@pytest.mark.parametrize(("best", "value", "loss"), [(5.0, 5.0, 1e300), (float("-inf"), -1e300, 0.0)])
def test_what_a_player_holds_for_lost_is_told_as_a_number(web, monkeypatch, best, value, loss):
    values = {0: best, 1: float("-inf"), 2: float("-inf"), 3: float("-inf")}
    monkeypatch.setattr(web.lab.players, "decide", lambda *_, **__: Decision(0, values))
    id_ = web.begin(seed=7)["id"]
    hint = web.post("/api/hint", {"game": id_, "player": "greedy"})
    assert [(each["value"], each["loss"]) for each in hint["values"]] == [(value, 0.0), *3 * [(-1e300, loss)]]


def test_values_of_a_guessing_network_are_no_scores(web, monkeypatch):
    decisions = [Decision(0, {0: 5.0, 1: 4.0}, is_guess=is_guess, confidence=0.1) for is_guess in (False, True)]
    monkeypatch.setattr(web.lab.players, "decide", lambda *_, **__: decisions.pop(0))
    id_ = web.begin(seed=7)["id"]
    assert web.post("/api/hint", {"game": id_, "player": "ntuple:depth=1"})["unit"] == "score"
    hint = web.post("/api/hint", {"game": id_, "player": "ntuple:depth=1"})
    assert (hint["unit"], hint["confidence"]) == ("value", 0.1)
    assert ". Low confidence: " in hint["sentence"]


def test_the_page_can_be_put_on_the_home_screen_of_a_phone(web):
    manifest = web.client.get("/static/lab2048.webmanifest")
    assert manifest.headers["content-type"].startswith("application/manifest+json")
    kinds = {web.client.get(icon["src"]).headers["content-type"] for icon in manifest.json()["icons"]}
    assert kinds == {"image/svg+xml", "image/png"}


def test_a_finished_game_does_not_stay_in_memory(web):
    over, other = web.begin("2x2", seed=3), web.begin("4x4", seed=4)
    while not over["over"]:
        over = web.post(f"/api/games/{over['id']}/moves", {"moves": "wasd"})["state"]
    kept = web.lab.open_games._open
    for id_ in (over["id"], other["id"]):
        kept[id_].used_at -= 3600
    with web.events(games=str(over["id"])) as events:
        next(data for event, data in events if event == "game")
        kept[over["id"]].used_at -= 3600
        web.begin("2x2")
        assert over["id"] in kept  # a tab shows it
    kept[over["id"]].used_at -= 3600
    while web.lab.open_games.bus.is_watched(over["id"]):  # until the server has seen that the tab is gone
        web.get("/api/status")
    web.begin("2x2")
    assert over["id"] not in kept
    assert other["id"] in kept
    assert web.get(f"/api/games/{over['id']}")["state"]["ranks"] == over["ranks"]
