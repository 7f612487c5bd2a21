"""Parts of screens: the board, charts, lists and facts beside a game."""
