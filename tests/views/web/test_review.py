"""Reviews through the page: started, followed, kept, exported; positions and other moves."""

import threading
import time

import pytest
from web_server import Web, serving

from lab2048.arena.review.review import review_game
from lab2048.arena.review.reviewer import make_reviewer
from lab2048.rules import Game, Rules
from lab2048.views.web.services import reviews

LINES = {"content-type": "application/x-ndjson"}


@pytest.fixture(scope="module")
def web(tmp_path_factory):
    with serving(tmp_path_factory.mktemp("web")) as found:
        yield found


def reviewed(web: Web, id_: int) -> dict:
    state = web.post(f"/api/games/{id_}/review", {})
    while state["state"] == "running":
        time.sleep(0.02)
        state = web.get(f"/api/games/{id_}/review")
    return state


def played(web: Web, moves: str = "wasd" * 20) -> int:
    id_ = web.begin("2x2", seed=7)["id"]
    web.post(f"/api/games/{id_}/moves", {"moves": moves})
    return id_


def test_a_game_is_reviewed_and_the_review_is_kept(web: Web) -> None:
    id_ = played(web)
    assert web.get(f"/api/games/{id_}/review")["state"] == "none"
    state = reviewed(web, id_)
    assert (state["state"], state["error"]) == ("done", "")
    found = state["review"]
    total = found["initial_value"] + found["luck"] + found["skill"] + found["drift"]
    assert total == pytest.approx(found["final_score"])
    n = found["n_moves"]
    columns = (found["losses"], found["lucks"], found["best"], found["grade_letters"], found["values"][1:])
    assert [len(column) for column in columns] == [n] * 5
    assert web.get(f"/api/games/{id_}/review?known={state['version']}")["review"] is None
    web.lab.reviews._known.clear()  # as after a restart
    again = web.get(f"/api/games/{id_}/review")
    assert (again["state"], again["review"]) == ("done", found)


def test_a_review_is_exported(web: Web) -> None:
    id_ = played(web)
    assert "not reviewed yet" in web.error("GET", f"/api/games/{id_}/review.json")
    found = reviewed(web, id_)["review"]
    data = web.get(f"/api/games/{id_}/review.json")
    assert data["schema"] == "lab2048/review-1"
    assert len(data["moves"]) == found["n_moves"]
    page = web.client.get(f"/api/games/{id_}/review.html")
    assert page.headers["content-type"].startswith("text/html")
    assert "review/file.js" in page.text
    assert "src=" not in page.text.split("<body>")[1]


def test_a_game_that_goes_on_is_reviewed_again(web: Web) -> None:
    id_ = played(web, "wasd")
    first = reviewed(web, id_)["review"]["n_moves"]
    web.post(f"/api/games/{id_}/moves", {"moves": "wasd"})
    assert web.get(f"/api/games/{id_}/review")["state"] == "none"
    assert reviewed(web, id_)["review"]["n_moves"] > first


def test_a_review_can_be_stopped(web: Web) -> None:
    id_ = played(web)
    assert web.ask("DELETE", f"/api/games/{id_}/review")["state"] == "none"


def test_a_position_is_answered_while_a_long_review_goes_on(web: Web, monkeypatch: pytest.MonkeyPatch) -> None:
    answered, was_in_time = threading.Event(), []

    def endless(_store, _id, _episode, _game, _reviewer, progress):
        for part in range(1000):
            progress(part)
            if answered.wait(0.05):
                was_in_time.append(True)
                break
        raise RuntimeError("an error that nobody expects")

    monkeypatch.setattr(reviews, "review_stored", endless)
    id_ = played(web)
    assert web.post(f"/api/games/{id_}/review", {})["state"] == "running"
    assert web.post(f"/api/games/{id_}/position", {"at": 0})["values"]
    answered.set()
    state = reviewed(web, id_)
    assert was_in_time
    assert (state["state"], state["error"]) == ("failed", "RuntimeError: an error that nobody expects")


def test_questions_go_before_the_next_part_of_a_review() -> None:
    lock, order, is_asking = reviews.ReviewerLock(), [], threading.Event()

    def ask(name: str) -> None:
        is_asking.set()
        with lock.question():
            order.append(name)

    with lock.review():
        threads = [threading.Thread(target=ask, args=(name,)) for name in "ab"]
        for thread in threads:
            thread.start()
        while lock._n_waiting < len(threads):
            is_asking.wait(0.01)
        assert not order
        lock.give_way()
        order.append("review")
    for thread in threads:
        thread.join()
    assert sorted(order[:2]) == ["a", "b"]
    assert order[2] == "review"


