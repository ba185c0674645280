"""Listener that reports the offsets of streaming queries, and the runs of queries that it knows."""

from __future__ import annotations

import logging
from collections.abc import Collection, Mapping, Sequence
from threading import Condition
from typing import Any, Literal, Self

from pyspark.sql import SparkSession
from pyspark.sql.streaming.listener import (
    QueryIdleEvent,
    QueryProgressEvent,
    QueryStartedEvent,
    QueryTerminatedEvent,
    StreamingQueryListener,
)

from group_coordinator.clients.cluster.connection import Connection
from group_coordinator.offset_reporter.outbox import Outbox
from group_coordinator.offset_reporter.query_offsets import Choice, GroupNames
from group_coordinator.offset_reporter.sender import CommitCounts, Sender
from group_coordinator.offset_reporter.targets import CoordinatorTarget, KafkaTarget, Target


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

_log = logging.getLogger(__name__)


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
            ValueError: the target does not exist, or a bootstrap server is not an address.
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
