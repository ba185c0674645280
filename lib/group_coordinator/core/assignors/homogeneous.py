"""The uniform assignor for members that all want the same topics."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping

from group_coordinator.core.assignors.draft import Draft, kept, kept_order
from group_coordinator.core.assignors.spec import (
    Assignment,
    MemberSpec,
    PartitionAssignorError,
    TopicSpec,
)
from group_coordinator.core.assignors.subscriptions import check_topics
from group_coordinator.core.kafka_order.java_tables import (
    hash_map_order,
    partition_set_order,
    table_size_of_copy,
    topic_spot,
)

Partition = tuple[str, int]


def assign_homogeneous(
    members: Mapping[str, MemberSpec], topics: Mapping[str, TopicSpec]
) -> dict[str, Assignment]:
    """Cut what the members hold down to equal quotas, then hand out what nobody holds.

    The order of the members breaks ties between them.
    """
    wanted = next(iter(members.values())).topic_ids
    check_topics(wanted, topics)
    in_given_order = [topic_id for topic_id in topics if topic_id in wanted]
    order = hash_map_order(in_given_order, topic_spot, table_size_of_copy(len(wanted)))
    sizes = {topic_id: topics[topic_id].num_partitions for topic_id in order}
    build = _Build(members, wanted, list(_unassigned(members.values(), sizes)))
    build.cut_down(sum(sizes.values()))
    build.hand_out()
    return build.assignments()


def _unassigned(members: Iterable[MemberSpec], sizes: Mapping[str, int]) -> Iterable[Partition]:
    assigned = defaultdict[str, set[int]](set)
    for member in members:
        for topic_id, partitions in member.assignment.items():
            assigned[topic_id].update(partitions)
    for topic_id, size in sizes.items():
        held = assigned[topic_id]
        if len(held) != size or max(held, default=-1) >= size:
            for partition in sorted(set(range(size)).difference(held)):
                yield topic_id, partition


class _Build:
    """The changes to the members' assignments, one step after the other."""

    def __init__(
        self,
        members: Mapping[str, MemberSpec],
        wanted: frozenset[str],
        unassigned: list[Partition],
    ) -> None:
        self._members = members
        self._wanted = wanted
        self._unassigned = unassigned
        self._unfilled: list[tuple[str, int]] = []
        self._drafts: dict[str, Draft] = {}

    def cut_down(self, total: int) -> None:
        """Take what is more than a member's quota or no longer wanted; note who has space for how many more."""
        minimum, extras = divmod(total, len(self._members))
        members_left = len(self._members)
        for member_id, member in self._members.items():
            extra = extras > 0
            space = self._cut_down_member(member_id, member, minimum + extra)
            if extra and space > 0 and members_left > extras:
                # A later member may hold one more already, and can keep it then.
                space -= 1
                extra = False
            if space > 0:
                self._unfilled.append((member_id, space))
            extras -= extra
            members_left -= 1

    def _cut_down_member(self, member_id: str, member: MemberSpec, quota: int) -> int:
        held = sum(map(len, member.assignment.values()))
        if held <= quota and member.assignment.keys() <= self._wanted:
            return quota - held
        draft = self._draft(member_id)
        for topic_id in kept_order(member.assignment):
            partitions = partition_set_order(member.assignment[topic_id])
            if topic_id not in self._wanted:
                draft.remove_topic(topic_id)
                continue
            for partition in partitions[quota:]:
                draft.remove(topic_id, partition)
                self._unassigned.append((topic_id, partition))
            quota = max(quota - len(partitions), 0)
        return quota

    def hand_out(self) -> None:
        """Fill the members one after the other. Raises PartitionAssignorError if there is too little space."""
        done = 0
        for member_id, space in self._unfilled:
            for topic_id, partition in self._unassigned[done : done + space]:
                self._draft(member_id).add(topic_id, partition)
            done += space
        if done < len(self._unassigned):
            raise PartitionAssignorError("partitions were left unassigned")

    def assignments(self) -> dict[str, Assignment]:
        """What everybody has now."""
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
