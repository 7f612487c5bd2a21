"""The life of a game in play: whether it is saved, and whether it takes more moves."""

from enum import StrEnum


class Life(StrEnum):
    """The life of a session's current game."""

    OPEN = "open"  # has changes that are not in the store
    SAVED = "saved"  # is in the store as it stands
    CLOSED = "closed"  # saved for the last time; takes no more moves
    DELETED = "deleted"  # deleted from the store; takes no more moves and cannot be saved
