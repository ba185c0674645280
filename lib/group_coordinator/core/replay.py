"""Replay: it applies decisions and records, and decides nothing. The same records make the same group, live and in recovery.

Live, `apply` first replays the records in log order, as Kafka's coordinator does after appending them. The changes without records
follow: the records of a join create the group whose timers are then set. In recovery `replay` applies only the records, and
`begin_sessions` starts the timeouts of all members again (onLoaded in Kafka 4.4's GroupMetadataManager).

There is one exception. `Rebalance` changes a copy of a live classic group's membership. The decision has this copy, and its
GroupRecords are not replayed. In recovery they are, and the result is the group as last logged: Stable or Empty, without
pending requests and without timers of a phase.
Stories: stories/restarts.py.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import assert_never

from group_coordinator.core.classic.generation import union_of_subscriptions
from group_coordinator.core.classic.rebalance import Rebalance
from group_coordinator.core.consumer.replay import replay_consumer_record
from group_coordinator.core.group_configs import session_timeout_ms
from group_coordinator.core.kafka_order import timeline_order
from group_coordinator.core.model.changes import (
    Change,
    Decision,
    MarkerRemembered,
    MembershipReplaced,
    MetadataDeadlineSet,
    RebalanceTimerSet,
    SessionRenewed,
    TimerCancelled,
    TimerSet,
    TopicsForgotten,
    TopicsLearned,
)
from group_coordinator.core.model.classic_group import ClassicGroup
from group_coordinator.core.model.classic_member import ClassicMember, ClassicState
from group_coordinator.core.model.config import CoordinatorConfig
from group_coordinator.core.model.consumer_group import ConsumerGroup
from group_coordinator.core.model.consumer_member import ReconciliationState
from group_coordinator.core.model.errors import IllegalTransitionError
from group_coordinator.core.model.group import Group
from group_coordinator.core.model.records import (
    ConfigRecord,
    CurrentRecord,
    GroupMetadata,
    GroupRecord,
    OffsetRecord,
    Reason,
    Record,
    TargetEpochRecord,
    TargetRecord,
    TransactionMarker,
)
from group_coordinator.core.model.stored_values import StoredValues
from group_coordinator.core.model.timers import NEVER_MS, TimerKey, TimerKind, Timers, session_timer
from group_coordinator.core.model.topic_offsets import CommittedOffset
from group_coordinator.core.offsets import pending
from group_coordinator.core.offsets.expiration import offsets_retention_ms

_EMPTY = ClassicState.EMPTY
_SESSION = TimerKind.SESSION
_NO_TIMESTAMP = -1
"""As in Kafka's records: an offset with this expire timestamp expires like one without."""
_WITHOUT_DEADLINE = (CurrentRecord, TargetRecord, TargetEpochRecord)
"""Records that bring no deadline nearer: no deadline depends on the assignment of partitions."""


def apply(group: Group, decision: Decision, now_ms: int, config: CoordinatorConfig) -> None:
    """Apply a decision. `wake_ms` stays a lower bound of the group's deadlines."""
    records, changes = decision.records, decision.changes
    if records and changes and MembershipReplaced in map(type, changes):
        # The new membership comes with the decision; only offsets must be replayed.
        records = [record for record in records if isinstance(record, OffsetRecord)]
    for record in records:
        replay_record(group, record, now_ms)
        wake_ms = _soonest_deadline_after(group, record, config)
        if wake_ms < group.wake_ms:  # noqa: PLR1730 - `min` is a tenth of the time of a heartbeat
            group.wake_ms = wake_ms
    for change in changes:
        wake_ms = _apply_change(group, change, now_ms)
        if wake_ms < group.wake_ms:  # noqa: PLR1730
            group.wake_ms = wake_ms
    if group.membership is None and group.last_markers:
        group.last_markers = {}  # the markers of a removed group may be forgotten at any time


