"""The uniform assignor for members with different subscriptions."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence

from group_coordinator.core.assignors.draft import Draft, kept
from group_coordinator.core.assignors.spec import (
    Assignment,
    MemberSpec,
    PartitionAssignorError,
    TopicSpec,
    subscribers,
)
from group_coordinator.core.kafka_order.java_tables import uuid_words


class Balancer:
    """The subscribers of a topic, sorted by number of partitions, fewest first.

    `loads`, the number of partitions by member, belongs to the caller and may change between two calls. Each of the least loaded
    members receives one partition. Then they are as loaded as the next members, and form one range with these. The most loaded
    members give partitions in the same way, from the other end.
    """

    def __init__(self, members: Sequence[int], loads: Sequence[int]) -> None:
        self._loads = loads
        self._members = sorted(members, key=loads.__getitem__)
        self._least_end = 0
        # Both ranges are empty at first: one below the lowest load, one above the highest.
        self._least_load = loads[self._members[0]] - 1
        self._next_least = 0
        self._most_start = len(members)
        self._most_end = len(members)
        self._most_load = loads[self._members[-1]] + 1
        self._next_most = len(members) - 1

    def is_balanced(self) -> bool:
        """Return True if one more move would not improve the balance."""
        return self._most_load - self._least_load <= 1

    def next_receiver(self) -> int:
        """Return the member that receives the next partition."""
        # All of the range have received a partition: they have the load of the next members now.
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
        """Return the member that gives the next partition; None if no member is left."""
        if self._next_most < self._most_start:
            self._widen_most_loaded()
        if self._next_most < 0:
            return None
        self._next_most -= 1
        return self._members[self._next_most + 1]

    def _widen_most_loaded(self) -> None:
        if self._most_end <= self._most_start and self._most_start > 0:
            # All members of the range were excluded: the range continues with the next member,
            # however low its load.
            self._most_load = self._loads[self._members[self._most_start - 1]]
        else:
            self._most_load -= 1
        while self._most_start > 0 and (
            self._loads[self._members[self._most_start - 1]] == self._most_load
        ):
            self._most_start -= 1
        self._next_most = self._most_end - 1

    def exclude_giver(self) -> None:
        """Exclude the last giver, which has no partition to give."""
        members, place, last = self._members, self._next_most + 1, self._most_end - 1
        # Swapped to the end of the range, which then ends before the excluded member.
        members[place], members[last] = members[last], members[place]
        self._most_end = last


MAX_ROUNDS = 16
"""The largest number of times that Kafka goes through the topics to balance them."""

NOBODY = -1


def assign_heterogeneous(
    members: Mapping[str, MemberSpec], topics: Mapping[str, TopicSpec]
) -> dict[str, Assignment]:
    """Remove unsubscribed topics, distribute unassigned partitions, then move partitions until the members are balanced.

    The order of the members breaks ties.
    """
    build = _Build(list(members.values()), topics)
    build.keep_wanted()
    build.hand_out()
    build.balance()
    return dict(zip(members, build.assignments(), strict=True))


class _Build:
    """The changes to the assignments of the members, which have their positions as numbers."""

    def __init__(self, members: Sequence[MemberSpec], topics: Mapping[str, TopicSpec]) -> None:
        self._members = members
        self._subscribers = subscribers([member.topic_ids for member in members], topics)
        self._loads = [0] * len(members)
        self._owners = {
            topic_id: [NOBODY] * topics[topic_id].num_partitions for topic_id in self._subscribers
        }
        self._drafts: dict[int, Draft] = {}
        self._topic_ids = sorted(self._subscribers, key=self._topic_rank)

    def _topic_rank(self, topic_id: str) -> tuple[float, int, tuple[int, int]]:
        # Topics with many partitions for each subscriber are first, then topics with few
        # subscribers.
        count = len(self._subscribers[topic_id])
        return -(len(self._owners[topic_id]) / count), count, uuid_words(topic_id)

    def keep_wanted(self) -> None:
        """Remove topics that their member no longer subscribes to, and count the partitions that stay.

        Raises PartitionAssignorError if a partition is beyond the end of its topic.
        """
        for position, member in enumerate(self._members):
            for topic_id, partitions in member.assignment.items():
                if topic_id in member.topic_ids:
                    self._keep(position, topic_id, partitions)
                else:
                    self._draft(position).remove_topic(topic_id)

    def _keep(self, position: int, topic_id: str, partitions: tuple[int, ...]) -> None:
        owners = self._owners[topic_id]
        # Partitions are ascending: the last is the highest.
        if partitions[-1] >= len(owners):
            raise PartitionAssignorError(f"topic {topic_id} has no partition {partitions[-1]}")
        for partition in partitions:
            owners[partition] = position
        self._loads[position] += len(partitions)

    def hand_out(self) -> None:
        """Give every unassigned partition to the subscriber with the fewest partitions."""
        for topic_id in self._topic_ids:
            owners = self._owners[topic_id]
            if NOBODY in owners:
                # A new balancer for each topic: the loads have changed since the topic before.
                balancer = Balancer(self._subscribers[topic_id], self._loads)
                for partition, owner in enumerate(owners):
                    if owner == NOBODY:
                        self._give(topic_id, partition, balancer.next_receiver())

    def balance(self) -> None:
        """Balance topic after topic, until no topic since the last change could be balanced further."""
        # A topic with a single subscriber cannot be balanced.
        shared = [topic for topic in self._topic_ids if len(self._subscribers[topic]) > 1]
        last_changed: str | None = None
        for _ in range(MAX_ROUNDS):
            for topic_id in shared:
                if topic_id == last_changed:
                    return
                # The first topic counts as changed, so that a whole round without a move ends the
                # loop.
                if self._balance_topic(topic_id) or last_changed is None:
                    last_changed = topic_id

    def _balance_topic(self, topic_id: str) -> bool:
        """Move partitions from the most to the least loaded subscribers; return True if a partition moved."""
        members = self._subscribers[topic_id]
        loads = list(map(self._loads.__getitem__, members))
        # Sorting the subscribers is dear for a topic that is balanced already.
        if max(loads) - min(loads) <= 1:
            return False
        balancer = Balancer(members, self._loads)
        held = defaultdict[int, list[int]](list)
        for partition, owner in enumerate(self._owners[topic_id]):
            held[owner].append(partition)
        moved = False
        while (giver := _next_giver(balancer, held)) is not None:
            partition = held[giver].pop()
            receiver = balancer.next_receiver()
            if balancer.is_balanced():
                break
            self._take(topic_id, partition, giver)
            self._give(topic_id, partition, receiver)
            moved = True
        return moved

    def _give(self, topic_id: str, partition: int, position: int) -> None:
        self._draft(position).add(topic_id, partition)
        self._owners[topic_id][partition] = position
        self._loads[position] += 1

    def _take(self, topic_id: str, partition: int, position: int) -> None:
        self._draft(position).remove(topic_id, partition)
        self._loads[position] -= 1

    def assignments(self) -> list[Assignment]:
        return [
            self._drafts[position].assignment()
            if position in self._drafts
            else kept(member.assignment)
            for position, member in enumerate(self._members)
        ]

    def _draft(self, position: int) -> Draft:
        if position not in self._drafts:
            self._drafts[position] = Draft(self._members[position].assignment)
        return self._drafts[position]


def _next_giver(balancer: Balancer, held: Mapping[int, list[int]]) -> int | None:
    # Members without a partition of this topic cannot give: they are excluded one after the other.
    while (giver := balancer.next_giver()) is not None:
        if held.get(giver):
            return giver
        balancer.exclude_giver()
    return None
