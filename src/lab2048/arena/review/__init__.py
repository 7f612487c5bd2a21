"""Reviews of games: the values of every turn, and the ledger of luck and skill."""
