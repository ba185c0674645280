"""Reconciliation: a member moves from its current to its target assignment, and no partition ever has two owners.

The states of a member are those of `ReconciliationState` (later Kafka versions have others). Each heartbeat is one step:

1. Partitions outside the target are revoked. The step ends here if the client may still have them; only later other members get them.
2. Free partitions of the target are assigned, with the target's epoch.
3. Partitions that other members own are left for later heartbeats.

Source: CurrentAssignmentBuilder in Kafka 4.4.
Stories: stories/consumer/reconciling.py.
"""

from __future__ import annotations

from collections.abc import Callable
from collections.abc import Set as AbstractSet

from group_coordinator.core.assignors.spec import Assignment
from group_coordinator.core.model.consumer_member import (
    JUST_CREATED,
    CurrentAssignment,
    OwnedPartitions,
    ReconciliationState,
)
from group_coordinator.core.model.errors import CoordinatorError, ErrorCode
from group_coordinator.core.model.requests import TopicPartitions
from group_coordinator.core.value import Value


class Goal(Value, frozen=True, kw_only=True):
    """A member's target, and the conditions for reaching it."""

    epoch: int
    """The assignment epoch of the target."""
    target: Assignment
    topic_names: tuple[str, ...]
    """The topics that the member subscribes to, by name or by a resolved regular expression."""
    topic_ids: AbstractSet[str]
    """The ids of those topics that exist. The member keeps no other topics, even those of its target."""
    is_subscription_new: bool
    """True: this request changed the subscription. The change takes effect before the next target does."""
    owned: tuple[TopicPartitions, ...] | None
    """The partitions that the client reports; None: it reports none."""
    is_held: Callable[[str, int], bool]
    """Returns True if a member owns a partition or still has to revoke it."""


def reconcile(current: CurrentAssignment, goal: Goal) -> CurrentAssignment:
    """Return the member's next assignment, or the same object if the member must wait.

    Raises CoordinatorError: FENCED_MEMBER_EPOCH, as a later Kafka left the member in an unknown state.
    """
    match current.state:
        case ReconciliationState.STABLE if current.epoch == goal.epoch:
            return _trimmed(current, goal) if goal.is_subscription_new else current
        # The client still reports partitions that it must revoke: nothing changes before.
        case ReconciliationState.UNREVOKED_PARTITIONS if _has(
            goal.owned, current.pending_revocation
        ):
            return _trimmed(current, goal) if goal.is_subscription_new else current
        case ReconciliationState.UNKNOWN if goal.owned is None or goal.owned:
            raise CoordinatorError(
                ErrorCode.FENCED_MEMBER_EPOCH,
                "The consumer group member is in a unknown state. "
                "The member must abandon all its partitions and rejoin.",
            )
        case _:
            return _next(current, goal)


def _has(owned: tuple[TopicPartitions, ...] | None, partitions: OwnedPartitions) -> bool:
    # A client without a report may still have all partitions.
    if owned is None:
        return True
    return any(
        not partitions.get(entry.topic_id or "", {}).keys().isdisjoint(entry.partitions)
        for entry in owned
    )


def _trimmed(current: CurrentAssignment, goal: Goal) -> CurrentAssignment:
    """Remove the topics that the member no longer subscribes to: it must revoke them now.

    A member without any subscription is written again even without a loss, as in Kafka, unless it is new.
    """
    lost = {
        topic_id: partitions
        for topic_id, partitions in current.assigned.items()
        if topic_id not in goal.topic_ids
    }
    is_new = current == JUST_CREATED
    is_bare = not goal.topic_names and not current.pending_revocation and not is_new
    if not lost and not is_bare:
        return current
    assigned = {
        topic_id: partitions
        for topic_id, partitions in current.assigned.items()
        if topic_id in goal.topic_ids
    }
    pending = dict(current.pending_revocation)
    for topic_id, partitions in lost.items():
        pending[topic_id] = dict(sorted({**pending.get(topic_id, {}), **partitions}.items()))
    trimmed = current.replace(previous_epoch=current.epoch, assigned=assigned)
    if not pending or not _has(goal.owned, pending):
        return trimmed
    return trimmed.replace(
        state=ReconciliationState.UNREVOKED_PARTITIONS,
        pending_revocation=dict(sorted(pending.items())),
    )


def _next(current: CurrentAssignment, goal: Goal) -> CurrentAssignment:
    """Remove the partitions that are not in the target; if none is left to revoke, add the free partitions of the target."""
    kept: OwnedPartitions = {}
    revoked: OwnedPartitions = {}
    added: dict[str, list[int]] = {}
    waits = False
    for topic_id in sorted(goal.target.keys() | current.assigned.keys()):
        wanted = goal.target.get(topic_id, ()) if topic_id in goal.topic_ids else ()
        in_target = frozenset(wanted)
        had = current.assigned.get(topic_id, {})
        own = current.pending_revocation.get(topic_id, {})
        missing = [p for p in wanted if p not in had]
        # A partition in the member's own revocation is free for the member itself.
        free = [p for p in missing if p in own or not goal.is_held(topic_id, p)]
        # Another member has yet to release a partition: the member is at the new epoch without it.
        waits = waits or len(free) < len(missing)
        _put(kept, topic_id, {p: epoch for p, epoch in had.items() if p in in_target})
        _put(revoked, topic_id, {p: epoch for p, epoch in had.items() if p not in in_target})
        if free:
            added[topic_id] = free
    # Revocation is first: the epoch stays until the client has given up the partitions.
    if revoked and _has(goal.owned, revoked):
        return CurrentAssignment(
            goal.epoch if current.state is ReconciliationState.UNKNOWN else current.epoch,
            current.epoch,
            ReconciliationState.UNREVOKED_PARTITIONS,
            kept,
            revoked,
        )
    for topic_id, free in added.items():
        partitions = kept.get(topic_id, {}) | dict.fromkeys(free, goal.epoch)
        kept[topic_id] = dict(sorted(partitions.items()))
    state = ReconciliationState.UNRELEASED_PARTITIONS if waits else ReconciliationState.STABLE
    return CurrentAssignment(goal.epoch, current.epoch, state, dict(sorted(kept.items())), {})


def _put(partitions: OwnedPartitions, topic_id: str, of_topic: dict[int, int]) -> None:
    if of_topic:
        partitions[topic_id] = of_topic
