"""The environment of one game."""

import copy
import itertools
import pickle
import subprocess
import sys

import gymnasium
import numpy as np
import pytest
from gymnasium.error import ResetNeeded
from gymnasium.utils.env_checker import check_env
from terminal import Terminal

from envs.series import assert_same
from lab2048.envs import CLASSIC, register_environments
from lab2048.envs.benchmark import single_env
from lab2048.envs.render import draw_board
from lab2048.envs.single import GameEnv
from lab2048.errors import IllegalMoveError, UsageError
from lab2048.rules import Board, Game, Rules
from lab2048.rules.drawing import DARK_INK, EMPTY, STONE, TILE_COLOURS

SHAPES = ["4x4", "3x3", "2x4", "##x|#2#|###", "hex1", "hex2", "5x5"]
RICH = ["32768 32768 . . / . . . . / . . . . / 2 . . 2", "65536 . . 65536 / . . . . / . 2 . . / . . . ."]


def make(**options):
    return gymnasium.make(CLASSIC, **options)


@pytest.mark.parametrize("observation", ["ranks", "planes", "dict"])
@pytest.mark.parametrize("rules", ["4x4", "hex2", "##x|#2#|###", "5x5"])
def test_gymnasium_finds_no_fault(rules, observation):
    check_env(make(rules=rules, observation=observation).unwrapped)


@pytest.mark.parametrize(
    "options", [{"reward": "log"}, {"illegal": "end"}, {"spawner": "worst"}, {"rules": Rules.from_text("3x3")}]
)
def test_gymnasium_finds_no_fault_with_options(options):
    check_env(make(**options).unwrapped)


def test_the_module_may_stand_in_the_name():
    code = 'import gymnasium; print(gymnasium.make("lab2048.envs:lab2048/Classic-v0", rules="3x3").action_space)'
    result = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert result.stdout == "Discrete(4)\n"


def test_registering_loads_no_compiler_and_does_no_harm_twice():
    code = "import sys, lab2048.envs; print('numba' in sys.modules, 'lab2048.kernels' in sys.modules)"
    result = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert result.stdout == "False False\n"
    register_environments()


@pytest.mark.parametrize("spawner", ["fair", "first", "worst"])
@pytest.mark.parametrize("text", SHAPES + RICH)
def test_every_step_is_that_of_the_reference(text, spawner):
    env = make(rules=text, spawner=spawner)
    rules = Rules.from_text(text, spawner=spawner)
    observation, info = env.reset(seed=7)
    env.action_space.seed(7)
    game = Game(rules, info["seed"])
    for _ in range(60):
        assert tuple(observation.ravel()) == game.board.ranks
        assert set(np.flatnonzero(info["action_mask"])) == set(game.board.legal_moves())
        assert info["score"] == game.score
        assert info["max_tile"] == game.board.max_tile
        np.testing.assert_array_equal(env.unwrapped.action_masks(), info["action_mask"].astype(bool))
        if game.is_over:
            break
        action = env.action_space.sample()
        is_legal = action in game.board.legal_moves()
        observation, reward, terminated, truncated, info = env.step(action)
        assert reward == (game.play(action).reward if is_legal else 0)
        assert terminated == game.is_over
        assert not truncated


def test_two_halves_make_65536():
    env = make(rules=RICH[0])
    env.reset(seed=1)
    observation, reward, _, _, info = env.step(3)
    assert (reward, info["max_tile"], observation[0, 0]) == (65536 + 4, 65536, 16)
    assert observation in env.observation_space


@pytest.mark.parametrize(
    ("rules", "ranks", "planes", "n_moves"),
    [
        ("4x4", (4, 4), (18, 4, 4), 4),
        ("2x3", (2, 3), (8, 2, 3), 4),
        ("###|#x#", (5,), (7, 5), 4),
        ("hex1", (7,), (9, 7), 6),
    ],
)
def test_spaces(rules, ranks, planes, n_moves):
    assert make(rules=rules).observation_space == gymnasium.spaces.Box(0, planes[0] - 1, ranks, np.uint8)
    assert make(rules=rules, observation="planes").observation_space == gymnasium.spaces.Box(0, 1, planes, np.uint8)
    assert make(rules=rules).action_space == gymnasium.spaces.Discrete(n_moves)