def _apply_change(  # noqa: C901, PLR0911 - one line a change
    group: Group, change: Change, now_ms: int
) -> int:
    # Returns a lower bound of the deadlines that the change brings.
    match change:
        case SessionRenewed():
            return _renew_session(group, change.member_id, now_ms)
        case MembershipReplaced():
            return _replace_membership(group, change)
        case TimerSet():
            return _set_timer(_consumer(group), change.key, change.due_ms, now_ms)
        case RebalanceTimerSet():
            return _set_rebalance_timer(_consumer(group), change, now_ms)
        case TimerCancelled():
            _cancel_timer(_consumer(group), change.key)
        case MetadataDeadlineSet():
            _consumer(group).metadata_deadline_ms = change.deadline_ms
        case TopicsLearned():
            _learn(group, change)
            return 0  # a group that does not exist forgets its topic metadata again
        case TopicsForgotten():  # as in a group that its host has dropped, however batches are cut
            group.topics, group.topics_version, group.new_topics_version = None, 0, 0
            group.topics_are_complete = True
        case MarkerRemembered():
            pending.remember(group, change.producer_id, change.marker)
        case _:
            assert_never(change)
    return NEVER_MS


def _replace_membership(group: Group, change: MembershipReplaced) -> int:
    old, new = group.membership, change.membership
    group.membership = new
    # While members join one by one, offsets age as before: only timers bring a deadline nearer.
    ages_as_before = (
        isinstance(old, ClassicGroup)
        and old.state is new.state
        and old.state_timestamp_ms == new.state_timestamp_ms
        and old.protocol_type == new.protocol_type
        and old.subscribed_topics == new.subscribed_topics
    )
    return change.soonest_timer_ms if ages_as_before else 0


def _consumer(group: Group) -> ConsumerGroup:
    membership = group.membership
    if isinstance(membership, ConsumerGroup):
        return membership
    message = f"group {group.group_id!r} is not a consumer group"
    raise IllegalTransitionError(message)


def _set_timer(membership: ConsumerGroup, key: TimerKey, due_ms: int, now_ms: int) -> int:
    membership.timers.arm(key, due_ms, now_ms)
    return due_ms


def _set_rebalance_timer(membership: ConsumerGroup, change: RebalanceTimerSet, now_ms: int) -> int:
    membership.rebalance_epochs[change.member_id] = change.member_epoch
    key = TimerKey(TimerKind.REBALANCE, change.member_id)
    return _set_timer(membership, key, change.due_ms, now_ms)


def _cancel_timer(membership: ConsumerGroup, key: TimerKey) -> None:
    membership.timers.cancel(key)
    if key.kind is TimerKind.REBALANCE:
        membership.rebalance_epochs.pop(key.member_id, None)


def _learn(group: Group, learned: TopicsLearned) -> None:
    group.topics = learned.topics
    group.topics_version = learned.version
    group.topics_are_complete = learned.are_complete
    if learned.brings_new_ones:
        group.new_topics_version = learned.version


def replay(group: Group, records: Iterable[Record], now_ms: int) -> None:
    """Rebuild a group from its log.

    The sessions of a classic group's members begin at `now_ms`, as when a broker loads the log. begin_sessions does that for
    groups of both types.
    """
    for record in records:
        replay_record(group, record, now_ms)
    group.wake_ms = 0


def begin_sessions(group: Group, now_ms: int, config: CoordinatorConfig) -> None:
    """Start the session timeout of every member again, as when a broker has loaded the log."""
    if isinstance(group.membership, ClassicGroup):
        for member_id in group.membership.members:
            _renew_session(group, member_id, now_ms)
        if len(group.membership.members) > config.group_max_size:
            # The setting is lower now: the members join again, and those without a place get an error.
            rebalance = Rebalance(group.membership, now_ms, config, Reason.JOIN)
            rebalance.prepare_rebalance()
            group.membership = rebalance.membership
    elif group.membership is not None:
        _begin_timers(group.membership, now_ms, session_timeout_ms(group, config))
    group.wake_ms = 0


