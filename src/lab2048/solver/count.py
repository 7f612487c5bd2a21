"""Count the reachable boards layer by layer, without storing them."""

import contextlib
from collections.abc import Iterator
from dataclasses import replace

from lab2048.records.process_lock import temporary_folder
from lab2048.solver.column_file import Column, Stack
from lab2048.solver.forward import Forward, LayerCount
from lab2048.solver.memory import Memory
from lab2048.solver.problem import Problem
from lab2048.solver.table import keys_path
from lab2048.solver.workers import Workers


def first_sums(problem: Problem) -> set[int]:
    """Return the tile sums of start boards that are not already decided."""
    return {start.board.tile_sum for start in problem.starts if not problem.is_decided(start.board)}


def spawn_tiles(problem: Problem) -> list[int]:
    """Return the spawned tiles that do not end the game: the differences between a layer and its successors."""
    return [2**rank for rank, _ in problem.rules.spawn_table if not 0 < problem.goal_rank <= rank]


def count_layers(problem: Problem, workers: Workers, memory: Memory) -> Iterator[tuple[int, LayerCount]]:
    """Yield the tile sum and the count of each layer, from the start boards up."""
    tiles, todo = spawn_tiles(problem), first_sums(problem)
    with contextlib.ExitStack() as exits:
        folder = exits.enter_context(temporary_folder())
        forward = Forward(problem, workers, memory, folder)
        stack = exits.enter_context(contextlib.closing(Stack(folder / "states.u64", "<u8")))
        known: dict[int, Column] = {}
        while todo:
            tile_sum = min(todo)
            todo.discard(tile_sum)
            path = keys_path(folder, tile_sum)
            count, _, keys = forward.make_layer(tile_sum, known.get, lambda parts: stack.push(parts, None), path)
            known[tile_sum] = keys
            if keys.n:
                todo |= {tile_sum + tile for tile in tiles}
            for far in [far for far in known if far <= tile_sum - max(tiles, default=0)]:
                known.pop(far).path.unlink()
            yield tile_sum, count


def with_goal(problem: Problem, goal_rank: int) -> Problem:
    """Return the same problem with another goal."""
    return replace(problem, rules=replace(problem.rules, goal_rank=goal_rank))
