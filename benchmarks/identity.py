"""Check that the ledger of reviews adds up: python benchmarks/identity.py [--games 28] [--luck 1000]

Six players play on six boards, and every game is reviewed: by the shipped network on 4x4, by perfect play elsewhere.
Initial value + luck + skill + drift must be the final score, to 1e-6 of it; on solved boards, drift must be zero, to
1e-9 of the score.
Then the mean luck of five players over many games, with its 95% interval, which should contain zero.
The exit code is 1 if a game does not add up.
"""

import argparse
import sys

import lab2048 as lab

PLAYERS = ("random", "first", "greedy", "lookahead", "expectimax:depth=2", "mcts:iterations=20")
BOARDS = ("4x4", "2x2", "2x3", "2x4", "##x|###|##x", "tri2")
LUCKY = ("random", "greedy", "lookahead", "ntuple:depth=1", "ntuple")
QUICK = "ntuple:depth=1,trust=0"


def check(n_games: int, seed: int) -> bool:
    n, worst, worst_drift = 0, 0.0, 0.0
    for board in BOARDS:
        for player in PLAYERS:
            for game in lab.review_player(player, rules=board, games=n_games, seed=seed, progress=False).games:
                total = game.initial_value + game.luck + game.skill + game.drift
                scale = max(1.0, abs(game.final_value))
                worst, n = max(worst, abs(total - game.final_value) / scale), n + 1
                if board != "4x4":
                    worst_drift = max(worst_drift, abs(game.drift) / scale)
        print(f"{board}: done, {n} games so far", flush=True)
    print(f"{n} games of {len(PLAYERS)} players on {len(BOARDS)} boards: the sum is off by at most {worst:.1e}")
    print(f"drift on solved boards: at most {worst_drift:.1e} of the score")
    return worst <= 1e-6 and worst_drift <= 1e-9


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--games", type=int, default=28, help="per player and board")
    parser.add_argument("--luck", type=int, default=1000, help="games per player for the mean luck; 0 = none")
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    adds_up = check(options.games, options.seed)
    for player in LUCKY if options.luck else ():
        found = lab.review_player(player, games=options.luck, seed=options.seed, reviewer=QUICK, progress=False)
        luck = found.figure("luck")
        print(
            f"luck of {player} over {len(found.games)} games: {luck.value:,.0f} ({luck.low:,.0f} to {luck.high:,.0f})"
        )
        sys.stdout.flush()
    return 0 if adds_up else 1


if __name__ == "__main__":
    raise SystemExit(main())
