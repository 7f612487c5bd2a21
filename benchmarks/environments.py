"""The vector environment beside those of pgx and jumanji: same slides, how many steps a second.

    python benchmarks/environments.py [--json] [--rounds 7] [--seconds 1]

Makes a virtual environment of its own for the two others, runs there, on one core, and
counts CPU seconds.  All play random legal moves in 1024 games that begin anew when they
end.  Three ways to step are timed for pgx and jumanji:

    loop     a compiled step of all games for each call; choosing actions is not timed
    scan     100 steps in one compiled call, choosing among the legal actions included
    once     as loop, but without new games: finished ones stand still, and all begin anew untimed;
             less work than ours, shown to be fair

The faster of loop and scan, which do the same work as ours, is what ours is compared with.

Ours is `env.step(actions)` of Gymnasium with ranks, masks, rewards and infos, choosing
actions not timed; and once more with choosing them in NumPy included.
"""

import argparse
import json
import os
import statistics
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
HOME = ROOT / ".venvs" / "benchmarks"
PINNED = ("jax==0.10.2", "jaxlib==0.10.2", "pgx==2.6.0", "jumanji==1.1.2")
INSIDE = "LAB2048_BENCHMARKS_INSIDE"
N_GAMES = 1024
N_SCAN = 100
N_BOARDS = 100_000


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--json", action="store_true", help="one JSON object on standard output")
    parser.add_argument("--rounds", type=int, default=7, help="how often each is measured (default: 7)")
    parser.add_argument("--seconds", type=float, default=1.0, help="CPU seconds of each measurement (default: 1)")
    options = parser.parse_args()
    if not os.environ.get(INSIDE):
        sys.exit(run_inside())
    # One core for all, so that no library gains by threads; set before jax is loaded.
    if hasattr(os, "sched_setaffinity"):
        os.sched_setaffinity(0, {max(os.sched_getaffinity(0))})
    os.environ["XLA_FLAGS"] = "--xla_cpu_multi_thread_eigen=false intra_op_parallelism_threads=1"
    os.environ["JAX_PLATFORMS"] = "cpu"
    agreement = check_slides()
    report(agreement, measure_all(options.rounds, options.seconds), as_json=options.json)


def run_inside() -> int:
    """Run this file again in the virtual environment, which is made first if need be."""
    python = HOME / ("Scripts/python.exe" if os.name == "nt" else "bin/python")
    stamp = HOME / "installed.txt"
    wanted = "\n".join(PINNED)
    if not stamp.exists() or stamp.read_text() != wanted:
        print(f"setting up {HOME.relative_to(ROOT)}, once", file=sys.stderr)
        subprocess.run([sys.executable, "-m", "venv", HOME], check=True)
        install = [python, "-m", "pip", "install", "--quiet", "--disable-pip-version-check"]
        subprocess.run([*install, *PINNED, "--editable", ROOT], check=True, stdout=sys.stderr)
        stamp.write_text(wanted)
    return subprocess.run([python, *sys.argv], env={**os.environ, INSIDE: "1"}, check=False).returncode


def check_slides() -> dict[str, int]:
    """Slide rows and boards with all three; every result, reward and mask must be the same."""
    import jax
    import jax.numpy as jnp
    import numpy as np
    from jumanji.environments.logic.game_2048 import utils as jumanji_rules
    from pgx import play2048 as pgx_rules

    def slide_pgx(board, action):
        turned = jnp.rot90(board, (action + 1) % 4)  # pgx counts left, up, right, down
        turned, reward = jax.vmap(pgx_rules._slide_and_merge)(turned)
        return jnp.rot90(turned, -((action + 1) % 4)), reward.sum()

    others = {}
    for action in range(4):
        others[action] = (
            jax.jit(jax.vmap(lambda board, action=action: slide_pgx(board, action))),
            jax.jit(jax.vmap(lambda board, action=action: jumanji_rules.move(board, action))),
        )
    legal_pgx = jax.jit(jax.vmap(pgx_rules._legal_action_mask))
    legal_jumanji = jax.jit(jax.vmap(lambda board: jnp.array([jumanji_rules.can_move(board, a) for a in range(4)])))

    # Every row of four ranks from 0 to 6, lying and standing; then boards, sparse and full, poor and rich.
    rows = np.stack(np.meshgrid(*[np.arange(7)] * 4, indexing="ij"), -1).reshape(-1, 4)
    n_rows = len(rows)
    rows = np.concatenate([rows, np.zeros((-n_rows % 4, 4), int)]).reshape(-1, 4, 4)
    rng = np.random.default_rng(2048)
    highest = rng.integers(1, 18, (N_BOARDS, 1, 1))
    boards = rng.integers(1, highest + 1, (N_BOARDS, 4, 4)) * (
        rng.random((N_BOARDS, 4, 4)) < rng.random((N_BOARDS, 1, 1))
    )
    boards = np.concatenate([rows, rows.transpose(0, 2, 1), boards]).astype(np.int32)

    slid, gained, legal = slide_ours(boards)
    np.testing.assert_array_equal(np.asarray(legal_pgx(boards))[:, [1, 2, 3, 0]], legal)
    np.testing.assert_array_equal(np.asarray(legal_jumanji(boards)), legal)
    for action, pair in others.items():
        for slide in pair:
            after, reward = slide(boards)
            np.testing.assert_array_equal(np.asarray(after), slid[action])
            np.testing.assert_array_equal(np.asarray(reward).astype(np.int64), gained[action])
    return {"rows": n_rows, "boards": N_BOARDS}


