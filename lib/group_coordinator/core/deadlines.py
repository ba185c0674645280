"""The next deadline of a group and its effect, which is decided and applied like that of a request.

The deadlines: timers of the membership, the sweep of expired offsets (cleanupGroupMetadata in Kafka 4.4's GroupCoordinatorShard),
and the end of the topic metadata of a group that does not exist. `coordinator.advance` fires one at a time, each at its own time.

Timers of the same millisecond fire in the order in which they were set; a timer that is set again moves behind all others.
Kafka sweeps every offsets.retention.check.interval.ms after it has loaded the log. Here the times of sweeps are the multiples
of that interval since the epoch, so that a replay has the same sweeps; only sweeps that would change the group count. A sweep
is set by the sweep before it: timers of its millisecond that were set earlier fire first.
Stories: stories/classic/sessions.py, stories/classic/syncing.py, stories/classic/rebalancing.py, stories/consumer/consumer_timers.py, stories/consumer/assignment_interval.py.

Outages: times in which members could not send requests, or not get responses, as a member that waits for a response sends no
heartbeat. Timers do not run then (clock rule 8). After a broker has loaded a group, every member has its whole session timeout
again (onLoaded in Kafka 4.4's GroupMetadataManager). Timers are never changed; outages only change the time at which they fire.
So a member that stops sending requests during late responses times out all the same.
"""

from __future__ import annotations

from group_coordinator.core.acls import Rights
from group_coordinator.core.classic.rebalance import Rebalance
from group_coordinator.core.consumer.regexes import resolve
from group_coordinator.core.consumer.update import ConsumerUpdate
from group_coordinator.core.migration.downgrade import remove_or_downgrade
from group_coordinator.core.model.changes import Decision, TopicsForgotten
from group_coordinator.core.model.classic_group import ClassicGroup
from group_coordinator.core.model.classic_member import ClassicState
from group_coordinator.core.model.config import CoordinatorConfig
from group_coordinator.core.model.consumer_group import ConsumerGroup
from group_coordinator.core.model.group import Group
from group_coordinator.core.model.records import Reason
from group_coordinator.core.model.timers import NEVER_MS, Timer, TimerKey, TimerKind, Timers
from group_coordinator.core.offsets import expiration
from group_coordinator.core.value import Value


class Outage(Value, frozen=True):
    """The time from `from_ms` until before `to_ms`, in which members could not do the action that a timer waits for.

    Without `was_heard` no event could arrive, and every timer of that time starts again at its end. With `was_heard` events
    arrived and got late responses: a timer that was set in that time starts at its end, when its member had its response.

    A timer that was due by `from_ms` has fired: the outage was not known then.
    """

    from_ms: int
    to_ms: int
    was_heard: bool
    asked_ms: int | None = None
    """Requests from this time on also got late responses; None: from `from_ms` on."""

    @property
    def first_asked_ms(self) -> int:
        """The time of the first request with a late response."""
        return self.from_ms if self.asked_ms is None else self.asked_ms


Outages = tuple[Outage, ...]
"""Outages in the order of their ends, in which they were noted; they may overlap."""

_KEPT = 100
"""The limit of outages. A timer that is older than the oldest of them may fire too early."""


def due_after(timer: Timer, outages: Outages) -> int:
    """Return the time at which the timer fires, with these outages.

    An outage that is noted later changes no timer that was due before it began. A timer that is due at once waits for no client.
    """
    begin_ms, length_ms = timer.armed_ms, timer.due_ms - timer.armed_ms
    if not length_ms:
        return timer.due_ms
    for outage in outages:
        if begin_ms >= outage.to_ms or outage.from_ms >= begin_ms + length_ms:
            continue
        # Late responses depend on the time of setting: each ends one wait of the timer's member.
        if not outage.was_heard or outage.first_asked_ms <= timer.armed_ms:
            begin_ms = outage.to_ms
    return begin_ms + length_ms


def noted(outages: Outages, outage: Outage) -> Outages:
    """Return the outages and one more, if that is not empty. A backlog has one outage, which grows."""
    if outage.from_ms >= outage.to_ms:
        return outages
    covered = [known for known in outages if known == outage or _covers(outage, known)]
    # A backlog is one long wait, noted again and again with a later end.
    grown = outage.replace(from_ms=min(each.from_ms for each in (outage, *covered)))
    others = (known for known in outages if known not in covered)
    return tuple(sorted((*others, grown), key=lambda known: known.to_ms)[-_KEPT:])


