"""The target assignment of a consumer group: the assignor's result for all members, and its records.

Targets of all members are computed at once, after the group epoch has grown (step 4 of `core/consumer/member_update.py`): the votes
for an assignor, the members in the order of Kafka's hash maps (assignors break ties by it), the assignor's result, and its records.
Source: TargetAssignmentBuilder in Kafka 4.4.
Stories: stories/consumer/subscribing.py, stories/consumer/assignment_interval.py, stories/consumer/preferred_assignors.py.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence

from group_coordinator.core.assignors.spec import (
    NO_PARTITIONS,
    Assignment,
    Assignor,
    MemberSpec,
    SubscriptionType,
    TopicSpec,
)
from group_coordinator.core.kafka_order import MemberOrder, subscribed_order
from group_coordinator.core.model.config import BUILTIN_ASSIGNORS
from group_coordinator.core.model.consumer_group import ConsumerGroup
from group_coordinator.core.model.consumer_member import ConsumerMember, TargetEpoch
from group_coordinator.core.model.group import Group
from group_coordinator.core.model.records import Reason, Record, TargetEpochRecord, TargetRecord
from group_coordinator.core.model.requests import Topic


def preferred_assignor(
    membership: ConsumerGroup,
    default: str,
    old: ConsumerMember | None = None,
    new: ConsumerMember | None = None,
) -> str:
    """Return the assignor that most members request, once `old` is `new`; the default if no member requests any.

    In a tie the first in Kafka's hash map wins: the assignor that only `new` requests, else the first of BUILTIN_ASSIGNORS.
    """
    votes = Counter(membership.assignor_votes)
    # The old vote of the member does not count any more.
    votes[None if old is None else old.metadata.server_assignor] -= 1
    present = [name for name in BUILTIN_ASSIGNORS if votes[name] > 0]
    asked = None if new is None else new.metadata.server_assignor
    votes[asked] += 1
    # In Kafka's map an assignor without votes so far comes first.
    candidates = present if asked is None or asked in present else [asked, *present]
    return max(candidates, key=votes.__getitem__, default=default)


def members_after(
    membership: ConsumerGroup, updated: ConsumerMember, order: MemberOrder
) -> dict[str, tuple[ConsumerMember, Assignment]]:
    """Return the members and their present targets, in the order of the assignors, with `updated` among them.

    A static member that joins with another id gets the place and the target of its former id.
    """
    before_id = membership.static_member_id(updated.group_instance_id) or updated.member_id
    replaced_id = None if before_id == updated.member_id else before_id
    members = dict(membership.members.items()) | {updated.member_id: updated}
    targets = targets_before(membership, updated)
    return {
        member_id: (members[member_id], targets.get(member_id, {}))
        for member_id in order(membership.members, updated.member_id, replaced_id)
    }


def assign(
    group: Group,
    membership: ConsumerGroup,
    members: Mapping[str, tuple[ConsumerMember, Assignment]],
    *,
    assignor: Assignor,
    kind: SubscriptionType,
    subscription_order: Mapping[str, Sequence[str]],
) -> dict[str, Assignment]:
    """Return the new targets of all members, in the order of their records.

    Names in the same bucket of Kafka's hash tables are in their `subscription_order`; without that they are sorted.
    Raises PartitionAssignorError: the assignor found no assignment.
    """
    wanted = _WantedTopics(group, membership)
    specs = {}
    for member_id, (member, target) in members.items():
        metadata = member.metadata
        names = subscription_order.get(member_id, metadata.topic_names)
        topic_ids = wanted.ids(names, metadata.topic_regex)
        # A static member that took the place of another member gives up its own earlier target.
        own = membership.target_of(member_id)
        specs[member_id] = MemberSpec(
            metadata.rack_id,
            metadata.group_instance_id,
            topic_ids,
            target,
            NO_PARTITIONS if own is target else own,
        )
    return assignor(specs, wanted.topics, kind)


class _WantedTopics:
    """The existing topics that members subscribe to. Equal subscriptions are looked up once."""

    def __init__(self, group: Group, membership: ConsumerGroup) -> None:
        self.topics: dict[str, TopicSpec] = {}
        """The topics by id, in the order in which Kafka finds them."""
        self._known = group.topics or {}
        self._regexes = membership.regexes
        self._by_names: dict[tuple[tuple[str, ...], str | None], frozenset[str]] = {}
        self._by_identity: dict[tuple[int, str | None], frozenset[str]] = {}

    def ids(self, names: Sequence[str], regex: str | None) -> frozenset[str]:
        """Return the ids of a member's topics. `names` must live as long as this object."""
        # Members of one snapshot share their names; hashing a thousand takes longer than the rest.
        key = id(names), regex
        if key not in self._by_identity:
            self._by_identity[key] = self._ids_of(tuple(names), regex)
        return self._by_identity[key]

    def _ids_of(self, names: tuple[str, ...], regex: str | None) -> frozenset[str]:
        if (names, regex) not in self._by_names:
            resolved = self._regexes.get(regex or "")
            ordered = subscribed_order(names, () if resolved is None else resolved.topics)
            # Unknown topics are assigned once the group learns of them.
            topics = [self._known[name] for name in ordered if name in self._known]
            self.topics |= {topic.topic_id: _topic_spec(topic) for topic in topics}
            self._by_names[names, regex] = frozenset(topic.topic_id for topic in topics)
        return self._by_names[names, regex]


def _topic_spec(topic: Topic) -> TopicSpec:
    racks = topic.racks
    if racks is None:
        return TopicSpec(topic.num_partitions, None)
    return TopicSpec(topic.num_partitions, tuple(frozenset(entry) for entry in racks))


def targets_before(membership: ConsumerGroup, updated: ConsumerMember) -> Mapping[str, Assignment]:
    """Return the present targets. Since Kafka 4.4 a static member has the target of the member that it replaces."""
    replaced_id = membership.static_member_id(updated.group_instance_id) or updated.member_id
    if replaced_id == updated.member_id or replaced_id not in membership.targets:
        return dict(membership.targets.items())
    return dict(membership.targets.items()) | {updated.member_id: membership.targets[replaced_id]}


def target_records(
    before: Mapping[str, Assignment],
    targets: Mapping[str, Assignment],
    epoch: TargetEpoch,
    reason: Reason,
) -> list[Record]:
    """Return a record for each changed target, and the record that makes the targets effective."""
    changed: list[Record] = [
        TargetRecord(member_id, target, reason)
        for member_id, target in targets.items()
        if before.get(member_id) != target
    ]
    return [*changed, TargetEpochRecord(epoch, reason)]
