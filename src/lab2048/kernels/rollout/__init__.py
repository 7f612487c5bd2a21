"""Random games from a board, and the tree search that they guide."""
