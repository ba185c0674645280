"""Replay of the records of consumer groups (KIP-848), without decisions.

A log that Kafka has compacted may lack the predecessors of a record, so a tombstone of an unknown key is ignored
(GroupMetadataManager.replay in Kafka 4.4).
"""

from __future__ import annotations

from typing import assert_never

from group_coordinator.core.assignors.spec import Assignment
from group_coordinator.core.model.consumer_group import ConsumerGroup
from group_coordinator.core.model.consumer_member import (
    ASSIGNMENT_GONE,
    LEFT_EPOCH,
    ConsumerMember,
    CurrentAssignment,
    GroupEpoch,
    ResolvedRegex,
    SubscriptionMetadata,
    TargetEpoch,
)
from group_coordinator.core.model.errors import IllegalTransitionError
from group_coordinator.core.model.group import Group
from group_coordinator.core.model.records import (
    ConsumerRecord,
    CurrentRecord,
    GroupEpochRecord,
    MemberRecord,
    PartitionMetadataTombstone,
    RegexRecord,
    TargetEpochRecord,
    TargetRecord,
)


def replay_consumer_record(group: Group, record: ConsumerRecord) -> None:
    """Apply a record of a consumer group. The first record creates the group."""
    match record:
        case GroupEpochRecord():
            _set_group_epoch(group, record.value)
        case MemberRecord():
            _set_metadata(group, record.member_id, record.value)
        case TargetEpochRecord():
            _set_target_epoch(group, record.value)
        case TargetRecord():
            _set_target(group, record.member_id, record.value)
        case CurrentRecord():
            _set_current(group, record.member_id, record.value)
        case RegexRecord():
            _set_regex(group, record.regex, record.value)
        case PartitionMetadataTombstone():
            pass  # no state is kept that it would remove
        case _:
            assert_never(record)


def _created(group: Group) -> ConsumerGroup:
    # A group that only stores offsets becomes one (getOrMaybeCreatePersistedConsumerGroup).
    membership = group.membership
    if isinstance(membership, ConsumerGroup):
        return membership
    if membership is not None and membership.protocol_type is not None:
        # A log never has this: a classic group's tombstone precedes the records of its successor.
        message = f"group {group.group_id!r} is a classic one with members"
        raise IllegalTransitionError(message)
    created = group.membership = ConsumerGroup()
    return created


def _set_group_epoch(group: Group, value: GroupEpoch | None) -> None:
    if value is not None:
        membership = _created(group)
        membership.epoch = value.epoch
        membership.metadata_hash = value.metadata_hash
    elif group.consumer is not None:
        group.membership = None
        # A rebuilt group has it from its regular expressions. The next group under the name starts again, however batches are cut.
        if group.topics is None:
            group.topics_version = 0


def _set_metadata(group: Group, member_id: str, value: SubscriptionMetadata | None) -> None:
    if value is not None:
        membership = _created(group)
        member = membership.members.get(member_id) or ConsumerMember(member_id)
        membership.put(member.replace(metadata=value))
    elif group.consumer is not None:
        group.consumer.remove(member_id)


def _set_target_epoch(group: Group, value: TargetEpoch | None) -> None:
    if value is not None:
        membership = _created(group)
        membership.assignment_epoch = value.epoch
        membership.assignment_timestamp_ms = value.timestamp_ms
    elif group.consumer is not None:
        group.consumer.assignment_epoch = LEFT_EPOCH
        group.consumer.assignment_timestamp_ms = 0


def _set_target(group: Group, member_id: str, value: Assignment | None) -> None:
    if value is not None:
        _created(group).targets[member_id] = value
    elif group.consumer is not None:
        group.consumer.targets.pop(member_id, None)


def _set_current(group: Group, member_id: str, value: CurrentAssignment | None) -> None:
    if value is not None:
        membership = _created(group)
        member = membership.members.get(member_id) or ConsumerMember(member_id)
        membership.put(member.replace(current=value))
    # A tombstone without its member is ignored; it must not create the member.
    elif group.consumer is not None and member_id in group.consumer.members:
        member = group.consumer.members[member_id]
        group.consumer.put(member.replace(current=ASSIGNMENT_GONE))


def _set_regex(group: Group, regex: str, value: ResolvedRegex | None) -> None:
    if value is not None:
        _created(group).put_regex(regex, value)
        # A rebuilt group continues the numbers: the next topic metadata is newer than the log's.
        group.topics_version = max(group.topics_version, value.version)
    elif group.consumer is not None:
        group.consumer.put_regex(regex, None)
