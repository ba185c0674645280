"""Thread that commits the offsets of queries, so that no query waits for a commit or fails by it."""

from __future__ import annotations

import logging
import time
from collections.abc import Callable
from contextlib import suppress
from threading import Condition, Thread
from typing import NamedTuple

from group_coordinator.offset_reporter.outbox import Outbox, Parcel
from group_coordinator.offset_reporter.query_offsets import Offsets
from group_coordinator.offset_reporter.targets import NotTakenError, Target

_log = logging.getLogger(__name__)


class CommitCounts(NamedTuple):
    """Numbers of commits since the start."""

    taken: int
    failed: int


class Sender:
    """Commits in a thread that starts with the first offsets. Thread-safe.

    Args:
        target: where to commit; closed with the thread, and after a failure that another connection may fix.
        outbox: empty.
        clock: seconds, never going back.
    """

    def __init__(
        self, target: Target, outbox: Outbox, clock: Callable[[], float] = time.monotonic
    ) -> None:
        self._target = target
        self._outbox = outbox
        self._clock = clock
        self._changed = Condition()
        self._thread: Thread | None = None
        self._is_closing = False
        self._reported: dict[str, str] = {}
        """Last logged failure of each group."""
        self.counts = CommitCounts(0, 0)

    def put(self, group_id: str, run: str, offsets: Offsets) -> None:
        """Commit these offsets soon, in place of the run's earlier offsets."""
        with self._changed:
            if self._is_closing:
                return
            self._outbox.put(group_id, run, offsets, self._clock())
            # The thread starts late, so that an unused reporter has none.
            if self._thread is None:
                self._thread = Thread(target=self._work, name="offset-reporter", daemon=True)
                self._thread.start()
            self._changed.notify_all()

    def end(self, run: str) -> None:
        """End a run of a query."""
        with self._changed:
            self._outbox.end(run)

    def try_all(self, timeout_s: float) -> None:
        """Try at once to commit all new offsets, and wait until each group was tried."""
        self._hurry_until(lambda: not self._outbox.has_hurried, timeout_s)

    def flush(self, timeout_s: float) -> bool:
        """Commit all new offsets at once, and wait; return True if all are committed."""
        self._hurry_until(lambda: not self._outbox.has_news, timeout_s)
        return not self._outbox.has_news

    def _hurry_until(self, is_done: Callable[[], bool], timeout_s: float) -> None:
        with self._changed:
            self._outbox.hurry(self._clock())
            self._changed.notify_all()
            self._changed.wait_for(lambda: is_done() or self._is_closing, timeout_s)

    def close(self, timeout_s: float) -> None:
        """Commit new offsets within the timeout, and end the thread; later offsets are ignored."""
        all_done = self.flush(timeout_s)
        with self._changed:
            self._is_closing = True
            self._changed.notify_all()
        # An unreachable cluster must not delay the end: the thread is a daemon.
        if self._thread is not None and all_done:
            self._thread.join(timeout_s)

    def _work(self) -> None:
        try:
            while (parcel := self._next()) is not None:
                self._commit(parcel)
        finally:
            self._target.close()

    def _next(self) -> Parcel | None:
        # None ends the thread.
        with self._changed:
            while not self._is_closing:
                now_s = self._clock()
                if (parcel := self._outbox.take(now_s)) is not None:
                    return parcel
                next_s = self._outbox.next_s()
                # `put` and `hurry` wake the thread before the next commit is due.
                self._changed.wait(None if next_s is None else next_s - now_s)
        return None

    def _commit(self, parcel: Parcel) -> None:
        try:
            self._target.commit(*parcel)
        except Exception as failure:  # noqa: BLE001 - nothing may end the thread: it is logged, counted and tried again
            self._failed(parcel, failure)
            if not _group_has_members(failure):
                # A broken connection may fail again when it is closed.
                with suppress(Exception):
                    self._target.close()
        else:
            self._sent(parcel)

    def _sent(self, parcel: Parcel) -> None:
        with self._changed:
            self.counts = self.counts._replace(taken=self.counts.taken + 1)
            self._outbox.sent(self._clock())
            self._changed.notify_all()
        if self._reported.pop(parcel.group_id, None) is not None:
            _log.info("the offsets of group %r are committed again", parcel.group_id)

    def _failed(self, parcel: Parcel, failure: Exception) -> None:
        with self._changed:
            self.counts = self.counts._replace(failed=self.counts.failed + 1)
            self._outbox.failed(self._clock())
            self._changed.notify_all()
        # The same failure of a group is logged once.
        message = failure_message(parcel.group_id, failure)
        if self._reported.get(parcel.group_id) != message:
            self._reported[parcel.group_id] = message
            _log.warning("%s", message)


def failure_message(group_id: str, failure: Exception) -> str:
    """Log line with the failure, and the advice for a known cause."""
    if _group_has_members(failure):
        return (
            f"group {group_id!r} has members, so Kafka rejects the offsets of a Spark query for it: consumers use "
            "the same group id. Give the query its own group (OffsetReporter's group_ids)"
        )
    return (
        f"the offsets of group {group_id!r} could not be committed, and are tried again: "
        f"{type(failure).__name__}: {failure}"
    )


def _group_has_members(failure: Exception) -> bool:
    return isinstance(failure, NotTakenError) and failure.group_has_members
