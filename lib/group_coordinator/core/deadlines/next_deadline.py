"""Which deadline of a group is next, and what it does: a request that time makes, decided and applied as any other.

There are three: a timer of the membership; the sweep that removes expired offsets, and an Empty group without any
(cleanupGroupMetadata in Kafka 4.4's GroupCoordinatorShard); and the end of what a group that does not exist knows of
topics. `coordinator.advance` fires one at a time, each at its own time, and then asks again: what a deadline changes may
cancel or set others.

Timers of one millisecond fire in the order in which they were armed; arming a timer anew puts it behind all others. Kafka
sweeps every offsets.retention.check.interval.ms after the log was loaded; here the sweeps lie on a grid, the multiples of
that interval since the epoch, so that a replay has the same ones, and only those that would change the group count. A
sweep is armed by the sweep before it: of the timers of its millisecond, those that were armed earlier still fire first.
"""

from __future__ import annotations

from group_coordinator.core.acls.rights import Rights
from group_coordinator.core.deadlines import classic, consumer
from group_coordinator.core.deadlines.outages import Outages, due_after, since
from group_coordinator.core.model.changes import TopicsForgotten
from group_coordinator.core.model.config import CoordinatorConfig
from group_coordinator.core.model.consumer_group import ConsumerGroup
from group_coordinator.core.model.decision import Decision
from group_coordinator.core.model.group import Group
from group_coordinator.core.model.timers import NEVER_MS, REGEX_TIMER, Timer, TimerKey, Timers
from group_coordinator.core.offsets import expiration
from group_coordinator.core.value import Value


class Deadline(Value, frozen=True):
    """Something that time will do to a group: a timer, or, without one, the sweep of expired offsets."""

    due_ms: int
    timer_key: TimerKey | None
    swept_ms: int
    """Sweeps up to this time lie behind the group when the deadline has fired."""


def first_deadline(
    group: Group, swept_ms: int, config: CoordinatorConfig, outages: Outages = ()
) -> Deadline | None:
    """The deadline to fire next; sweeps up to `swept_ms` are done."""
    if group.membership is None:
        return _end_of_memory(group, config)
    sweep_ms = expiration.next_sweep(group, swept_ms, config)
    if not group.membership.timers:
        return None if sweep_ms is None else Deadline(sweep_ms, None, sweep_ms)
    key, timer = _first_timer(group.membership.timers, outages)
    before_sweep = timer.armed_ms < timer.due_ms - config.offsets_retention_check_interval_ms
    timer_swept_ms = timer.due_ms - 1 if before_sweep else timer.due_ms
    if sweep_ms is not None and sweep_ms <= timer_swept_ms:
        return Deadline(sweep_ms, None, sweep_ms)
    return Deadline(timer.due_ms, key, max(swept_ms, timer_swept_ms))


def _first_timer(timers: Timers, outages: Outages) -> tuple[TimerKey, Timer]:
    """The timer that runs out first, with the time at which it does."""
    if outages:
        outages = since(min(timer.armed_ms for timer in timers.by_text.values()), outages)
    if not outages:
        return timers.soonest()
    put_off = (
        (
            text,
            timer if text == REGEX_TIMER.text else Timer(due_after(timer, outages), timer.armed_ms),
        )
        for text, timer in timers.by_text.items()
    )
    text, timer = min(put_off, key=lambda item: item[1].due_ms)
    return TimerKey.of(text), timer


def _end_of_memory(group: Group, config: CoordinatorConfig) -> Deadline | None:
    """What was told of the cluster's topics to a group that does not exist is kept as long as the coordinator keeps an offset."""
    if group.topics is None:
        return None
    due_ms = min(group.clock_ms + max(config.retention_ms, 0), NEVER_MS)
    return Deadline(due_ms, None, due_ms)


def fire(
    group: Group,
    deadline: Deadline,
    now_ms: int,
    config: CoordinatorConfig,
    rights: Rights | None = None,
) -> Decision:
    """Decide what an elapsed deadline brings; a timer is gone in the next membership.

    `rights` are those of a sender whose request made the deadline due at once.
    """
    if group.membership is None:
        return Decision([], [], (TopicsForgotten(),))
    if deadline.timer_key is None:
        return expiration.sweep(group, now_ms, config)
    if isinstance(group.membership, ConsumerGroup):
        return consumer.fire_timer(
            group, group.membership, deadline.timer_key, now_ms, config, rights
        )
    return classic.fire_timer(group.membership, deadline.timer_key, now_ms, config)
