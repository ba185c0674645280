"""Outages: while a member could not be heard, or not be answered, its time does not run. Late answers count as such (clock rule 8).

A member that waits for an answer sends no heartbeat, and one that cannot reach its coordinator sends nothing at all.
Kafka's coordinator answers at once; and when a broker has loaded a group, after a crash or a move, every member has its
whole session timeout again (onLoaded in Kafka 4.4's GroupMetadataManager).

Timers stay as they were set; only when they run out depends on outages. So a timer that is set anew in time is as if
there had been none, and whoever falls silent while answers are late runs out of time all the same.
"""

from __future__ import annotations

from group_coordinator.core.model.timers import Timer
from group_coordinator.core.value import Value


class Outage(Value, frozen=True):
    """From `from_ms` on and before `to_ms` members could not do what a timer waits for.

    Without `was_heard` no event could come, and every timer that ran meanwhile begins anew at the end. With it events
    came and were answered late: a timer that was set meanwhile begins at the end, when its member had its answer.

    A timer that had run out by `from_ms` is over: whoever decided so did not know of the outage yet.
    """

    from_ms: int
    to_ms: int
    was_heard: bool
    asked_ms: int | None = None
    """Whoever asked from then on was answered late, too; None: from `from_ms` on."""

    @property
    def first_asked_ms(self) -> int:
        """The time of the first question that was answered late."""
        return self.from_ms if self.asked_ms is None else self.asked_ms


Outages = tuple[Outage, ...]
"""In the order of their ends, in which they were noted; they may overlap."""

_KEPT = 100
"""A timer that is older than the oldest of them may run out too early."""


def due_after(timer: Timer, outages: Outages) -> int:
    """When the timer runs out, with these outages.

    One that is noted later changes nothing that was due before it began.
    """
    begin_ms, length_ms = timer.armed_ms, timer.due_ms - timer.armed_ms
    for outage in outages:
        if begin_ms >= outage.to_ms or outage.from_ms >= begin_ms + length_ms:
            continue
        # Late answers go by when it was set: one follows the other, and each one ends one wait.
        if not outage.was_heard or outage.first_asked_ms <= timer.armed_ms:
            begin_ms = outage.to_ms
    return begin_ms + length_ms


def noted(outages: Outages, outage: Outage) -> Outages:
    """These with one more, if it is not empty; a backlog has one outage, which grows."""
    if outage.from_ms >= outage.to_ms:
        return outages
    covered = [known for known in outages if known == outage or _covers(outage, known)]
    grown = outage.replace(from_ms=min(each.from_ms for each in (outage, *covered)))
    others = (known for known in outages if known not in covered)
    return tuple(sorted((*others, grown), key=lambda known: known.to_ms)[-_KEPT:])


def _covers(outage: Outage, known: Outage) -> bool:
    """Whether late answers are known as part of a longer wait: of those that it ends, some were asked for before them."""
    return (
        outage.was_heard
        and known.was_heard
        and outage.first_asked_ms < known.from_ms
        and known.to_ms <= outage.to_ms
    )


def since(armed_ms: int, outages: Outages) -> Outages:
    """Those that can concern timers which were set at this time or later."""
    return tuple(outage for outage in outages if outage.to_ms > armed_ms)


SLOW_MS = 2_000
"""Batches that follow each other more slowly let members wait for answers."""


class LateAnswers:
    """Looks at one batch after the other.

    Late are the answers of a batch that took long. Its events came since the batch before it was planned; with a backlog an
    event waits from before the first batch that was cut short, also in the batch that reads the last of them.
    """

    def __init__(self) -> None:
        self._backlog_from_ms: int | None = None
        """Since when events may have waited for more than one batch."""

    def until(
        self, now_ms: int, before_ms: int, asked_ms: int, *, was_cut: bool = False
    ) -> Outage | None:
        """The wait that a batch ends which is planned now, None: it was short.

        Args:
            now_ms: when the batch was planned, without the time that the coordinator lay idle.
            before_ms: when the batch before it was planned: what is decided by then did not know of this wait.
            asked_ms: when the batch before that one was planned.
            was_cut: whether the batch before has left events unread.
        """
        read_from_ms = asked_ms if self._backlog_from_ms is None else self._backlog_from_ms
        if not was_cut:
            self._backlog_from_ms = None
        elif self._backlog_from_ms is None:
            self._backlog_from_ms = asked_ms
        late_since_ms = before_ms if self._backlog_from_ms is None else self._backlog_from_ms
        if now_ms - late_since_ms <= SLOW_MS:
            return None
        return Outage(before_ms, now_ms, was_heard=True, asked_ms=min(read_from_ms, late_since_ms))
