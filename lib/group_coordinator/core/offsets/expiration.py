"""The expiration of offsets: KIP-211's table, KIP-496's unsubscribed topics, and the times of sweeps.

A committed offset is removed when no one has used it for its retention time. In an Empty group its age counts from the time at
which the group became Empty, elsewhere from the commit. Offsets in use never expire. The retention time has three sources, in this
order: the commit (OffsetCommit v2-v4), the group configuration (group_configs.OFFSETS_RETENTION, our own), the coordinator's
settings. Protection does not depend on the source.

The first sweep that would remove something is a deadline like a timer (`core/deadlines.py`), at a multiple of
offsets.retention.check.interval.ms: a group with a million offsets wakes once for all of them. A later commit, join or change of
settings needs no cancellation, as each call computes the next sweep again.
Stories: stories/offsets/expiration.py, stories/offsets/live_expiration.py, stories/offsets/retention.py.
"""

from __future__ import annotations

from collections.abc import Iterable
from operator import itemgetter
from typing import Literal

from group_coordinator.core.group_configs import OFFSETS_RETENTION
from group_coordinator.core.model.changes import Decision
from group_coordinator.core.model.classic_group import CONSUMER_PROTOCOL_TYPE, ClassicGroup
from group_coordinator.core.model.classic_member import ClassicState
from group_coordinator.core.model.config import CoordinatorConfig
from group_coordinator.core.model.consumer_group import ConsumerGroup
from group_coordinator.core.model.group import Group, is_empty
from group_coordinator.core.model.records import OffsetRecord, Reason, Record, group_tombstones
from group_coordinator.core.model.timers import NEVER_MS
from group_coordinator.core.model.topic_offsets import CommittedOffset, OffsetAges, soonest_of
from group_coordinator.core.value import Value

Base = Literal["commit", "empty", "never"]


class ExpirationRule(Value, frozen=True):
    """The present aging of a group's offsets.

    base: "commit", from the offset's commit time; "empty", from the time at which the group became Empty; "never", not at all.
    """

    base: Base
    protected_topics: frozenset[str] = frozenset()
    empty_since_ms: int | None = None

    def due_ms(self, topic: str, offset: CommittedOffset, retention_ms: int) -> int | None:
        """Return the first time at which the offset may expire; None while it is protected."""
        return next(iter(self.due_times_ms(topic, [offset], retention_ms)), None)

    def due_times_ms(
        self, topic: str, offsets: Iterable[CommittedOffset], retention_ms: int
    ) -> list[int]:
        """Return due_ms for several offsets of a topic; empty while they are protected.

        An explicit expire timestamp (OffsetCommit v2-v4) replaces base and retention, but not the protection.
        """
        if self.protects(topic):
            return []
        if self.empty_since_ms is None:
            return [
                offset.commit_timestamp_ms + retention_ms if expire_ms is None else expire_ms
                for offset in offsets
                for expire_ms in [offset.expire_timestamp_ms]
            ]
        due_ms = self.empty_since_ms + retention_ms
        expire_times_ms = [offset.expire_timestamp_ms for offset in offsets]
        return [due_ms if expire_ms is None else expire_ms for expire_ms in expire_times_ms]

    def protects(self, topic: str) -> bool:
        """Return True if no offset of the topic can expire at present."""
        return self.base == "never" or topic in self.protected_topics

    def soonest_due_ms(self, ages: OffsetAges, retention_ms: int) -> int:
        """Return due_ms for the first of some unprotected offsets; NEVER_MS or later if there is none."""
        soonest_ms = NEVER_MS if ages.soonest_expiry_ms is None else ages.soonest_expiry_ms
        if ages.oldest_commit_ms is None:
            return soonest_ms
        since_ms = self.empty_since_ms
        return min(
            (ages.oldest_commit_ms if since_ms is None else since_ms) + retention_ms, soonest_ms
        )


