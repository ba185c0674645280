"""The online upgrade: a classic group becomes a consumer group when the first consumer of KIP-848 joins.

The members stay with their partitions, and still speak the classic protocol. Of an empty group only the name and the offsets stay.
Source: validateOnlineUpgrade and convertToConsumerGroup in Kafka 4.4's GroupMetadataManager, ConsumerGroup.fromClassicGroup.
Stories: stories/migration/upgrading.py, stories/migration/upgrade_conditions.py.
"""

from __future__ import annotations

from collections.abc import Mapping

from group_coordinator.core.assignors.spec import Assignment
from group_coordinator.core.consumer.replay import replay_consumer_record
from group_coordinator.core.consumer.update import metadata_hash
from group_coordinator.core.embedded_protocol import (
    MalformedProtocolError,
    read_assignment,
    read_subscription,
)
from group_coordinator.core.kafka_order import new_hash_map_order, timeline_order
from group_coordinator.core.migration.downgrade import allows_upgrade, by_topic_id
from group_coordinator.core.model.changes import Change, Decision, MembershipReplaced, TimerSet
from group_coordinator.core.model.classic_group import ClassicGroup
from group_coordinator.core.model.classic_member import ClassicMember
from group_coordinator.core.model.config import CoordinatorConfig
from group_coordinator.core.model.consumer_group import ConsumerGroup
from group_coordinator.core.model.consumer_member import (
    ClassicMetadata,
    CurrentAssignment,
    GroupEpoch,
    OwnedPartitions,
    ReconciliationState,
    SubscriptionMetadata,
    TargetEpoch,
)
from group_coordinator.core.model.errors import CoordinatorError, ErrorCode
from group_coordinator.core.model.group import Group, is_empty
from group_coordinator.core.model.records import (
    ConsumerRecord,
    CurrentRecord,
    GroupEpochRecord,
    GroupRecord,
    MemberRecord,
    Reason,
    Record,
    TargetEpochRecord,
    TargetRecord,
)
from group_coordinator.core.model.requests import Topic
from group_coordinator.core.model.responses import JoinGroupResponse, Reply, SyncGroupResponse
from group_coordinator.core.model.timers import KINDS_LEFT_BY_CONVERSIONS, session_timer
from group_coordinator.core.value import Value

_REASON = Reason.UPGRADE
_AGAIN = ErrorCode.REBALANCE_IN_PROGRESS


class Upgrade(Value, frozen=True):
    """A classic group as a consumer group: the records of the upgrade, and their result.

    The members are in the order in which Kafka finds them until the request ends.
    """

    membership: ConsumerGroup
    records: list[Record]
    replies: list[Reply]
    changes: list[Change]
    subscription_order: dict[str, tuple[str, ...]]
    """The topics of each member by member id, in the order of its subscription."""


class Converted(Value, frozen=True):
    """A member of the classic group in the form of the consumer group."""

    member_id: str
    metadata: SubscriptionMetadata
    target: Assignment
    current: CurrentAssignment
    subscription_order: tuple[str, ...]


def upgrade(group: Group, classic: ClassicGroup, now_ms: int, config: CoordinatorConfig) -> Upgrade:
    """Convert a classic group that a member of the consumer protocol joins.

    Raises CoordinatorError: GROUP_ID_NOT_FOUND, the group must stay classic; UNKNOWN_SERVER_ERROR, Kafka throws, as there is no
    protocol yet, a member does not know it, or two members own the same partition.
    """
    if is_empty(classic):
        return Upgrade(ConsumerGroup(), [GroupRecord(None, Reason.JOIN)], [], [], {})
    _check(group, classic, config)
    members = _converted_members(group, classic)
    records = _records(group, classic, members)
    # The records are replayed on an empty group: the membership is exactly that of a log with them.
    upgraded = Group(group.group_id)
    for record in records:
        replay_consumer_record(upgraded, record)
    membership = upgraded.consumer or ConsumerGroup()
    return Upgrade(
        membership,
        [GroupRecord(None, _REASON), *records],
        _rejoin_replies(classic),
        _timers(classic, members, now_ms),
        {member.member_id: member.subscription_order for member in members},
    )


def abandoned_upgrade(
    group: Group, config: CoordinatorConfig, error: CoordinatorError, error_response: Reply
) -> Decision:
    """Return the decision for a failed join of the consumer protocol.

    Kafka has sent the pending responses of the classic group by then.
    Raises CoordinatorError: the same error, if no request was pending or the upgrade had not begun.
    """
    classic = group.classic
    if classic is None or is_empty(classic):
        raise error
    _check(group, classic, config)
    replies = _rejoin_replies(classic)
    if not replies:
        raise error
    # The group stays classic, but its pending requests are answered.
    left = classic.copy()
    for member in classic.members.values():
        left.put(member.replace(awaiting_join=None, awaiting_sync=None))
    return Decision([], [*replies, error_response], (MembershipReplaced(left),))


