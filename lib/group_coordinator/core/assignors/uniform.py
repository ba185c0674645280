"""Kafka's uniform assignor: all members get the same number of partitions, and keep their own as far as possible."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from collections.abc import Set as AbstractSet
from typing import TypeAlias

from group_coordinator.core.assignors.spec import (
    Assignment,
    Draft,
    MemberSpec,
    PartitionAssignorError,
    SubscriptionType,
    TopicSpec,
    check_topics,
    kept,
    subscribers,
    type_by_topic_ids,
)
from group_coordinator.core.kafka_order import (
    hash_map_order,
    partition_set_order,
    table_size_of_copy,
    topic_spot,
    uuid_words,
)


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
            # All members of the range were excluded: it continues with the next, however low its load.
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
    build = _HeterogeneousBuild(list(members.values()), topics)
    build.keep_wanted()
    build.hand_out()
    build.balance()
    return dict(zip(members, build.assignments(), strict=True))


class _HeterogeneousBuild:
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
        # Topics with many partitions a subscriber are first, then topics with few subscribers.
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
                # The first topic counts as changed: a whole round without a move ends the loop.
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


Partition = tuple[str, int]
Held: TypeAlias = dict[str, list[tuple[int, ...]]]
"""The partitions of each member that has some, by topic id."""


def assign_homogeneous(
    members: Mapping[str, MemberSpec], topics: Mapping[str, TopicSpec]
) -> dict[str, Assignment]:
    """Reduce the members' partitions to equal quotas, then distribute the unassigned partitions.

    The order of the members breaks ties.
    """
    wanted = next(iter(members.values())).topic_ids
    check_topics(wanted, topics)
    in_given_order = [topic_id for topic_id in topics if topic_id in wanted]
    # Kafka collects the topics in a HashSet, so its order is the order of distribution.
    order = hash_map_order(in_given_order, topic_spot, table_size_of_copy(len(wanted)))
    sizes = {topic_id: topics[topic_id].num_partitions for topic_id in order}
    held, loads = _held(members.values())
    build = _Build(members, loads, list(_unassigned(held, sizes)))
    build.drop(held.keys() - wanted)
    build.cut_down(sum(sizes.values()))
    build.hand_out()
    return build.assignments()


def _held(members: Iterable[MemberSpec]) -> tuple[Held, list[int]]:
    held: Held = defaultdict(list)
    loads = []
    for member in members:
        load = 0
        for topic_id, partitions in member.assignment.items():
            held[topic_id].append(partitions)
            # A target that was given up is not free here, but is no load of its former owner either.
            load += len(partitions)
        for topic_id, partitions in member.given_up.items():
            held[topic_id].append(partitions)
        loads.append(load)
    return held, loads


def _unassigned(held: Held, sizes: Mapping[str, int]) -> Iterable[Partition]:
    # Many topics have the same number of partitions: their sets are made once.
    everything = {size: frozenset(range(size)) for size in set(sizes.values())}
    for topic_id, size in sizes.items():
        for partition in sorted(everything[size].difference(*held.get(topic_id, ()))):
            yield topic_id, partition


class _Build:
    """The changes to the members' assignments, step by step."""

    def __init__(
        self, members: Mapping[str, MemberSpec], loads: list[int], unassigned: list[Partition]
    ) -> None:
        self._members = members
        self._loads = loads
        self._unassigned = unassigned
        self._unfilled: list[tuple[str, int]] = []
        self._drafts: dict[str, Draft] = {}

    def drop(self, unwanted: AbstractSet[str]) -> None:
        """Remove topics that the members no longer subscribe to."""
        if not unwanted:
            return
        for place, (member_id, member) in enumerate(self._members.items()):
            for topic_id in unwanted & member.assignment.keys():
                self._draft(member_id).remove_topic(topic_id)
                self._loads[place] -= len(member.assignment[topic_id])

    def cut_down(self, total: int) -> None:
        """Remove partitions beyond a member's quota, and note the members with free places."""
        # The first members that can hold an extra partition get the remainder.
        minimum, extras = divmod(total, len(self._members))
        members_left = len(self._members)
        for member_id, load in zip(self._members, self._loads, strict=True):
            extra = extras > 0
            space = minimum + extra - load
            if space < 0:
                self._cut_down_member(member_id, minimum + extra)
            elif space > 0:
                if extra and members_left > extras:
                    # A later member may hold an extra partition already, and can then keep it.
                    space -= 1
                    extra = False
                self._unfilled.append((member_id, space))
            extras -= extra
            members_left -= 1

    def _cut_down_member(self, member_id: str, quota: int) -> None:
        draft, held = self._draft(member_id), self._members[member_id].assignment
        for topic_id in draft.topics():
            # Kafka iterates over a HashSet of partitions: this decides which of them are removed.
            partitions = partition_set_order(held[topic_id])
            for partition in partitions[quota:]:
                draft.remove(topic_id, partition)
                self._unassigned.append((topic_id, partition))
            quota = max(quota - len(partitions), 0)

    def hand_out(self) -> None:
        """Distribute unassigned partitions member by member. Raises PartitionAssignorError if there are too few places."""
        done = 0
        for member_id, space in self._unfilled:
            for topic_id, partition in self._unassigned[done : done + space]:
                self._draft(member_id).add(topic_id, partition)
            done += space
        if done < len(self._unassigned):
            raise PartitionAssignorError("partitions were left unassigned")

    def assignments(self) -> dict[str, Assignment]:
        return {
            member_id: self._drafts[member_id].assignment()
            if member_id in self._drafts
            else kept(member.assignment)
            for member_id, member in self._members.items()
        }

    def _draft(self, member_id: str) -> Draft:
        if member_id not in self._drafts:
            self._drafts[member_id] = Draft(self._members[member_id].assignment)
        return self._drafts[member_id]


def assign_uniformly(
    members: Mapping[str, MemberSpec],
    topics: Mapping[str, TopicSpec],
    subscription_type: SubscriptionType | None = None,
    /,
) -> dict[str, Assignment]:
    """UniformAssignor of Kafka 4.4; see `Assignor`. Kafka 4.4 does not use racks."""
    if not any(member.topic_ids for member in members.values()):
        return {member_id: {} for member_id in members}
    kind = subscription_type or type_by_topic_ids(members.values())
    if kind is SubscriptionType.HOMOGENEOUS:
        return assign_homogeneous(members, topics)
    return assign_heterogeneous(members, topics)
