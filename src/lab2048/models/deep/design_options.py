"""The options of a deep network's architecture.

There are two kinds of network:

    mlp     fully connected layers on one-hot ranks; or on ranks or tiles as plain numbers, as in
            Kuznetsov 2022 and Sauren 2022
    lines   the same small network for every row and column, followed by one fully connected layer
"""

KINDS = ("lines", "mlp")
HEADS = ("value", "actions", "atoms")  # one value, one value per move, one distribution per move
READINGS = ("onehot", "log2", "tiles")
SCALES = ("symlog", "linear")