def _check(group: Group, classic: ClassicGroup, config: CoordinatorConfig) -> None:
    if not allows_upgrade(config):
        raise _upgrade_error(group, "online upgrade is disabled")
    if not classic.is_of_consumers:
        raise _upgrade_error(group, "the group does not use the consumer embedded protocol")
    if len(classic.members) > config.group_consumer_max_size:
        raise _upgrade_error(group, "the group size exceeds the consumer group maximum size")


def _converted_members(group: Group, classic: ClassicGroup) -> list[Converted]:
    # Kafka's order decides which of several faults is the error.
    ids = new_hash_map_order(list(classic.members))
    members: dict[str, Converted] = {}
    held: OwnedPartitions = {}
    try:
        for member_id in ids:
            members[member_id] = _converted(group, classic, classic.members[member_id])
            _hold(held, members[member_id].target)
    except MalformedProtocolError:
        raise _upgrade_error(group, "the embedded consumer protocol is malformed") from None
    return [members[member_id] for member_id in timeline_order(ids)]


def _records(group: Group, classic: ClassicGroup, members: list[Converted]) -> list[ConsumerRecord]:
    # The group epoch begins with the generation.
    epoch = classic.generation
    subscribed = {name for member in members for name in member.metadata.topic_names}
    return [
        *(MemberRecord(member.member_id, member.metadata, _REASON) for member in members),
        GroupEpochRecord(GroupEpoch(epoch, metadata_hash(group, subscribed)), _REASON),
        *(TargetRecord(member.member_id, member.target, _REASON) for member in members),
        TargetEpochRecord(TargetEpoch(epoch), _REASON),
        *(CurrentRecord(member.member_id, member.current, _REASON) for member in members),
    ]


def _timers(classic: ClassicGroup, members: list[Converted], now_ms: int) -> list[Change]:
    # Timers of an earlier consumer group count again; a join timer may reach a later classic group.
    kept = [
        TimerSet(key, timer.due_ms)
        for key, timer in classic.timers.items()
        if key.kind in KINDS_LEFT_BY_CONVERSIONS
    ]
    # All sessions start again.
    sessions = [
        TimerSet(session_timer(key), now_ms + classic.members[key].session_timeout_ms)
        for key in [member.member_id for member in members]
    ]
    return [*kept, *sessions]


def _rejoin_replies(classic: ClassicGroup) -> list[Reply]:
    # The generation has ended: the members must join again.
    replies = []
    for member_id in sorted(classic.members):
        member = classic.members[member_id]
        if member.awaiting_join is not None:
            replies.append(Reply(member.awaiting_join, JoinGroupResponse(_AGAIN, member_id)))
        if member.awaiting_sync is not None:
            replies.append(Reply(member.awaiting_sync, SyncGroupResponse(_AGAIN)))
    return replies


def _upgrade_error(group: Group, why: str) -> CoordinatorError:
    message = f"Cannot upgrade classic group {group.group_id} to consumer group because {why}."
    return CoordinatorError(ErrorCode.GROUP_ID_NOT_FOUND, message)


def _converted(group: Group, classic: ClassicGroup, member: ClassicMember) -> Converted:
    topics = group.topics or {}
    target = _last_assignment(group, member, topics)
    protocol = member.protocol(classic.protocol)
    if protocol is None:
        raise CoordinatorError(ErrorCode.UNKNOWN_SERVER_ERROR)
    subscription = read_subscription(protocol.metadata)
    metadata = SubscriptionMetadata(
        group_instance_id=member.group_instance_id,
        rack_id=subscription.rack_id or None,
        client_id=member.client_id,
        client_host=member.client_host,
        topic_names=tuple(sorted(set(subscription.topics))),
        topic_regex=None,
        rebalance_timeout_ms=member.rebalance_timeout_ms,
        server_assignor=None,
        classic=ClassicMetadata(member.session_timeout_ms, member.protocols),
    )
    epoch = classic.generation
    owned = {topic_id: dict.fromkeys(partitions, epoch) for topic_id, partitions in target.items()}
    current = CurrentAssignment(epoch, epoch, ReconciliationState.STABLE, owned, {})
    return Converted(member.member_id, metadata, target, current, tuple(subscription.topics))


def _last_assignment(
    group: Group, member: ClassicMember, topics: Mapping[str, Topic]
) -> Assignment:
    if not member.assignment:
        return {}
    assignment = read_assignment(member.assignment)
    # A custom assignor keeps data there, which a consumer group would lose.
    if assignment.user_data:
        raise _upgrade_error(
            group,
            "an unsupported custom assignor is in use. Please refer to the documentation or switch to a default "
            "assignor before re-attempting the upgrade",
        )
    return by_topic_id(assignment.assigned, topics)


def _hold(held: OwnedPartitions, target: Assignment) -> None:
    for topic_id, partitions in target.items():
        others = held.setdefault(topic_id, {})
        # No two members may own a partition.
        if not others.keys().isdisjoint(partitions):
            raise CoordinatorError(ErrorCode.UNKNOWN_SERVER_ERROR)
        others.update(dict.fromkeys(partitions, 0))
