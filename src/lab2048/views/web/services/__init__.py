"""What the routes share: open games, players, events, networks, command lines."""
