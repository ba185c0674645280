"""The changes of a consumer group by a member's request, for members of both protocols.

The steps are those of consumerGroupHeartbeat in Kafka 4.4's GroupMetadataManager:

1. Log the member's metadata if it is new.
2. Compare its regular expression, and resolve the group's regular expressions if that is due (maybeUpdateRegularExpressions).
3. Raise the group epoch if the group's topics, their metadata or its assignor have changed.
4. Compute new targets for all members if the group epoch is ahead of the assignment epoch, unless the assignment interval forbids
   it (updateTargetAssignment).
5. Reconcile the member by one step towards its target (maybeReconcile), and limit the time for its revocations.

Nothing changes before replay, so each step gets the decisions of the steps before it. Steps 1-3 are `update_subscription`, steps 4
and 5 `update_assignment`: between them the group may turn out to become a classic group.
Stories: stories/consumer/subscribing.py, stories/consumer/epochs.py.
"""

from __future__ import annotations

from functools import partial

from group_coordinator.core.assignors import ASSIGNORS
from group_coordinator.core.assignors.spec import Assignment, PartitionAssignorError
from group_coordinator.core.consumer.reconciliation import Goal, reconcile
from group_coordinator.core.consumer.regexes import METADATA_REFRESH_MS, RegexChange, change_regex
from group_coordinator.core.consumer.target_assignment import (
    assign,
    members_after,
    preferred_assignor,
    target_records,
    targets_before,
)
from group_coordinator.core.consumer.update import (
    ConsumerUpdate,
    ids_of,
    metadata_hash,
    names_after_update,
    topic_names_of,
    type_after_update,
)
from group_coordinator.core.group_configs import assignment_interval_ms
from group_coordinator.core.kafka_order import member_order, upgraded_member_order
from group_coordinator.core.model.changes import MetadataDeadlineSet, RebalanceTimerSet
from group_coordinator.core.model.consumer_member import (
    ConsumerMember,
    GroupEpoch,
    ReconciliationState,
    SubscriptionMetadata,
    TargetEpoch,
)
from group_coordinator.core.model.errors import CoordinatorError, ErrorCode
from group_coordinator.core.model.records import (
    CurrentRecord,
    GroupEpochRecord,
    MemberRecord,
    TargetRecord,
    member_tombstones,
)
from group_coordinator.core.model.requests import TopicPartitions
from group_coordinator.core.model.timers import TimerKey, TimerKind, session_timer
from group_coordinator.core.value import Value


class UpdatedSubscription(Value, frozen=True):
    """A member with new metadata, and the effect on the group."""

    before: ConsumerMember
    member: ConsumerMember
    epoch: int
    """The group epoch after the update."""
    is_new: bool
    """True: the member subscribes to other topics or to another regular expression."""
    refreshes: bool
    """True: the metadata of the group's topics was compared."""


def update_member(
    update: ConsumerUpdate,
    member: ConsumerMember,
    metadata: SubscriptionMetadata,
    owned: tuple[TopicPartitions, ...] | None,
) -> ConsumerMember:
    """Do all steps and return the updated member.

    `owned` has the partitions that the client reports; None if it reports none.

    Raises:
        CoordinatorError: INVALID_REGULAR_EXPRESSION, FENCED_MEMBER_EPOCH, UNKNOWN_SERVER_ERROR.
    """
    subscribed = update_subscription(update, member, metadata)
    return update_assignment(update, subscribed, owned)


def update_subscription(
    update: ConsumerUpdate, member: ConsumerMember, metadata: SubscriptionMetadata
) -> UpdatedSubscription:
    """Do steps 1-3: log the member's metadata and the group epoch. Raises CoordinatorError: INVALID_REGULAR_EXPRESSION."""
    updated = member.replace(metadata=metadata)
    # An unchanged heartbeat writes nothing.
    if metadata != member.metadata:
        update.records.append(MemberRecord(member.member_id, metadata, update.reason))
    names_changed = metadata.topic_names != member.metadata.topic_names
    regex_change = change_regex(update, member, updated)
    must_bump = (
        names_changed
        or regex_change is RegexChange.CHANGED_AND_RESOLVED
        or _changes_assignor(update, member, updated)
    )
    epoch = update.membership.epoch
    # Without a change the hash is compared only after the deadline: it needs a look at all topics.
    refreshes = must_bump or update.now_ms >= update.membership.metadata_deadline_ms
    if refreshes:
        epoch = _refresh_epoch(update, member, updated, must_bump=must_bump)
    is_new = names_changed or regex_change is not RegexChange.NONE
    return UpdatedSubscription(member, updated, epoch, is_new, refreshes)


def update_assignment(
    update: ConsumerUpdate,
    subscribed: UpdatedSubscription,
    owned: tuple[TopicPartitions, ...] | None,
) -> ConsumerMember:
    """Do steps 4 and 5: compute new targets if they are due, and reconcile the member by one step.

    Raises CoordinatorError: FENCED_MEMBER_EPOCH, UNKNOWN_SERVER_ERROR.
    """
    member = subscribed.member
    target_epoch, target = _target(update, subscribed)
    # A reconciled member with the same subscription has nothing to do, as at most heartbeats.
    if not subscribed.is_new and member.is_reconciled_to(target_epoch):
        return member
    membership = update.membership
    # Only subscribed topics are kept, even if the target is older than the subscription.
    names = topic_names_of(membership, member.metadata)
    goal = Goal(
        epoch=target_epoch,
        target=target,
        topic_names=names,
        topic_ids=ids_of(update.group, names),
        is_subscription_new=subscribed.is_new,
        owned=owned,
        is_held=lambda topic_id, number: membership.owner_of(topic_id, number) is not None,
    )
    return _reconcile(update, member, goal)