def slide_ours(boards):
    """Slide by both of our kernels, words and bytes, where a board fits a word."""
    import numpy as np

    from lab2048.kernels.board import packed, wide
    from lab2048.rules import Board, Rules
    from lab2048.rules.plan import make_plan

    rules = Rules.from_text("4x4")
    plan, n = make_plan(rules), len(boards)
    slid, gained = np.zeros((4, n, 16), np.uint8), np.zeros((4, n), np.int64)
    legal = np.zeros((n, 4), bool)
    for i, ranks in enumerate(boards.reshape(n, 16).astype(np.uint8)):
        mask = wide.legal_mask(plan, ranks)
        board = Board(rules.shape, tuple(ranks.tolist()))
        for action in range(4):
            legal[i, action] = mask >> action & 1
            slid[action, i] = ranks
            gained[action, i] = max(0, wide.slide(plan, slid[action, i], action))
            if board.tile_sum < packed.FULL_SUM:
                after = np.uint64(packed.slide(plan, np.uint64(board.to_packed()), action))
                unpacked = np.zeros(16, np.uint8)
                wide.unpack(after, unpacked)
                np.testing.assert_array_equal(unpacked, slid[action, i])
                assert packed.potential(after) - board.potential == gained[action, i]
    return slid.reshape(4, n, 4, 4), gained, legal


def measure_all(n_rounds: int, seconds: float) -> dict[str, float]:
    """Steps per CPU second of each, in millions: all in turn, several times, the medians."""
    from lab2048.envs.benchmark import vector_env

    measures = {
        "lab2048": vector_env(seconds=seconds),
        "lab2048, with choosing": ours_with_choosing(seconds),
        **pgx_ways(seconds),
        **jumanji_ways(seconds),
    }
    for measure in measures.values():  # compile
        measure()
    rounds = [{name: measure() for name, measure in measures.items()} for _ in range(n_rounds)]
    return {name: statistics.median(row[name] for row in rounds) / 1e6 for name in measures}


def ours_with_choosing(seconds: float) -> Callable[[], float]:
    import gymnasium
    import numpy as np

    from lab2048.envs.benchmark import choose_legal

    env = gymnasium.make_vec("lab2048.envs:lab2048/Classic-v0", num_envs=N_GAMES)
    rng = np.random.default_rng(1)
    mask = env.reset(seed=1)[1]["action_mask"]

    def measure() -> float:
        nonlocal mask
        n_calls, begin = 0, time.process_time()
        while time.process_time() - begin < seconds:
            for _ in range(20):
                mask = env.step(choose_legal(mask, rng))[4]["action_mask"]
            n_calls += 20
        return n_calls * N_GAMES / (time.process_time() - begin)

    return measure


def pgx_ways(seconds: float) -> dict[str, Callable[[], float]]:
    import jax
    import pgx
    from pgx.experimental.wrappers import auto_reset

    env = pgx.make("2048")
    init = jax.jit(jax.vmap(env.init))
    plain = jax.vmap(env.step)
    renewing = jax.vmap(auto_reset(env.step, env.init))

    def split(key):
        return jax.random.split(key, N_GAMES)

    def seen(state):
        return state._board, state.rewards, state.terminated, state.legal_action_mask

    return make_ways(
        "pgx",
        seconds,
        begin=lambda key: init(split(key)),
        plain=lambda state, actions, key: plain(state, actions, split(key)),
        renewing=lambda state, actions, key: renewing(state, actions, split(key)),
        mask=lambda state: state.legal_action_mask,
        seen=seen,
    )


