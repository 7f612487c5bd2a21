"""The words of deep networks: what a design can be.

Two kinds of network read a board:

    mlp     every cell is one of so many ranks (one-hot), then layers that see all cells;
            or the ranks, or the tiles, as plain numbers, as documents 000 and 003 have them
    lines   every row and column is looked at by the same small network, wherever it lies;
            what that finds goes through one layer that sees all
"""

KINDS = ("lines", "mlp")
HEADS = ("value", "actions", "atoms")  # a value of the board, one for each move, a distribution for each move
READINGS = ("onehot", "log2", "tiles")
SCALES = ("symlog", "linear")
