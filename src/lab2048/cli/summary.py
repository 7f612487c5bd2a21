"""The commands as `lab2048 --help` lists them, which then need not be imported.

A test compares each line with the help of the command.
"""

SUMMARIES = {
    "serve": "Start the page: play, watch, compare, design, train and solve in the browser.",
    "play": "Play in the terminal, on any board.",
    "tui": "Play, watch, match, train and solve in a full-screen terminal.",
    "widget": "Write the game and a player into one HTML file, for any website.",
    "watch": "Watch a player play, and see its results.",
    "hint": "Show the best move of a board, and the value of every legal move.",
    "players": "List the players; `lab2048 players show PLAYER` shows the options of one.",
    "match": "Compare players on the same seeds.",
    "regret": "Grade players on a solved board: their loss per move against optimal play, and their worst mistakes.",
    "review": "Review a game: grade every move, and tell luck from skill.",
    "study": "Rerun published experiments and compare your figures with the published ones.",
    "solve": "Solve a board: the probability that optimal play reaches the goal, or its expected score.",
    "probe": "Show the exact value of every legal move, and the best and worst spawns after the best one.",
    "table": "Verify, export, list and delete tables of solved boards.",
    "endgame": "List and build endgame tables: what is left to play when the large tiles stand.",
    "count": "Count the reachable boards per tile sum, with and without symmetry.",
    "perft": "Count the sequences of turns, each a slide and a spawn, from a board.",
    "train": "Train a network by letting it play.",
    "tune": "Tune the weights of an evaluator; run the same command again to continue.",
    "evaluate": "Play games with a network, by the rules it was trained on.",
    "weights": "Inspect networks, and make their files smaller.",
    "games": "List, show, replay, export, import and delete saved games.",
    "config": "Show settings from LAB2048_* variables, ./lab2048.toml and your own file.",
    "doctor": "Check versions, cores, memory, caches, store, disk and settings, and say how to fix problems.",
    "prepare": "Compile kernels and unpack the network now, so that later commands start at once.",
    "bench": "Measure how fast lab2048 is on this machine.",
    "cluster": "Show the machines of a Ray cluster, on which matches, studies, tuning, training and solves can run.",
    "completion": "Print a script that makes your shell complete commands, options, players and games.",
}
