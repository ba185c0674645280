"""Which answers were late, by the times at which a coordinator planned its batches (clock rule 8)."""

from __future__ import annotations

from group_coordinator.core.deadlines.outages import Outage

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