def replace_static_member(
    update: ConsumerUpdate, old: ConsumerMember, member_id: str
) -> ConsumerMember:
    """Replace a static member that joins with another id: the new id gets everything, at epoch 0.

    Timers of the old id continue, except for its session. They count if the old id returns in time.
    """
    # Epoch 0 makes the member new for its client, while its partitions stay.
    new = ConsumerMember(member_id, old.metadata, old.current.replace(epoch=0, previous_epoch=0))
    target = update.membership.target_of(old.member_id)
    update.cancel(session_timer(old.member_id))
    update.records += member_tombstones(old.member_id, update.reason)
    update.records += [
        MemberRecord(member_id, new.metadata, update.reason),
        TargetRecord(member_id, target, update.reason),
        CurrentRecord(member_id, new.current, update.reason),
    ]
    return new


def _refresh_epoch(
    update: ConsumerUpdate, old: ConsumerMember, new: ConsumerMember, *, must_bump: bool
) -> int:
    membership = update.membership
    names = names_after_update(membership, old.metadata, new.metadata)
    new_hash = metadata_hash(update.group, names)
    # The epoch grows if the member's topics changed, or the metadata of any topic of the group.
    epoch = membership.epoch
    if must_bump or new_hash != membership.metadata_hash:
        epoch += 1
        update.records.append(GroupEpochRecord(GroupEpoch(epoch, new_hash), update.reason))
    # Kafka stores the time in an object that the records of an upgraded or new group replace.
    if not update.is_upgrade:
        update.changes.append(MetadataDeadlineSet(update.now_ms + METADATA_REFRESH_MS))
    return epoch


def _changes_assignor(update: ConsumerUpdate, old: ConsumerMember, new: ConsumerMember) -> bool:
    # A JoinGroup does not ask for an assignor.
    if new.uses_classic_protocol:
        return False
    membership, default = update.membership, update.config.assignors[0]
    now = preferred_assignor(membership, default)
    return now != preferred_assignor(membership, default, old, new)


def _target(update: ConsumerUpdate, subscribed: UpdatedSubscription) -> tuple[int, Assignment]:
    membership = update.membership
    if membership.assignment_epoch < subscribed.epoch and _may_assign(update):
        targets = _assign(update, subscribed)
        epoch = TargetEpoch(subscribed.epoch, update.now_ms)
        # Only changed targets are logged: ten thousand records each time would be too many.
        before = targets_before(membership, subscribed.member)
        update.records += target_records(before, targets, epoch, update.reason)
        return subscribed.epoch, targets[subscribed.member.member_id]
    member_id: str | None = subscribed.member.member_id
    instance_id = subscribed.member.group_instance_id
    if instance_id is not None:
        # As in Kafka, a member that has just changed its instance id has no target under the new one.
        member_id = membership.static_members.get(instance_id)
    return membership.assignment_epoch, membership.target_of(member_id or "")


def _assign(update: ConsumerUpdate, subscribed: UpdatedSubscription) -> dict[str, Assignment]:
    membership, before, member = update.membership, subscribed.before, subscribed.member
    # Members of an upgraded group are in Kafka's order.
    by_room = partial(member_order, room=membership.member_room)
    order = upgraded_member_order if update.is_upgrade else by_room
    members = members_after(membership, member, order)
    # Kafka compares subscriptions again only together with the metadata of their topics.
    kind = (
        type_after_update(membership, before, member)
        if subscribed.refreshes
        else membership.subscription_type
    )
    name = preferred_assignor(membership, update.config.assignors[0], before, member)
    try:
        return assign(
            update.group,
            membership,
            members,
            assignor=ASSIGNORS[name],
            kind=kind,
            subscription_order=update.subscription_order,
        )
    except PartitionAssignorError:
        # Kafka does not send clients the reason why its own assignor failed.
        raise CoordinatorError(ErrorCode.UNKNOWN_SERVER_ERROR) from None


def _may_assign(update: ConsumerUpdate) -> bool:
    # KIP-1263: the interval limits assignments; 0 turns the limit off.
    last_ms = update.membership.assignment_timestamp_ms
    interval_ms = assignment_interval_ms(update.group, update.config)
    return last_ms == 0 or interval_ms == 0 or update.now_ms >= last_ms + interval_ms


def _reconcile(update: ConsumerUpdate, member: ConsumerMember, goal: Goal) -> ConsumerMember:
    current = reconcile(member.current, goal)
    if current == member.current:
        return member
    update.records.append(CurrentRecord(member.member_id, current, update.reason))
    # Members of the classic protocol have a join timer instead.
    if not member.uses_classic_protocol:
        _time_revocation(update, member, current.state, current.epoch)
    return member.replace(current=current)


def _time_revocation(
    update: ConsumerUpdate, member: ConsumerMember, state: ReconciliationState, epoch: int
) -> None:
    member_id = member.member_id
    # A member that does not revoke in time is removed, so that the others can go on.
    if state is ReconciliationState.UNREVOKED_PARTITIONS:
        due_ms = update.now_ms + max(0, member.metadata.rebalance_timeout_ms)
        update.changes.append(RebalanceTimerSet(member_id, due_ms, epoch))
    else:
        update.cancel(TimerKey(TimerKind.REBALANCE, member_id))
