"""The environment of many games against Gymnasium's own over single ones."""

import gymnasium
import numpy as np
import pytest
from gymnasium.error import ResetNeeded
from gymnasium.vector import AutoresetMode, SyncVectorEnv

from envs.series import SeriesEnv, assert_same
from lab2048.envs import CLASSIC
from lab2048.envs.benchmark import choose_legal, vector_env
from lab2048.envs.vector import VectorGameEnv
from lab2048.errors import IllegalMoveError, UsageError
from lab2048.rules import Game, Rules

RICH = "32768 32768 . . / . . . . / . . . . / 2 . . 2"


def make(n_games, **options):
    return gymnasium.make_vec(CLASSIC, num_envs=n_games, **options)


OPTIONS = [
    {},
    {"observation": "planes", "reward": "log"},
    {"rules": "2x4", "observation": "dict", "reward": "merges"},
    {"rules": "3x3", "spawner": "worst", "illegal_reward": -1.0},
    {"rules": "###|#x#|###", "spawner": "first"},
    {"rules": "hex1", "illegal": "end", "observation": "dict"},
    {"rules": "hex2", "reward": "goal", "goal": 8},
    {"rules": "5x5"},
    {"rules": RICH},
    {"rules": "3x3", "max_episode_steps": 7},
]


@pytest.mark.parametrize("mode", [AutoresetMode.NEXT_STEP, AutoresetMode.SAME_STEP])
@pytest.mark.parametrize("options", OPTIONS, ids=str)
def test_steps_are_those_of_single_environments(options, mode):
    n_games = 3
    ours = make(n_games, autoreset_mode=mode, **options)
    observation, info = ours.reset(seed=9)
    single_options = dict(options)
    limit = single_options.pop("max_episode_steps", None)

    def make_single(base):
        env = SeriesEnv(base, **single_options)
        return gymnasium.wrappers.TimeLimit(env, limit) if limit else env

    theirs = SyncVectorEnv([lambda base=int(base): make_single(base) for base in info["seed"]], autoreset_mode=mode)
    assert ours.observation_space == theirs.observation_space
    assert ours.action_space == theirs.action_space
    first_observation, first_info = theirs.reset()
    assert_same(observation, first_observation)
    assert_same(info, first_info)
    rng = np.random.default_rng(2)
    for _ in range(80):
        actions = rng.integers(0, ours.single_action_space.n, n_games)
        for name, a, b in zip(
            ("obs", "reward", "terminated", "truncated", "info"), ours.step(actions), theirs.step(actions), strict=True
        ):
            assert_same(a, b, name)


@pytest.mark.parametrize("options", OPTIONS, ids=str)
def test_disabled_autoreset_is_that_of_single_environments(options):
    n_games, mode = 3, AutoresetMode.DISABLED
    ours = make(n_games, autoreset_mode=mode, **options)
    theirs = make(n_games, vectorization_mode="sync", vector_kwargs={"autoreset_mode": mode}, **options)
    assert ours.metadata["autoreset_mode"] is theirs.metadata["autoreset_mode"] is mode
    for a, b in zip(*(env.reset(seed=[1, 2, 3]) for env in (ours, theirs)), strict=True):
        assert_same(a, b)
    rng = np.random.default_rng(2)
    for step in range(80):
        actions = rng.integers(0, ours.single_action_space.n, n_games)
        ours_now, theirs_now = ours.step(actions), theirs.step(actions)
        for name, a, b in zip(("obs", "reward", "terminated", "truncated", "info"), ours_now, theirs_now, strict=True):
            assert_same(a, b, name)
        if (mask := ours_now[2] | ours_now[3]).any():
            seeds = [10 * step + game for game in range(n_games)]
            (seen, info), (their_seen, their_info) = (
                env.reset(seed=seeds, options={"reset_mask": mask.copy()}) for env in (ours, theirs)
            )
            assert_same(seen, their_seen, "reset")
            for name in info.keys() | their_info.keys():  # theirs are zero where nothing was reset
                assert_same(info[name][mask], their_info[name][mask], name)