def jumanji_ways(seconds: float) -> dict[str, Callable[[], float]]:
    import jax
    import jumanji
    from jumanji.wrappers import AutoResetWrapper

    env = jumanji.make("Game2048-v1")
    reset = jax.jit(jax.vmap(env.reset))
    plain = jax.vmap(env.step)
    renewing = jax.vmap(AutoResetWrapper(env).step)

    # A state of ours is jumanji's pair of state and time step: what is seen stands in the latter.
    return make_ways(
        "jumanji",
        seconds,
        begin=lambda key: reset(jax.random.split(key, N_GAMES)),
        plain=lambda pair, actions, _: plain(pair[0], actions),
        renewing=lambda pair, actions, _: renewing(pair[0], actions),
        mask=lambda pair: pair[1].observation.action_mask,
        seen=lambda pair: (pair[1].observation, pair[1].reward, pair[1].step_type),
    )


def make_ways(name, seconds, *, begin, plain, renewing, mask, seen) -> dict[str, Callable[[], float]]:
    """The three ways to step an environment written in jax."""
    import jax
    import jax.numpy as jnp

    def choose(state, key):
        # A game that is over has no legal action: any will do.
        legal = mask(state)
        return jax.random.categorical(key, jnp.where(legal | ~legal.any(axis=1, keepdims=True), 0.0, -jnp.inf))

    def scan_step(carry, _):
        state, key = carry
        key, for_action, for_step = jax.random.split(key, 3)
        state = renewing(state, choose(state, for_action), for_step)
        return (state, key), seen(state)

    quick_choose = jax.jit(choose)
    scan = jax.jit(lambda state, key: jax.lax.scan(scan_step, (state, key), None, length=N_SCAN))
    steppers = {"loop": jax.jit(renewing), "once": jax.jit(plain)}

    def loop(way: str) -> Callable[[], float]:
        step = steppers[way]

        def measure() -> float:
            key, spent, n_calls = jax.random.PRNGKey(0), 0.0, 0
            state = begin(key)
            while spent < seconds:
                key, for_action, for_step = jax.random.split(key, 3)
                if way == "once" and n_calls % 60 == 0:
                    state = begin(for_step)
                actions = jax.block_until_ready(quick_choose(state, for_action))
                before = time.process_time()
                state = jax.block_until_ready(step(state, actions, for_step))
                spent += time.process_time() - before
                n_calls += 1
            return n_calls * N_GAMES / spent

        return measure

    def measure_scan() -> float:
        key = jax.random.PRNGKey(0)
        carry = (begin(key), key)
        n_calls, start = 0, time.process_time()
        while time.process_time() - start < seconds:
            carry, _ = jax.block_until_ready(scan(*carry))
            n_calls += 1
        return n_calls * N_SCAN * N_GAMES / (time.process_time() - start)

    return {f"{name}, loop": loop("loop"), f"{name}, once": loop("once"), f"{name}, scan": measure_scan}


def report(agreement: dict[str, int], rates: dict[str, float], *, as_json: bool) -> None:
    ratios = {}
    for name in ("pgx", "jumanji"):
        ratios[name] = rates["lab2048"] / max(rates[f"{name}, loop"], rates[f"{name}, scan"])
        ratios[f"{name} without new games"] = rates["lab2048"] / rates[f"{name}, once"]
    if as_json:
        result = {"slides_agree_on": agreement, "million_steps_a_cpu_second": rates, "ratios": ratios, "pinned": PINNED}
        print(json.dumps({"schema": "lab2048/bench-environments-1", "n_games": N_GAMES, **result}))
        return
    print(
        f"slides, rewards and masks agree with pgx and jumanji on all {agreement['rows']:,} rows of ranks 0 to 6, "
        f"lying and standing,\nand on {agreement['boards']:,} random boards of tiles to 131072, in every direction"
    )
    print(f"\nmillion steps per CPU second, {N_GAMES} games, one core, medians")
    for name, rate in rates.items():
        print(f"  {name:<24} {rate:8.3f}")
    for name, ratio in ratios.items():
        print(f"lab2048 is {ratio:.1f} times as fast as {name}")


if __name__ == "__main__":
    main()