def test_positions_have_the_values_of_the_reviewer_and_other_moves_follow_the_dice(web: Web) -> None:
    id_ = played(web)
    rules = Rules.from_text("2x2")
    game = Game(rules, 7)
    found = web.post(f"/api/games/{id_}/position", {"at": 0})
    values = make_reviewer("optimal", rules).values(game.board)
    assert {each["move"]: each["value"] for each in found["values"]} == pytest.approx(values)
    assert found["line"][0]["move"] == found["values"][0]["move"]
    letter = rules.shape.letters[found["values"][-1]["move"]]
    other = web.post(f"/api/games/{id_}/position", {"at": 0, "moves": letter})
    turn = game.play(found["values"][-1]["move"])
    assert other["ranks"] == list(turn.board.ranks)
    assert [each["cell"] for each in other["turns"]] == [turn.spawn[0]]
    assert "has no move 9999" in web.error("POST", f"/api/games/{id_}/position", {"at": 9999})
    assert "not known" in web.error("POST", f"/api/games/{id_}/position", {"at": 0, "moves": "?"})
    assert review_game(game, make_reviewer("optimal", rules)).ledger.entries


def test_mistakes_are_one_line(web: Web) -> None:
    id_ = played(web)
    assert "gredy" in web.error("POST", f"/api/games/{id_}/review", {"reviewer": "gredy"})
    assert "there is no game 9999" in web.error("POST", "/api/games/9999/review", {})
    worst = web.begin("2x2", seed=1, spawner="worst")["id"]
    web.post(f"/api/games/{worst}/moves", {"moves": "wasd"})
    state = reviewed(web, worst)
    assert state["state"] == "failed"
    assert "no luck" in state["error"]


def test_a_larger_board_is_reviewed_by_what_was_made_here_for_it(web: Web) -> None:
    id_ = web.begin("3x3", seed=7)["id"]
    web.post(f"/api/games/{id_}/moves", {"moves": "wasd" * 5})
    answer = web.ask("POST", f"/api/games/{id_}/review", {}, status=400)
    assert answer["code"] == "reviewer.missing"
    assert answer["error"].startswith("games on 3x3 have no reviewer yet: expected a network")
    job = web.post("/api/trainings", {"name": "mine", "network": "1x3", "minutes": 0.01, "rules": {"board": "3x3"}})
    assert web.wait_for(job["id"], "done", "failed")["state"] == "done"
    state = reviewed(web, id_)
    assert (state["state"], state["reviewer"]) == ("done", "ntuple:weights=mine")


def test_a_replay_is_imported(web: Web) -> None:
    answer = web.client.post(
        "/api/games/import", content=b" !d", headers={"content-type": "application/x-ndjson"}
    ).json()
    assert (answer["imported"], answer["refused"]) == (1, 0)
    [id_] = answer["ids"]
    assert web.get(f"/api/games/{id_}/replay")["state"]["score"] == 4
    broken = web.client.post(
        "/api/games/import", content=b"4x4-x_000000", headers={"content-type": "application/x-ndjson"}
    )
    assert "the first board is impossible" in broken.json()["errors"][0]


def test_mistakes_become_puzzles_that_return(web: Web) -> None:
    found = {"found": 0}
    for seed in range(1, 20):
        id_ = web.begin("2x3", seed=seed)["id"]
        web.post(f"/api/games/{id_}/moves", {"moves": "wdsa" * 12})
        reviewed(web, id_)
        found = web.post(f"/api/games/{id_}/puzzles")
        if found["found"]:
            break
    assert found["found"] >= found["new"] > 0
    assert web.post(f"/api/games/{id_}/puzzles")["new"] == 0
    answer = web.get("/api/puzzles/next")
    puzzle = answer["puzzle"]
    assert answer["progress"]["n_puzzles"] >= 1
    illegal = next(move for move in range(5) if move not in puzzle["legal"])
    assert "illegal here" in web.error("POST", f"/api/puzzles/{puzzle['id']}", {"move": illegal})
    path = f"/api/puzzles/{puzzle['id']}"
    best = web.post(path, {"move": puzzle["legal"][0]})["best"]
    wrong = web.post(path, {"move": next(move for move in puzzle["legal"] if move != best)})
    assert (wrong["right"], wrong["best"], wrong["values"][0]["move"]) == (False, best, best)
    right = web.post(path, {"move": best})
    assert right["right"]
    assert right["progress"]["rating"] > wrong["progress"]["rating"]
    assert right["progress"]["n_attempts"] == 3
    assert "no puzzle 9999" in web.error("POST", "/api/puzzles/9999", {"move": 0})
