"""Who has a partition of a topic: the members of a consumer group, by topic id and partition."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import TypeAlias

from msgspec import Raw

from group_coordinator.core.model.stored_values import StoredValues

NeighbourOwners: TypeAlias = dict[int, str]
"""Member ids by partition, of neighbouring partitions of a topic."""

_NEIGHBOURS = 256


@dataclass(slots=True)
class Owners:
    """A member owns what it is assigned, and what it has yet to give back."""

    by_neighbours: StoredValues[NeighbourOwners, Raw] = field(default_factory=StoredValues)
    """By partition // 256 and topic id as one text; none is empty."""

    def owner_of(self, topic_id: str, partition: int) -> str | None:
        """The member that has the partition, or has yet to give it back."""
        neighbours = self.by_neighbours.get(f"{partition // _NEIGHBOURS}:{topic_id}")
        return None if neighbours is None else neighbours.get(partition)

    def give(self, topic_id: str, partitions: Iterable[int], member_id: str) -> None:
        """Name the owner of partitions, whoever it was before."""
        for key, given in _by_neighbours(topic_id, partitions).items():
            owners = self.by_neighbours.get(key, {})
            self.by_neighbours[key] = {**owners, **dict.fromkeys(given, member_id)}

    def take(self, topic_id: str, partitions: Iterable[int], member_id: str) -> None:
        """Partitions that are this member's have no owner any more.

        In a compacted log another member may have got one already: it keeps it.
        """
        for key, taken in _by_neighbours(topic_id, partitions).items():
            owners = self.by_neighbours.get(key, {})
            gone = {partition for partition in taken if owners.get(partition) == member_id}
            left = {number: owner for number, owner in owners.items() if number not in gone}
            if left:
                self.by_neighbours[key] = left
            else:
                self.by_neighbours.pop(key, None)

    def __bool__(self) -> bool:
        return bool(self.by_neighbours)


def _by_neighbours(topic_id: str, partitions: Iterable[int]) -> dict[str, list[int]]:
    found: dict[str, list[int]] = {}
    for partition in partitions:
        found.setdefault(f"{partition // _NEIGHBOURS}:{topic_id}", []).append(partition)
    return found
