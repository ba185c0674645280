"""Outages: times in which members could not send requests, or not get responses. Timers do not run then (clock rule 8).

A member that waits for a response sends no heartbeat, and a member that cannot reach its coordinator sends no request. Kafka's
coordinator responds at once. After a broker has loaded a group, because of a crash or a move, every member has its whole session
timeout again (onLoaded in Kafka 4.4's GroupMetadataManager). Late responses are outages too.

Timers are never changed; outages only change the time at which they fire. So a timer that is set again in time is not affected,
and a member that stops sending requests during late responses times out all the same.
"""

from __future__ import annotations

from group_coordinator.core.model.timers import Timer
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

    An outage that is noted later changes no timer that was due before it began.
    """
    begin_ms, length_ms = timer.armed_ms, timer.due_ms - timer.armed_ms
    for outage in outages:
        if begin_ms >= outage.to_ms or outage.from_ms >= begin_ms + length_ms:
            continue
        # Late responses depend on the time at which the timer was set: each ends one wait of its
        # member.
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