def rule_for(
    state: ClassicState,
    protocol_type: str | None,
    subscribed_topics: frozenset[str] | None,
    empty_since_ms: int | None,
) -> ExpirationRule:
    """Return the rule of a classic group in this situation (KIP-211's table; ClassicGroup.offsetExpirationCondition).

    A simple group's offsets age from their commit, an Empty group's from the time at which it became Empty. In a Stable group
    of consumers offsets of unsubscribed topics age from their commit; all others do not expire.
    """
    if protocol_type is None:
        return ExpirationRule("commit")
    consumers = protocol_type == CONSUMER_PROTOCOL_TYPE
    readable = subscribed_topics is not None or not consumers
    subscribed = subscribed_topics or frozenset()
    # Unreadable subscriptions might include any topic: nothing expires then.
    if readable and state is ClassicState.EMPTY:
        base: Base = "commit" if empty_since_ms is None else "empty"
        return ExpirationRule(base, subscribed, empty_since_ms)
    if readable and consumers and state is ClassicState.STABLE:
        return ExpirationRule("commit", subscribed)
    return ExpirationRule("never")


def rule_of(membership: ClassicGroup | ConsumerGroup) -> ExpirationRule:
    """Return the rule of a group. In a consumer group offsets age from their commit in every state (KIP-848)."""
    if isinstance(membership, ConsumerGroup):
        return ExpirationRule("commit", membership.subscribed_topics())
    return rule_for(
        membership.state,
        membership.protocol_type,
        membership.subscribed_topics,
        membership.state_timestamp_ms,
    )


def first_sweep_at_or_after(time_ms: int, interval_ms: int) -> int:
    """Return the time of a sweep: the next multiple of offsets.retention.check.interval.ms since the epoch."""
    return -(-time_ms // interval_ms) * interval_ms


def offsets_retention_ms(group: Group, otherwise_ms: int) -> int:
    """Return the time for which the group's offsets are kept; `otherwise_ms` is the coordinator's own."""
    value = group.configs.get(OFFSETS_RETENTION.name)
    return otherwise_ms if value is None else int(value)


def next_sweep(group: Group, after_ms: int, config: CoordinatorConfig) -> int | None:
    """Return the time of the first sweep after `after_ms` that would change the group; None: no sweep would."""
    membership = group.membership
    if membership is None:
        return None
    interval_ms = config.offsets_retention_check_interval_ms
    # The sweep at `after_ms` itself is done.
    earliest_ms = first_sweep_at_or_after(after_ms + 1, interval_ms)
    if not group.offsets:
        # An Empty group without offsets expires in the next sweep.
        is_done = is_empty(membership) and not group.pending
        return earliest_ms if is_done else None
    retention_ms = offsets_retention_ms(group, config.retention_ms)
    soonest_ms = _soonest_due_ms(group, rule_of(membership), retention_ms)
    if soonest_ms >= NEVER_MS:
        return None
    return max(earliest_ms, first_sweep_at_or_after(soonest_ms, interval_ms))


def _soonest_due_ms(group: Group, rule: ExpirationRule, retention_ms: int) -> int:
    # Offsets of partitions in an open transaction do not expire.
    held: dict[str, set[int]] = {}
    for topic, partition in group.pending:
        held.setdefault(topic, set()).add(partition)
    ages = [
        group.offsets[topic].ages_without(held[topic]) if topic in held else offsets.ages
        for topic, offsets in group.offsets.read_or_stored()
        if not rule.protects(topic)
    ]
    return rule.soonest_due_ms(soonest_of(ages), retention_ms)


def sweep(group: Group, now_ms: int, config: CoordinatorConfig) -> Decision:
    """Return tombstones for the due offsets, and for the group if it is Empty and has no other offsets.

    An open transaction protects its partitions and the group.
    """
    membership = group.membership
    if membership is None:
        return Decision([], [])
    rule, retention_ms = rule_of(membership), offsets_retention_ms(group, config.retention_ms)
    records: list[Record] = []
    remaining = 0
    for topic, partition, offset in offsets_in_order(group):
        due_ms = rule.due_ms(topic, offset, retention_ms)
        waits = (topic, partition) in group.pending
        if due_ms is not None and due_ms <= now_ms and not waits:
            records.append(OffsetRecord(topic, partition, None, Reason.OFFSET_EXPIRED))
        else:
            remaining += 1
    if not remaining and not group.pending and is_empty(membership):
        records += group_tombstones(membership, Reason.GROUP_EXPIRED)
    return Decision(records, [])


def offsets_in_order(group: Group) -> list[tuple[str, int, CommittedOffset]]:
    """Return all committed offsets, sorted by topic and partition."""
    return [
        (topic, partition, offset)
        for topic in sorted(group.offsets)
        for partition, offset in sorted(group.offsets[topic].items(), key=itemgetter(0))
    ]
