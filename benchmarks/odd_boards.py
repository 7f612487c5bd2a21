"""Every player against `random` on odd boards, on the same seeds: python benchmarks/odd_boards.py [--games N]

Games on boards of more than 16 cells last thousands of moves, so there are fewer of them there, and players
look less far.
"""

import argparse

from lab2048.arena.compile import prepare
from lab2048.arena.executor.local import Pool
from lab2048.arena.match import Match
from lab2048.arena.statistics import mean_interval
from lab2048.players import canonical_spec
from lab2048.rules import Rules

# The four with bricks are those of document 000's manual; one has a row of four in print and of five in its drawing.
BOARDS = (
    "3x3", "2x4", "#x#|###|#x#", "####|#xx#|#xx#|####", "xx#xx|x###x|#####|x###x|xx#xx",
    "5x5", "hex2", "x###x|#####|##x##|#####|x###x",
)  # fmt: skip
PLAYERS = ("greedy", "lookahead", "expectimax:depth=5", "montecarlo:rollouts=50", "mcts:iterations=200")
FOR_MANY_CELLS = {
    "expectimax:depth=5": "expectimax:depth=2",
    "montecarlo:rollouts=50": "montecarlo:rollouts=2,limit=20",
    "mcts:iterations=200": "mcts:iterations=12,depth=12",
}


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--games", type=int, default=40)
    parser.add_argument("--boards", nargs="*", default=BOARDS)
    args = parser.parse_args()
    prepare(print)
    print("| board | player | games | mean score | random | difference |\n|---|---|---|---|---|---|")
    for board in args.boards:
        rules = Rules.from_text(board)
        is_small = rules.shape.n_cells <= 16
        for name in PLAYERS:
            n_games = args.games if is_small or name == "greedy" else max(4, args.games // 10)
            spec = canonical_spec(name if is_small else FOR_MANY_CELLS.get(name, name))
            match = Match(rules, [spec, "random"], 1, n_games)
            with Pool(1) as pool:
                for _ in match.play(pool):
                    pass
            print(row(board, spec, match), flush=True)


def row(board: str, spec: str, match: Match) -> str:
    ours, theirs = match.results.values()
    found = match.difference(ours, theirs)
    assert found is not None
    intervals = [mean_interval(ours.scores), mean_interval(theirs.scores), found[0]]
    cells = [f"{each.value:,.0f} ± {(each.high - each.low) / 2:,.0f}" for each in intervals]
    board = board.replace("|", "\\|")
    return f"| `{board}` | `{spec}` | {len(ours.scores)} | " + " | ".join(cells) + " |"


if __name__ == "__main__":
    main()