def test_the_kinds_of_observation_agree():
    ranks, planes, both = (make(observation=kind).reset(seed=4)[0] for kind in ("ranks", "planes", "dict"))
    np.testing.assert_array_equal(planes.argmax(axis=0), ranks)
    np.testing.assert_array_equal(planes.sum(axis=0), 1)
    np.testing.assert_array_equal(both["observation"], ranks)
    assert both["action_mask"].dtype == np.int8


def test_seeds():
    env = make()
    first, again = (env.reset(seed=5)[1]["seed"] for _ in range(2))
    other = env.reset()[1]["seed"]
    assert first == again != other
    assert env.reset(options={"game_seed": other})[1]["seed"] == other
    with pytest.raises(UsageError, match="out of range"):
        env.reset(options={"game_seed": -1})


# On this board only right and down move something.
STILL = "2 4 . / . . ."


def test_an_illegal_action_is_ignored():
    env = make(rules=STILL, illegal_reward=-2)
    before, _ = env.reset(seed=1)
    observation, reward, terminated, _, info = env.step(3)
    np.testing.assert_array_equal(observation, before)
    assert (reward, terminated) == (-2, False)
    assert info["action_mask"].tolist() == [0, 1, 1, 0]


def test_an_illegal_action_may_end_the_game():
    env = make(rules=STILL, illegal="end", illegal_reward=-2)
    env.reset(seed=1)
    _, reward, terminated, _, info = env.step(3)
    assert (reward, terminated) == (-2, True)
    assert not info["action_mask"].any()


def test_an_illegal_action_may_be_an_error():
    env = make(rules=STILL, illegal="error")
    env.reset(seed=1)
    with pytest.raises(IllegalMoveError, match="left changes nothing on 24#"):
        env.step(3)


@pytest.mark.parametrize("illegal", ["ignore", "end", "error"])
def test_a_game_that_cannot_begin_ends_in_its_first_step(illegal):
    env = make(rules="1x2", spawn="2:0.5,4:0.5", illegal=illegal)
    for seed in range(20):
        _, info = env.reset(seed=seed)
        if not info["action_mask"].any():
            assert env.step(0)[2]
            return
    pytest.fail("no seed brings two different tiles")


def test_a_step_needs_a_reset():
    with pytest.raises(ResetNeeded, match="expected a reset"):
        make().unwrapped.step(0)


def test_a_picture_needs_a_reset():
    with pytest.raises(ResetNeeded, match="expected a reset"):
        make(render_mode="ansi").render()


def test_make_adds_no_wrapper_unless_asked():
    assert isinstance(make(), GameEnv)
    assert isinstance(make(disable_env_checker=False), gymnasium.wrappers.PassiveEnvChecker)


@pytest.mark.parametrize("observation", ["ranks", "planes", "dict"])
def test_nothing_is_handed_out_twice(observation):
    env = make(observation=observation)
    handed_out = [env.reset(seed=1), env.step(0)[::4], env.step(1)[::4], env.reset()]
    arrays = [[*(seen.values() if observation == "dict" else [seen]), info["action_mask"]] for seen, info in handed_out]
    for array, other in itertools.combinations([array for some in arrays for array in some], 2):
        assert not np.shares_memory(array, other)


@pytest.mark.parametrize("copying", [copy.deepcopy, lambda env: pickle.loads(pickle.dumps(env))])
def test_a_copy_plays_on_by_itself(copying):
    env = make(rules="3x3")
    before, _ = env.reset(seed=1)
    twin = copying(env)
    steps = [env.step(action) for action in range(4)]
    for step, action in zip(steps, range(4), strict=True):
        assert_same(twin.step(action), step)
    assert not np.array_equal(steps[-1][0], before)


@pytest.mark.parametrize("kind", [int, np.int64, np.int32, np.uint8, np.array])
def test_any_integer_is_an_action(kind):
    env, other = make(), make()
    env.reset(seed=1), other.reset(seed=1)
    assert_same(env.step(kind(3)), other.step(3))


def test_the_end_is_the_end():
    env = make(rules="1x2", illegal="end").unwrapped
    env.reset(seed=1)
    env.step(0)
    with pytest.raises(UsageError, match="is over"):
        env.step(0)