@pytest.mark.parametrize("mode", AutoresetMode)
@pytest.mark.parametrize("spelling", [lambda mode: mode, lambda mode: mode.name, lambda mode: mode.value])
def test_the_autoreset_mode_is_in_the_metadata(mode, spelling):
    assert make(2, autoreset_mode=spelling(mode)).metadata["autoreset_mode"] is mode


def test_the_entry_point_is_ours():
    env = make(2)
    assert isinstance(env, VectorGameEnv)
    assert env.metadata["autoreset_mode"] is AutoresetMode.NEXT_STEP
    assert isinstance(make(2, vectorization_mode="sync"), SyncVectorEnv)


@pytest.mark.parametrize("observation", ["ranks", "planes", "dict"])
def test_observations_are_in_their_space(observation):
    env = make(5, observation=observation, rules="3x3")
    seen, info = env.reset(seed=1)
    rng = np.random.default_rng(1)
    for _ in range(20):
        assert seen in env.observation_space
        seen, _, _, _, info = env.step(choose_legal(info["action_mask"], rng))


def test_nothing_is_handed_out_twice():
    env = make(4, observation="dict")
    kept = [env.reset(seed=1)]
    for action in range(3):
        observation, reward, terminated, truncated, info = env.step(np.full(4, action))
        kept.append(({**observation, "reward": reward, "terminated": terminated, "truncated": truncated}, info))
    arrays = [[*observation.values(), *info.values()] for observation, info in kept]
    for i, some in enumerate(arrays):
        for others in arrays[:i]:
            assert not any(np.shares_memory(a, b) for a in some for b in others)


def test_an_episode_replays_from_its_seed():
    env = make(3, rules="3x3", autoreset_mode="SameStep")
    _, info = env.reset(seed=3)
    rng = np.random.default_rng(3)
    games = {}
    n_proved = 0
    for _ in range(300):
        for i, seed in enumerate(info["seed"].tolist()):
            games.setdefault((i, seed), Game(Rules.from_text("3x3"), seed))
        current = [games[i, seed] for i, seed in enumerate(info["seed"].tolist())]
        actions = choose_legal(info["action_mask"], rng)
        for game, action in zip(current, actions.tolist(), strict=True):
            game.play(action)
        _, _, terminated, _, info = env.step(actions)
        for i in np.flatnonzero(terminated):
            n_proved += 1
            assert current[i].is_over
            assert info["final_info"]["score"][i] == current[i].score
            assert info["final_info"]["max_tile"][i] == current[i].board.max_tile
    assert n_proved > 3


def test_seeds():
    env = make(4)
    first, again = (env.reset(seed=5)[1]["seed"] for _ in range(2))
    other = env.reset()[1]["seed"]
    np.testing.assert_array_equal(first, again)
    assert len({*first.tolist(), *other.tolist()}) == 8
    np.testing.assert_array_equal(env.reset(options={"game_seed": other})[1]["seed"], other)
    with pytest.raises(UsageError, match="out of range"):
        env.reset(options={"game_seed": other - other.max() - 1})


@pytest.mark.parametrize("seeds", [[5, 6, 7], np.array([5, 0, 5]), (2**40, 1, 2)])
def test_a_list_of_seeds_begins_the_games_of_single_environments(seeds):
    ours, theirs = make(3), make(3, vectorization_mode="sync")
    for mine, their in zip(ours.reset(seed=seeds), theirs.reset(seed=[int(seed) for seed in seeds]), strict=True):
        assert_same(mine, their)
    later = [ours.reset()[1]["seed"].tolist()]
    ours.reset(seed=seeds)
    later.append(ours.reset()[1]["seed"].tolist())
    assert later[0] == later[1]
    assert not set(later[0]) & set(ours.reset(seed=seeds)[1]["seed"].tolist())


def test_a_list_of_seeds_may_leave_some_to_chance():
    env = make(2)
    first, again = (env.reset(seed=[None, 4])[1]["seed"].tolist() for _ in range(2))
    assert (first[0] == again[0], first[1] == again[1]) == (False, True)


