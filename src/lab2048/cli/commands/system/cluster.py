"""`lab2048 cluster`: the machines of a Ray cluster."""

import sys
from typing import Annotated

import typer

from lab2048.cli.command import Commands
from lab2048.cli.option_types import Readable
from lab2048.cli.options import JsonOption
from lab2048.cli.output import print_json
from lab2048.cli.progress import working
from lab2048.views.wrap import columns_of, folded

app = Commands(
    "Show the machines of a Ray cluster, on which matches, studies, tuning, training and solves can run.\n\n"
    "Example: lab2048 cluster status"
)


@app.command("status")
def status(
    cluster: Annotated[
        str,
        typer.Option("--cluster", metavar="WHERE", help="auto, local, or an address such as 10.0.0.5:6379."),
        Readable("lab2048.cluster.connection:check_where"),
    ] = "auto",
    as_json: JsonOption = False,
) -> None:
    """Show the nodes: cores, memory, which kernels are compiled, and what runs.

    Exits with code 1 if a node cannot work.

    Example: lab2048 cluster status
    """
    from lab2048.arena.executor.status import survey
    from lab2048.cluster.connection import Cluster
    from lab2048.views.number import count, size

    with Cluster(cluster) as found, working("asking the nodes", only_terminal=True):
        states = list(survey(found))
    has_problem = any(state.problem for state in states)
    if as_json:
        print_json("cluster-1", {"cluster": cluster, "nodes": [state.to_json() for state in states]})
    else:
        n_cores, n_free = sum(state.info.n_cores for state in states), sum(state.free_cores for state in states)
        print(f"{count(len(states), 'node')}, {count(n_cores, 'core')}, {n_free:g} free")
        for state in states:
            info = state.info
            compiled = f"{len(state.ready)} of {state.n_groups} groups of kernels compiled"
            memory = f"{size(state.free_memory)} memory free" if state.free_memory else "memory unknown"
            role = ", head" if info.is_head else ""
            cores = f"{count(info.n_cores, 'core')} ({state.free_cores:g} free)"
            line = f"{info.host} ({info.address}{role}): {cores}, {memory}, object store {size(info.store)}, {compiled}"
            print(folded(line, columns_of(sys.stdout), "    "))
            for text in [f"! {state.problem}"] if state.problem else [f"runs: {task}" for task in state.tasks]:
                print(folded(f"  {text}", columns_of(sys.stdout), "    "))
    if has_problem:
        raise typer.Exit(1)