def _covers(outage: Outage, known: Outage) -> bool:
    # A longer wait contains the known one: some of its requests are older.
    return (
        outage.was_heard
        and known.was_heard
        and outage.first_asked_ms < known.from_ms
        and known.to_ms <= outage.to_ms
    )


def since(armed_ms: int, outages: Outages) -> Outages:
    """Return the outages that can affect timers which were set at this time or later."""
    return tuple(outage for outage in outages if outage.to_ms > armed_ms)


SLOW_MS = 2_000
"""The time between two batches from which on responses count as late."""


class LateAnswers:
    """Detects late responses from the times of batches.

    Responses of a slow batch are late. The events of a batch arrived after the batch before it was planned. With a backlog an event
    waits since before the first batch that left events unread, also in the batch that reads the last of them.
    """

    def __init__(self) -> None:
        self._backlog_from_ms: int | None = None
        """The time since when events may have waited for more than one batch."""

    def until(
        self, now_ms: int, before_ms: int, asked_ms: int, *, was_cut: bool = False
    ) -> Outage | None:
        """Return the outage that ends with the batch planned now; None: it was short.

        Args:
            now_ms: the time at which the batch was planned, without idle time of the coordinator.
            before_ms: the time at which the batch before was planned. Decisions by then did not know this outage.
            asked_ms: the time at which the batch before that was planned.
            was_cut: True if the batch before has left events unread.
        """
        read_from_ms = asked_ms if self._backlog_from_ms is None else self._backlog_from_ms
        if not was_cut:
            self._backlog_from_ms = None
        elif self._backlog_from_ms is None:
            self._backlog_from_ms = asked_ms
        # With a backlog the wait began before the first batch that left events unread.
        late_since_ms = before_ms if self._backlog_from_ms is None else self._backlog_from_ms
        if now_ms - late_since_ms <= SLOW_MS:
            return None
        return Outage(before_ms, now_ms, was_heard=True, asked_ms=min(read_from_ms, late_since_ms))


_REASONS = {TimerKind.REGEX: Reason.TOPICS_RESOLVED, TimerKind.SESSION: Reason.SESSION_TIMEOUT}
"""All other timers limit a rebalance."""


def fire_classic_timer(
    membership: ClassicGroup, key: TimerKey, now_ms: int, config: CoordinatorConfig
) -> Decision:
    """Decide the effect of a fired timer. The next membership does not have the timer."""
    timer = membership.timers[key]
    reason = _REASONS.get(key.kind, Reason.REBALANCE_TIMEOUT)
    rebalance = Rebalance(membership, now_ms, config, reason)
    # Cancelled first: the effect may set the same timer again.
    rebalance.cancel(key)
    match key.kind:
        case TimerKind.JOIN_PHASE:
            rebalance.join_timer_fired(timer.due_ms - timer.armed_ms)
        case TimerKind.SYNC_PHASE:
            _sync_timed_out(rebalance)
        case TimerKind.SESSION:
            _session_timed_out(rebalance, key.member_id)
        case _:
            pass  # left from a consumer group: it may count again after an upgrade
    return rebalance.decision()


def _sync_timed_out(rebalance: Rebalance) -> None:
    # Members without SyncGroup are removed, static members too (expirePendingSync).
    membership = rebalance.membership
    if membership.pending_syncs:
        for member_id in sorted(membership.pending_syncs):
            rebalance.remove_member(member_id)
        rebalance.prepare_rebalance()


def _session_timed_out(rebalance: Rebalance, member_id: str) -> None:
    # No heartbeat, or a pending member did not join (expireClassicGroupMemberHeartbeat).
    membership = rebalance.membership
    member = membership.members.get(member_id)
    if member is None and member_id not in membership.pending_joins:
        return
    if member is not None and member.is_waiting and not member.is_new:
        return  # a member cannot send heartbeats while its request is pending
    rebalance.remove_member(member_id)
    if membership.state is ClassicState.PREPARING_REBALANCE:
        if membership.has_all_members_joined:
            # Unlike a join or a leave, this ends even an initial delay.
            rebalance.complete_join()
    elif member is not None:
        rebalance.prepare_rebalance()


