"""Who is connected: which connection came first, and which have not shown a token.

A flood opens hundreds of connections per second.  Joining, leaving and finding the oldest stranger take the same time
however many there are.
"""

from typing import Generic, TypeVar

Member = TypeVar("Member")


class Visitors(Generic[Member]):
    """Connections of one origin, the oldest first.

    >>> visitors = Visitors[str]()
    >>> for name in ("first", "second", "third"):
    ...     visitors.join(name)
    >>> visitors.trust("first")
    >>> len(visitors), visitors.oldest_stranger
    (3, 'second')
    """

    def __init__(self) -> None:
        self._members: dict[Member, None] = {}  # in the order in which they joined
        self._strangers: dict[Member, None] = {}

    def __len__(self) -> int:
        return len(self._members)

    @property
    def oldest_stranger(self) -> Member | None:
        """Return the oldest member that is not trusted, or None."""
        return next(iter(self._strangers), None)

    def join(self, member: Member) -> None:
        self._members[member] = self._strangers[member] = None

    def trust(self, member: Member) -> None:
        self._strangers.pop(member, None)

    def leave(self, member: Member) -> None:
        """Remove a member; one that has left already is not missed."""
        self._members.pop(member, None)
        self._strangers.pop(member, None)
