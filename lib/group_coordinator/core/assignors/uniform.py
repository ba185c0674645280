"""Kafka's uniform assignor: all members get the same number of partitions, and keep their own as far as possible."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping
from collections.abc import Set as AbstractSet
from typing import TypeAlias

from group_coordinator.core.assignors.draft import Draft, kept
from group_coordinator.core.assignors.heterogeneous import assign_heterogeneous
from group_coordinator.core.assignors.spec import (
    Assignment,
    MemberSpec,
    PartitionAssignorError,
    SubscriptionType,
    TopicSpec,
    check_topics,
    type_by_topic_ids,
)
from group_coordinator.core.kafka_order.java_tables import (
    hash_map_order,
    partition_set_order,
    table_size_of_copy,
    topic_spot,
)

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
            # A target that was given up is not free in this assignment, but does not count for its
            # former owner either.
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