@pytest.mark.parametrize("seeds", [[1], [1, 2, 3], [1, -1], [1, "2"], [1, 2.0], "12"])
def test_a_bad_list_of_seeds_is_refused(seeds):
    with pytest.raises(UsageError, match="expected 2 whole numbers"):
        make(2).reset(seed=seeds)


@pytest.mark.parametrize("reset_mask", [None, np.array([True, False])])
def test_a_step_needs_a_reset_of_all(reset_mask):
    env = make(2)
    if reset_mask is not None:
        env.reset(options={"reset_mask": reset_mask})
    with pytest.raises(ResetNeeded, match="expected a reset"):
        env.step([0, 0])


def test_infos_hold_for_the_games_that_were_reset():
    mask = np.array([True, False, True])
    ours, theirs = make(3), make(3, vectorization_mode="sync")
    for env in (ours, theirs):
        env.reset(seed=[1, 2, 3])
        env.step([0, 0, 0])
    (seen, info), (their_seen, their_info) = (
        env.reset(seed=[4, 5, 6], options={"reset_mask": mask.copy()}) for env in (ours, theirs)
    )
    assert_same(seen, their_seen)
    assert info.keys() == their_info.keys()
    for name in info:
        if name.startswith("_"):
            assert_same(info[name], their_info[name], name)
            assert info[name].tolist() == mask.tolist()
        else:
            assert_same(info[name][mask], their_info[name][mask], name)


def test_only_some_games_are_reset():
    env = make(3, autoreset_mode="Disabled", rules="1x2", illegal="end")
    _, info = env.reset(seed=1)
    _, _, terminated, _, _ = env.step(np.zeros(3, int))
    assert terminated.all()
    with pytest.raises(UsageError, match="game 0 is over"):
        env.step(np.zeros(3, int))
    _, after = env.reset(options={"reset_mask": np.array([True, False, True])})
    assert (after["seed"] != info["seed"]).tolist() == [True, False, True]
    with pytest.raises(UsageError, match="game 1 is over"):
        env.step(np.zeros(3, int))


def test_masks():
    env = make(3)
    _, info = env.reset(seed=1)
    assert info["action_mask"].dtype == np.int8
    assert env.action_masks().dtype == np.bool_
    np.testing.assert_array_equal(env.action_masks(), info["action_mask"])


@pytest.mark.parametrize("actions", [[0, 4], [0, -1], [0], [0.0, 1.0], 0])
def test_bad_actions_are_refused(actions):
    env = make(2)
    env.reset(seed=1)
    with pytest.raises(UsageError, match="expected"):
        env.step(actions)


def test_illegal_actions_may_be_errors():
    env = make(2, rules="2 4 . / . . .", illegal="error")
    env.reset(seed=1)
    with pytest.raises(IllegalMoveError, match="up changes nothing"):
        env.step([1, 0])


@pytest.mark.parametrize(
    "options", [{"num_envs": 0}, {"max_episode_steps": 0}, {"autoreset_mode": "never"}, {"render_mode": "human"}]
)
def test_bad_options_are_refused(options):
    with pytest.raises(UsageError, match=r"expected|known|did you mean"):
        VectorGameEnv(**{"num_envs": 2, **options})


def test_bad_reset_mask_is_refused():
    with pytest.raises(UsageError, match="reset_mask"):
        make(2).reset(options={"reset_mask": np.array([1, 0])})


def test_render():
    texts = make(2, render_mode="ansi")
    texts.reset(seed=1)
    assert [len(text.split("\n")) for text in texts.render()] == [4, 4]
    pictures = make(2, rules="hex1", render_mode="rgb_array")
    pictures.reset(seed=1)
    assert all(picture.shape[2] == 3 for picture in pictures.render())
    assert make(2).render() is None


def test_the_measurement_measures():
    assert vector_env(n_games=8, seconds=0.001)() > 0