@pytest.mark.parametrize("action", [4, -1, 1.0, None, True, 2**70, np.uint8(4), [1], "1"])
def test_an_unknown_action_is_refused(action):
    env = make().unwrapped
    env.reset(seed=1)
    with pytest.raises(UsageError, match="expected 0 to 3"):
        env.step(action)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"observation": "rank"}, "did you mean ranks"),
        ({"reward": "scores"}, "did you mean score"),
        ({"illegal": "raise"}, "expected one of end, error, ignore"),
        ({"rules": Rules.from_text("3x3"), "goal": 64}, "goal cannot be given beside Rules"),
        ({"spawner": "evil"}, "unknown spawner 'evil'"),
    ],
)
def test_unknown_options_are_refused(options, message):
    with pytest.raises(UsageError, match=message):
        make(**options)


def test_time_limit():
    env = make(max_episode_steps=3)
    env.reset(seed=1)
    assert [env.step(i % 4)[3] for i in range(3)] == [False, False, True]


@pytest.mark.parametrize("text", ["4x4", "2 128 . / . x 4", "65536 . / . 2"])
def test_text_of_squares_reads_as_the_board(text):
    board = Board.from_text(text)
    assert Board.from_text(str(board)) == board


def test_text_of_hexagons():
    text = make(rules="hex1:2 .|. 16 .|x 4", render_mode="ansi")
    text.reset(seed=1)
    assert text.render().split("\n") == ["    .", " 2     x", "   16", " .     4", "    ."]


@pytest.mark.parametrize("text", ["2 4 . / . x 2048", "hex1:2 131072|. 8 .|x 4"])
def test_picture(text):
    board = Board.from_text(text)
    picture = draw_board(board)
    colours = {tuple(colour) for colour in picture.reshape(-1, 3).tolist()}
    assert {TILE_COLOURS[0], TILE_COLOURS[1], EMPTY, STONE, DARK_INK} <= colours
    assert picture.dtype == np.uint8
    np.testing.assert_array_equal(picture, draw_board(board))


def test_render_modes():
    assert make().unwrapped.render() is None
    env = make(rules="2x3", render_mode="rgb_array")
    env.reset(seed=1)
    assert env.render().shape == (190, 280, 3)


def test_human_mode_prints_boards_where_there_is_no_terminal(capsys):
    env = make(rules="2 2 . / . x .", start=0, spawner="first", render_mode="human")
    env.reset(seed=1)
    env.step(3)
    assert env.render() is None
    assert [line.split() for line in capsys.readouterr().out.splitlines()] == [
        ["score", "0", "highest", "tile", "2"],
        ["2", "2", "."],
        [".", "x", "."],
        ["score", "4", "highest", "tile", "4"],
        ["4", "2", "."],
        [".", "x", "."],
    ]


WATCH = """
import gymnasium
import lab2048.envs
env = gymnasium.make("lab2048/Classic-v0", rules="2 2 . / . x .", start=0, spawner="first", render_mode="human")
env.unwrapped.metadata["render_fps"] = 1000
for moves in ([3, 1], [1]):
    env.reset(seed=1)
    for move in moves:
        env.step(move)
print("end")
"""


def test_human_mode_draws_each_game_in_place_in_a_terminal(tmp_path):
    path = tmp_path / "watch.py"
    path.write_text(WATCH)
    terminal = Terminal(columns=200)
    terminal.play(str(path), program=sys.executable)
    shown = terminal.until(lambda shown: "end" in shown)
    assert [
        line.split() for line in shown[1 : shown.index("end")]
    ] == [  # the last board of each game, below the command
        ["score", "4", "highest", "tile", "4"],
        ["2", "4", "2"],
        [".", "x", "."],
        ["score", "4", "highest", "tile", "4"],
        ["2", ".", "4"],
        [".", "x", "."],
    ]


def test_the_pace_of_human_mode_is_set_for_one_environment():
    env, other = make(rules="2x2", render_mode="human"), make(rules="2x2", render_mode="human")
    env.unwrapped.metadata["render_fps"] = 30
    assert other.metadata["render_fps"] == gymnasium.spec(CLASSIC).make().metadata["render_fps"] == 4


def test_the_measurement_measures():
    assert single_env(n_steps=300)() > 0
