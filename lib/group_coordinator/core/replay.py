"""Applies what was decided. Nothing is decided here: the same records give the same group, live and in recovery."""

from __future__ import annotations

from collections.abc import Iterable

from group_coordinator.core.classic.generation import union_of_subscriptions
from group_coordinator.core.consumer.replay import replay_consumer_record
from group_coordinator.core.group_configs import session_timeout_ms
from group_coordinator.core.model.changes import SoftChange, apply_soft_change, begin_timers
from group_coordinator.core.model.classic_group import ClassicGroup
from group_coordinator.core.model.classic_member import Member
from group_coordinator.core.model.config import CoordinatorConfig
from group_coordinator.core.model.consumer_group import ConsumerGroup
from group_coordinator.core.model.decision import Decision, LearnedTopics
from group_coordinator.core.model.group import Group
from group_coordinator.core.model.offset import CommittedOffset
from group_coordinator.core.model.records import (
    ConfigRecord,
    CurrentRecord,
    GroupMetadata,
    GroupRecord,
    OffsetRecord,
    Record,
    TargetEpochRecord,
    TargetRecord,
    TransactionMarker,
)
from group_coordinator.core.model.states import ClassicState
from group_coordinator.core.model.timers import NEVER_MS, Timer, TimerKey, TimerKind, session_timer
from group_coordinator.core.offsets import pending

_EMPTY = ClassicState.EMPTY
_SESSION = TimerKind.SESSION
_WITHOUT_DEADLINE = (CurrentRecord, TargetRecord, TargetEpochRecord)
"""Records that bring no deadline nearer: no deadline depends on who has which partition."""


def apply(group: Group, decision: Decision, now_ms: int, config: CoordinatorConfig) -> None:
    """Make a decision real. `wake_ms` stays a lower bound of the group's deadlines."""
    if decision.membership is not None:
        group.membership = decision.membership
        group.wake_ms = 0
    if decision.topics is not None:
        _learn(group, decision.topics)
    if decision.forgets_topics:
        group.topics = None
    for record in decision.records:
        # A membership that comes with the decision is what all other records make of the group.
        if decision.membership is None or isinstance(record, OffsetRecord):
            replay_record(group, record, now_ms)
            group.wake_ms = min(group.wake_ms, _soonest_deadline_after(group, record, config))
    if decision.renewed_session is not None and isinstance(group.membership, ClassicGroup):
        due_ms = _rearm_session(group.membership, decision.renewed_session, now_ms)
        group.wake_ms = min(group.wake_ms, due_ms)
    if decision.soft and isinstance(group.membership, ConsumerGroup):
        _apply_soft_changes(group, group.membership, decision.soft, now_ms)


def _learn(group: Group, learned: LearnedTopics) -> None:
    group.topics = learned.topics
    group.topics_version = learned.version
    group.topics_are_complete = learned.are_complete
    if learned.brings_new_ones:
        group.new_topics_version = learned.version


def _apply_soft_changes(
    group: Group, membership: ConsumerGroup, changes: Iterable[SoftChange], now_ms: int
) -> None:
    for change in changes:
        due_ms = apply_soft_change(membership, change, now_ms)
        if due_ms is not None:
            group.wake_ms = min(group.wake_ms, due_ms)


def replay(group: Group, records: Iterable[Record], now_ms: int) -> None:
    """Rebuild a group from its log.

    The sessions of a classic group's members begin at `now_ms`, as when a broker loads the log; begin_sessions does it
    for groups of both kinds.
    """
    for record in records:
        replay_record(group, record, now_ms)
    group.wake_ms = 0


def begin_sessions(group: Group, now_ms: int, config: CoordinatorConfig) -> None:
    """Give every member its whole session timeout from now on, as when a broker has loaded the log."""
    if isinstance(group.membership, ClassicGroup):
        for member_id in group.membership.members:
            _rearm_session(group.membership, member_id, now_ms)
    elif group.membership is not None:
        begin_timers(group.membership, now_ms, session_timeout_ms(group, config))
    group.wake_ms = 0


