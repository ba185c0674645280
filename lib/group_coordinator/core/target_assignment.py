"""What each member of a consumer group shall have: the assignor's answer for all of them, as records.

Source: TargetAssignmentBuilder in Kafka 4.3.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from group_coordinator.core.assignors.spec import Assignor, MemberSpec, TopicSpec
from group_coordinator.core.consumer_group import ConsumerGroup
from group_coordinator.core.consumer_members import (
    Assignment,
    ConsumerMember,
    SubscriptionMetadata,
    TargetEpoch,
)
from group_coordinator.core.group import Group
from group_coordinator.core.records import Reason, Record, TargetEpochRecord, TargetRecord
from group_coordinator.core.subscriptions import topic_ids_of


def preferred_assignor(members: Iterable[ConsumerMember], default: str) -> str:
    """The assignor that most members ask for; of several that many ask for, the one that Kafka's hash map has first."""
    votes = dict.fromkeys(_IN_HASH_ORDER, 0)
    for member in members:
        name = member.metadata.server_assignor
        if name is not None:
            votes[name] = votes.get(name, 0) + 1
    best = max(votes, key=votes.__getitem__)
    return best if votes[best] else default


_IN_HASH_ORDER = ("range", "uniform")


def members_after(
    membership: ConsumerGroup, updated: ConsumerMember
) -> dict[str, tuple[ConsumerMember, Assignment]]:
    """The members with their present targets, by id in sorted order, once `updated` is one of them.

    A static member that comes back under another id takes the place, and the target, of the one it was.
    """
    instance_id = updated.group_instance_id
    before_id = membership.static_members.get(instance_id or "") or updated.member_id
    members = {**membership.members, updated.member_id: updated}
    if before_id != updated.member_id:
        del members[before_id]
    targets = {member_id: membership.target_of(member_id) for member_id in members}
    targets[updated.member_id] = membership.target_of(before_id)
    return {member_id: (members[member_id], targets[member_id]) for member_id in sorted(members)}


def assign(
    group: Group,
    membership: ConsumerGroup,
    members: Mapping[str, tuple[ConsumerMember, Assignment]],
    assignor: Assignor,
) -> dict[str, Assignment]:
    """The new targets of all members."""
    subscribed: dict[tuple[tuple[str, ...], str | None], frozenset[str]] = {}
    specs = {}
    for member_id, (member, target) in members.items():
        metadata = member.metadata
        wanted = (metadata.topic_names, metadata.topic_regex)
        if wanted not in subscribed:
            subscribed[wanted] = topic_ids_of(group, membership, metadata)
        specs[member_id] = _spec(metadata, subscribed[wanted], target)
    return assignor(specs, _topics(group, frozenset[str]().union(*subscribed.values())))


def target_records(
    membership: ConsumerGroup, targets: Mapping[str, Assignment], epoch: TargetEpoch, reason: Reason
) -> list[Record]:
    """A record for each member whose target is another one now, and the one that makes them count."""
    changed: list[Record] = [
        TargetRecord(member_id, target, reason)
        for member_id, target in targets.items()
        if membership.targets.get(member_id) != target
    ]
    return [*changed, TargetEpochRecord(epoch, reason)]


def _spec(
    metadata: SubscriptionMetadata, topic_ids: frozenset[str], target: Assignment
) -> MemberSpec:
    return MemberSpec(metadata.rack_id, metadata.group_instance_id, topic_ids, target)


def _topics(group: Group, topic_ids: frozenset[str]) -> dict[str, TopicSpec]:
    return {
        topic.topic_id: TopicSpec(
            topic.num_partitions,
            None if topic.racks is None else tuple(frozenset(racks) for racks in topic.racks),
        )
        for topic in (group.topics or {}).values()
        if topic.topic_id in topic_ids
    }
