"""Who of a topic's subscribers gives a partition next, and who gets it."""

from __future__ import annotations

from collections.abc import Sequence


class Balancer:
    """The subscribers of a topic, sorted by how many partitions they hold, fewest first.

    `loads`, the number of partitions by member, is the caller's and may change between two questions. The least loaded
    members get one partition each, then they are as loaded as the next ones and stand in one range with these; the
    most loaded members give in the same way, from the other end.
    """

    def __init__(self, members: Sequence[int], loads: Sequence[int]) -> None:
        self._loads = loads
        self._members = sorted(members, key=loads.__getitem__)
        self._least_end = 0
        self._least_load = loads[self._members[0]] - 1
        self._next_least = 0
        self._most_start = len(members)
        self._most_end = len(members)
        self._most_load = loads[self._members[-1]] + 1
        self._next_most = len(members) - 1

    def is_balanced(self) -> bool:
        """Whether one more move would not improve the balance."""
        return self._most_load - self._least_load <= 1

    def next_receiver(self) -> int:
        """The member that gets the next partition."""
        if self._next_least >= self._least_end:
            self._least_load += 1
            while self._least_end < len(self._members) and (
                self._loads[self._members[self._least_end]] == self._least_load
            ):
                self._least_end += 1
            self._next_least = 0
        self._next_least += 1
        return self._members[self._next_least - 1]

    def next_giver(self) -> int | None:
        """The member to take the next partition from, None if no member is left."""
        if self._next_most < self._most_start:
            self._widen_most_loaded()
        if self._next_most < 0:
            return None
        self._next_most -= 1
        return self._members[self._next_most + 1]

    def _widen_most_loaded(self) -> None:
        if self._most_end <= self._most_start and self._most_start > 0:
            # All of them were excluded: the range goes on with the next member, however far below.
            self._most_load = self._loads[self._members[self._most_start - 1]]
        else:
            self._most_load -= 1
        while self._most_start > 0 and (
            self._loads[self._members[self._most_start - 1]] == self._most_load
        ):
            self._most_start -= 1
        self._next_most = self._most_end - 1

    def exclude_giver(self) -> None:
        """The last giver has nothing to give: leave it out from now on."""
        members, place, last = self._members, self._next_most + 1, self._most_end - 1
        members[place], members[last] = members[last], members[place]
        self._most_end = last