def replay_record(group: Group, record: Record, now_ms: int) -> None:
    """Apply one record of the log."""
    match record:
        case OffsetRecord():
            if record.value is None:
                _remove_offset(group, record)
            else:
                _take_offset(group, record, record.value, now_ms)
        case GroupRecord():
            # Kafka's group tombstone leaves offsets alone; their own tombstones are written before it.
            metadata = record.value
            group.membership = None if metadata is None else load_membership(metadata, now_ms)
        case TransactionMarker():
            pending.end_transaction(group, record)
        case ConfigRecord():
            _set_config(group, record)
        case _:
            replay_consumer_record(group, record)


def _set_config(group: Group, record: ConfigRecord) -> None:
    if record.value is None:
        group.configs.pop(record.name, None)
    else:
        group.configs[record.name] = record.value


def _take_offset(group: Group, record: OffsetRecord, offset: CommittedOffset, now_ms: int) -> None:
    """An offset for an unknown group makes it a simple group."""
    if group.membership is None:
        group.membership = ClassicGroup(state_timestamp_ms=now_ms)
    if record.producer_id is not None:
        pending.add(group, record, offset, record.producer_id)
        return
    if group.pending:
        pending.supersede(group, record)
    group.store_offset(record.topic, record.partition, offset)


def _remove_offset(group: Group, record: OffsetRecord) -> None:
    group.pending.pop((record.topic, record.partition), None)
    partitions = group.offsets.get(record.topic, {})
    partitions.pop(record.partition, None)
    if not partitions:
        group.offsets.pop(record.topic, None)


def _soonest_deadline_after(group: Group, record: Record, config: CoordinatorConfig) -> int:
    """No deadline that this record brings lies before the time returned; 0 where that takes a look at the group."""
    if not isinstance(record, OffsetRecord) or record.value is None:
        return NEVER_MS if isinstance(record, _WITHOUT_DEADLINE) else 0
    membership = group.membership
    if (
        isinstance(membership, ClassicGroup)
        and membership.protocol_type
        and membership.state is _EMPTY
    ):
        return 0  # the clock of an Empty group may have run out before the commit
    if record.value.expire_timestamp_ms is not None:
        return record.value.expire_timestamp_ms
    return record.value.commit_timestamp_ms + config.retention_ms


def load_membership(metadata: GroupMetadata, now_ms: int) -> ClassicGroup:
    """The group that a GroupMetadata value describes: Stable with members, Empty without."""
    members = {
        entry.member_id: Member(
            entry.member_id,
            entry.group_instance_id,
            entry.client_id,
            entry.client_host,
            entry.known_rebalance_timeout_ms,
            entry.session_timeout_ms,
            (entry.subscription,),
            entry.assignment,
        )
        for entry in metadata.members
    }
    return ClassicGroup(
        state=ClassicState.STABLE if members else ClassicState.EMPTY,
        state_timestamp_ms=metadata.state_timestamp_ms,
        generation=metadata.generation,
        protocol_type=metadata.protocol_type or None,
        protocol=metadata.protocol,
        leader=metadata.leader,
        subscribed_topics=union_of_subscriptions(
            metadata.protocol_type, (entry.subscription for entry in metadata.members)
        ),
        members=members,
        timers={
            session_timer(member_id): Timer(now_ms + member.session_timeout_ms, now_ms)
            for member_id, member in members.items()
        },
    )


def _rearm_session(membership: ClassicGroup, member_id: str, now_ms: int) -> int:
    """Give a member its whole session timeout from now on, behind the timers set before; its new deadline."""
    key = TimerKey(_SESSION, member_id)
    membership.timers.pop(key, None)
    due_ms = now_ms + membership.members[member_id].session_timeout_ms
    membership.timers[key] = Timer(due_ms, now_ms)
    return due_ms
