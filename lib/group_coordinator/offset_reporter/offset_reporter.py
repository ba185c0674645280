"""Listener that reports the offsets of streaming queries, and the runs of queries that it knows.

A thread commits them, so that no query waits for a commit or fails by it.
"""

from __future__ import annotations

import logging
import time
from collections.abc import Callable, Collection, Mapping, Sequence
from contextlib import suppress
from threading import Condition, Thread
from typing import Any, Literal, NamedTuple, Self

from pyspark.sql import SparkSession
from pyspark.sql.streaming.listener import (
    QueryIdleEvent,
    QueryProgressEvent,
    QueryStartedEvent,
    QueryTerminatedEvent,
    StreamingQueryListener,
)

from group_coordinator.clients.cluster.connection import Connection
from group_coordinator.offset_reporter.outbox import (
    Choice,
    CoordinatorTarget,
    GroupNames,
    KafkaTarget,
    Offsets,
    OffsetsRejectedError,
    OffsetsToCommit,
    Outbox,
    Target,
)

_log = logging.getLogger(__name__)


class CommitCounts(NamedTuple):
    """Numbers of commits since the start."""

    taken: int
    failed: int


class Sender:
    """Commits in a thread that starts with the first offsets. Thread-safe.

    The target is closed with the thread, and after a failure that another connection may fix.
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
            while (commit := self._next()) is not None:
                self._commit(commit)
        finally:
            self._target.close()

    def _next(self) -> OffsetsToCommit | None:
        # None ends the thread.
        with self._changed:
            while not self._is_closing:
                now_s = self._clock()
                if (commit := self._outbox.take(now_s)) is not None:
                    return commit
                next_s = self._outbox.next_s()
                # `put` and `hurry` wake the thread before the next commit is due.
                self._changed.wait(None if next_s is None else next_s - now_s)
        return None

    def _commit(self, commit: OffsetsToCommit) -> None:
        try:
            self._target.commit(*commit)
        except Exception as failure:  # noqa: BLE001 - nothing may end the thread: it is logged, counted and tried again
            self._failed(commit, failure)
            if not _group_has_members(failure):
                # A broken connection may fail again when it is closed.
                with suppress(Exception):
                    self._target.close()
        else:
            self._sent(commit)

    def _sent(self, commit: OffsetsToCommit) -> None:
        with self._changed:
            self.counts = self.counts._replace(taken=self.counts.taken + 1)
            self._outbox.sent(self._clock())
            self._changed.notify_all()
        if self._reported.pop(commit.group_id, None) is not None:
            _log.info("the offsets of group %r are committed again", commit.group_id)

    def _failed(self, commit: OffsetsToCommit, failure: Exception) -> None:
        with self._changed:
            self.counts = self.counts._replace(failed=self.counts.failed + 1)
            self._outbox.failed(self._clock())
            self._changed.notify_all()
        # The same failure of a group is logged once.
        message = failure_message(commit.group_id, failure)
        if self._reported.get(commit.group_id) != message:
            self._reported[commit.group_id] = message
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
    return isinstance(failure, OffsetsRejectedError) and failure.group_has_members


class Runs:
    """Open runs of queries; Spark calls listeners later than it ends the query. Thread-safe."""

    def __init__(self) -> None:
        self._changed = Condition()
        self._open: set[str] = set()

    def begin(self, run: str) -> None:
        """Add a run that has started or continues."""
        with self._changed:
            self._open.add(run)

    def end(self, run: str) -> None:
        """Remove a run that has ended, after all its progress events."""
        with self._changed:
            self._open.discard(run)
            self._changed.notify_all()

    def await_all_but(self, active: Collection[str], timeout_s: float) -> bool:
        """Wait until no other runs are open; return False after the timeout."""
        with self._changed:
            return self._changed.wait_for(lambda: self._open <= set(active), timeout_s)

    def __bool__(self) -> bool:
        return bool(self._open)


REFRESH_S = 3_600.0
"""seconds. Interval of repeated commits, far shorter than any retention of offsets."""
PATIENCE_S = 10.0
"""seconds. Longest wait for the last commit at the end of a query and of the reporter."""


class OffsetReporter(StreamingQueryListener):
    """Commits the Kafka offsets of a session's streaming queries for consumer groups, so that lag tools see Spark jobs.

    Spark keeps its offsets in its checkpoint and reads only those: the commits are for people and their tools. A query
    never waits for a commit and never fails by it: a thread commits the newest state of each group.

        reporter = OffsetReporter("kafka-1:9092")
        spark.streams.addListener(reporter)
        ...  # queries start, run and end
        reporter.close()

    A query's group is spark-NAME after its queryName, or spark-ID after its id, which its checkpoint keeps. The group
    must have no members; otherwise a warning is logged once, and the newest offsets are retried until the members have
    left.
    """

    def __init__(  # noqa: PLR0913 - as for AdminClient
        self,
        bootstrap_servers: str | Sequence[str],
        *,
        target: Literal["kafka", "coordinator"] = "kafka",
        group_ids: Mapping[str, Choice] | None = None,
        commit_interval_ms: int = 1_000,
        client_options: Mapping[str, Any] | None = None,
        events_topic: str | None = None,
        responses_topic: str | None = None,
    ) -> None:
        """Make a listener; it connects with the first offsets.

        Args:
            bootstrap_servers: the cluster that has the groups, or the coordinator's topics.
            target: kafka: the brokers keep the groups; coordinator: this project's job does.
            group_ids: the groups of queries by name, or by id if a query has no name: a group; the group of each
                Kafka source, by the value of its option subscribe, subscribePattern or assign; None: no report.
                The order of topics and spaces are ignored. Sources that are not in the mapping are not reported.
            commit_interval_ms: between two commits of a group.
            client_options: kafka-python's, for security.
            events_topic: of the coordinator; the default is in conf/coordinator.toml.
            responses_topic: likewise.

        Raises:
            ValueError: the target does not exist, a bootstrap server is not an address, or `group_ids` has other types.
        """
        servers = bootstrap_servers
        if not isinstance(servers, str):
            servers = ",".join(servers)
        self._names = GroupNames(group_ids or {})
        where: Target
        if target == "kafka":
            where = KafkaTarget(Connection(servers, client_options or {}))
        elif target == "coordinator":
            where = CoordinatorTarget(
                bootstrap_servers=servers,
                events_topic=events_topic,
                responses_topic=responses_topic,
                client_options=client_options,
            )
        else:
            raise ValueError(f"target = {target!r} is not valid: give kafka or coordinator")
        self._runs = Runs()
        self._sender = Sender(where, Outbox(commit_interval_ms / 1_000, REFRESH_S))

    @property
    def counts(self) -> CommitCounts:
        """Numbers of successful and of failed commits; a failed commit is retried later."""
        return self._sender.counts

    def flush(self, timeout_s: float = PATIENCE_S) -> bool:
        """Commit new offsets at once; return True if all are committed."""
        return self._sender.flush(timeout_s)

    def close(self, timeout_s: float = PATIENCE_S) -> None:
        """Handle the last progress of ended queries, commit new offsets, and end; each step within the timeout.

        The listener may stay registered.
        """
        session = self.spark or SparkSession.getActiveSession()
        # Progress events arrive later than the end of a query, so they are awaited first.
        if self._runs and session is not None:
            active = {str(query.runId) for query in session.streams.active}
            self._runs.await_all_but(active, timeout_s)
        self._sender.close(timeout_s)

    def onQueryStarted(self, event: QueryStartedEvent) -> None:  # noqa: N802 - PySpark's name
        """Called by Spark at the start; the query begins when this returns."""
        self._runs.begin(str(event.runId))

    def onQueryProgress(self, event: QueryProgressEvent) -> None:  # noqa: N802 - PySpark's name
        """Called by Spark after a batch, and sometimes between batches."""
        try:
            for group_id, offsets in self._names.offsets(event.progress).items():
                self._sender.put(group_id, str(event.progress.runId), offsets)
        except Exception:  # noqa: BLE001 - an error here must not fail the query
            _log.exception("the progress of query %s cannot be read", event.progress.id)

    def onQueryIdle(self, event: QueryIdleEvent) -> None:  # noqa: N802 - PySpark's name
        """Called by Spark for a batch without input."""

    def onQueryTerminated(self, event: QueryTerminatedEvent) -> None:  # noqa: N802 - PySpark's name
        """Called by Spark's listener thread at the end. A program that ends now waits for that thread."""
        self._runs.end(str(event.runId))
        self._sender.end(str(event.runId))
        self._sender.try_all(PATIENCE_S)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()