def _begin_timers(membership: ConsumerGroup, now_ms: int, session_timeout_ms: int) -> None:
    membership.timers = Timers()
    membership.rebalance_epochs.clear()
    # Sessions that end in the same millisecond end in the order of Kafka's table.
    for member_id in timeline_order(membership.members, membership.member_room):
        member = membership.members[member_id]
        _set_timer(membership, session_timer(member_id), now_ms + session_timeout_ms, now_ms)
        if member.current.state is ReconciliationState.UNREVOKED_PARTITIONS:
            due_ms = now_ms + max(0, member.metadata.rebalance_timeout_ms)
            change = RebalanceTimerSet(member_id, due_ms, member.epoch)
            _set_rebalance_timer(membership, change, now_ms)


def replay_record(group: Group, record: Record, now_ms: int) -> None:
    match record:
        case OffsetRecord():
            if record.value is None:
                group.pending.pop((record.topic, record.partition), None)
                group.remove_offset(record.topic, record.partition)
            else:
                _take_offset(group, record, record.value, now_ms)
        case GroupRecord():
            # Kafka's group tombstone removes no offsets: their own tombstones precede it.
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
    # An offset for an unknown group creates a simple group.
    if group.membership is None:
        group.membership = ClassicGroup(state_timestamp_ms=now_ms)
    if record.producer_id is not None:
        pending.add(group, record, offset, record.producer_id)
        return
    if group.pending:
        pending.supersede(group, record)
    if offset.expire_timestamp_ms == _NO_TIMESTAMP:
        offset = offset.replace(expire_timestamp_ms=None)
    group.store_offset(record.topic, record.partition, offset)


def _soonest_deadline_after(group: Group, record: Record, config: CoordinatorConfig) -> int:
    # Returns a lower bound of the record's deadlines; 0 if that would need a look at the whole group.
    if not isinstance(record, OffsetRecord) or record.value is None:
        return NEVER_MS if isinstance(record, _WITHOUT_DEADLINE) else 0
    membership = group.membership
    if (
        isinstance(membership, ClassicGroup)
        and membership.protocol_type
        and membership.state is _EMPTY
    ):
        return 0  # the offsets of an Empty group may have been due before the commit
    if record.value.expire_timestamp_ms is not None:
        return record.value.expire_timestamp_ms
    return record.value.commit_timestamp_ms + offsets_retention_ms(group, config.retention_ms)


def load_membership(metadata: GroupMetadata, now_ms: int) -> ClassicGroup:
    """Return the group of a GroupMetadata value: Stable with members, Empty without."""
    members = {
        entry.member_id: ClassicMember(
            member_id=entry.member_id,
            group_instance_id=entry.group_instance_id,
            client_id=entry.client_id,
            client_host=entry.client_host,
            rebalance_timeout_ms=entry.known_rebalance_timeout_ms,
            session_timeout_ms=entry.session_timeout_ms,
            protocols=(entry.subscription,),
            assignment=entry.assignment,
        )
        for entry in metadata.members
    }
    timers = Timers()
    for member in members.values():
        due_ms = now_ms + member.session_timeout_ms
        timers.arm(session_timer(member.member_id), due_ms, now_ms)
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
        members=StoredValues.of(members),
        timers=timers,
    )


def _renew_session(group: Group, member_id: str, now_ms: int) -> int:
    membership = group.membership
    if not isinstance(membership, ClassicGroup):
        message = f"group {group.group_id!r} is not a classic group"
        raise IllegalTransitionError(message)
    key = TimerKey(_SESSION, member_id)
    due_ms = now_ms + membership.members[member_id].session_timeout_ms
    # The timer moves behind the timers that were set before.
    membership.timers.arm(key, due_ms, now_ms)
    return due_ms