def fire_consumer_timer(
    group: Group,
    membership: ConsumerGroup,
    key: TimerKey,
    *,
    now_ms: int,
    config: CoordinatorConfig,
    rights: Rights | None,
) -> Decision:
    """Decide the effect of a fired timer, which is removed."""
    reason = _REASONS.get(key.kind, Reason.REBALANCE_TIMEOUT)
    update = ConsumerUpdate(group, membership, now_ms, config, reason)
    update.cancel(key)
    if key.kind is TimerKind.REGEX:
        resolve(update, rights)
    # A timer of a removed member has no effect.
    elif key.member_id in membership.members and not _is_outdated(membership, key):
        remove_or_downgrade(update, [key.member_id])
    return update.decision([])


def _is_outdated(membership: ConsumerGroup, key: TimerKey) -> bool:
    # A member at another epoch has revoked its partitions: its rebalance timer has no effect.
    epoch = membership.members[key.member_id].epoch
    is_rebalance = key.kind is TimerKind.REBALANCE
    return is_rebalance and membership.rebalance_epochs.get(key.member_id) != epoch


class Deadline(Value, frozen=True):
    """A deadline of a group: a timer, or, without a timer key, the sweep of expired offsets."""

    due_ms: int
    timer_key: TimerKey | None
    swept_ms: int
    """After the deadline, sweeps up to this time are done."""


def first_deadline(
    group: Group, swept_ms: int, config: CoordinatorConfig, outages: Outages = ()
) -> Deadline | None:
    """Return the next deadline. Sweeps up to `swept_ms` are done."""
    if group.membership is None:
        return _end_of_memory(group, config)
    sweep_ms = expiration.next_sweep(group, swept_ms, config)
    if not group.membership.timers:
        # A group without timers has only its sweep.
        return None if sweep_ms is None else Deadline(sweep_ms, None, sweep_ms)
    key, timer = _first_timer(group.membership.timers, outages)
    # A timer that was set before the previous sweep precedes the sweep of its millisecond.
    before_sweep = timer.armed_ms < timer.due_ms - config.offsets_retention_check_interval_ms
    timer_swept_ms = timer.due_ms - 1 if before_sweep else timer.due_ms
    if sweep_ms is not None and sweep_ms <= timer_swept_ms:
        return Deadline(sweep_ms, None, sweep_ms)
    return Deadline(timer.due_ms, key, max(swept_ms, timer_swept_ms))


def _first_timer(timers: Timers, outages: Outages) -> tuple[TimerKey, Timer]:
    if outages:
        outages = since(min(timer.armed_ms for timer in timers.by_text.values()), outages)
    if not outages:
        return timers.soonest()
    put_off = (
        (text, Timer(due_after(timer, outages), timer.armed_ms))
        for text, timer in timers.by_text.items()
    )
    text, timer = min(put_off, key=lambda item: item[1].due_ms)
    return TimerKey.of(text), timer


def _end_of_memory(group: Group, config: CoordinatorConfig) -> Deadline | None:
    # Topic metadata of a group that does not exist is kept as long as an offset.
    if group.topics is None:
        return None
    # A retention of many years must not exceed 64 bits.
    due_ms = min(group.clock_ms + max(config.retention_ms, 0), NEVER_MS)
    return Deadline(due_ms, None, due_ms)


def fire(
    group: Group,
    deadline: Deadline,
    now_ms: int,
    config: CoordinatorConfig,
    rights: Rights | None = None,
) -> Decision:
    """Decide the effect of a deadline. The next membership does not have a fired timer.

    `rights` are those of the sender whose request made the deadline due.
    """
    if group.membership is None:
        return Decision([], [], (TopicsForgotten(),))
    if deadline.timer_key is None:
        return expiration.sweep(group, now_ms, config)
    if isinstance(group.membership, ConsumerGroup):
        return fire_consumer_timer(
            group, group.membership, deadline.timer_key, now_ms=now_ms, config=config, rights=rights
        )
    return fire_classic_timer(group.membership, deadline.timer_key, now_ms, config)
