"""What a search by the clock saves by ending early: python benchmarks/clock.py [--games 2] [--first-seed 100] [--ms 10]

Boards are taken from games of `ntuple` at depth 3.  On each, the move that `ntuple:ms=MS` makes is compared with
the move of a search three times as long that never ends early, and so are the last depth that fits MS in full and
fixed depths.  Says the time a move took, how often it was that move, and what it lost by the values of the longer
search.
"""

import argparse
import random
import time
from collections import defaultdict

from lab2048.players import make_player
from lab2048.players.ntuple import NTuplePlayer
from lab2048.players.searcher import MAX_DEPTH, Searcher
from lab2048.rules import Board, Game, Rules


def take_boards(player: NTuplePlayer, rules: Rules, seeds: range, share: float) -> list[Board]:
    dice, found = random.Random(seeds.start), []
    for seed in seeds:
        game = Game(rules, seed)
        while not game.is_over:
            if dice.random() < share:
                found.append(game.board)
            game.play(player.choose(game.board).move)
    return found


def deepen(searcher: Searcher, board: Board, ms: float) -> list[tuple[float, dict[int, float]]]:
    """The values of every depth and the time until they were there, until the time is over."""
    found: list[tuple[float, dict[int, float]]] = []
    begin = time.perf_counter()
    for depth in range(1, MAX_DEPTH + 1):
        values = searcher.root_values(board, depth)
        found.append((1000 * (time.perf_counter() - begin), values))
        if found[-1][0] > ms:
            break
    return found


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--games", type=int, default=2)
    parser.add_argument("--first-seed", type=int, default=100)
    parser.add_argument("--share", type=float, default=0.03)
    parser.add_argument("--ms", type=float, default=10.0)
    options = parser.parse_args()
    rules, player = Rules.from_text("4x4"), make_player("ntuple")
    assert isinstance(player, NTuplePlayer)
    player.start(rules, 1)
    searcher = player.searcher(rules)
    first = options.first_seed
    boards = take_boards(player, rules, range(first, first + options.games), options.share)
    rows: dict[str, list[tuple[float, float]]] = defaultdict(list)
    for board in boards:
        searcher.forget()
        steps = deepen(searcher, board, 3 * options.ms)
        reference = steps[-1][1]
        searcher.forget()
        begin = time.perf_counter()
        values, _ = searcher.deepen_until(time.monotonic_ns() + int(options.ms * 1e6), board)
        tried = {f"ms={options.ms:g}": (1000 * (time.perf_counter() - begin), values)}
        tried["the last depth in time"] = [step for step in steps if step[0] <= options.ms][-1]
        tried |= {f"depth {depth}": steps[min(depth, len(steps)) - 1] for depth in (3, 6)}
        for name, (spent, found) in tried.items():
            best = max(found.items(), key=lambda pair: pair[1])[0]
            rows[name].append((spent, max(reference.values()) - reference[best]))
    print(f"{len(boards)} boards of {options.games} games from seed {first}")
    for name, row in rows.items():
        n = len(row)
        same = sum(loss == 0 for _, loss in row) / n
        spent, loss = (sum(each) / n for each in zip(*row, strict=True))
        print(f"{name:<24} {spent:6.2f} ms   the same move {100 * same:.1f}%   loses {loss:.1f}")


if __name__ == "__main__":
    main()
