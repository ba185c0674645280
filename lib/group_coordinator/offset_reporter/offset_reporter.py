"""Which runs of queries have ended: listeners hear of it a while later than who awaits the query."""

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
from group_coordinator.offset_reporter.sender import Counts, Sender
from group_coordinator.offset_reporter.targets import CoordinatorTarget, KafkaTarget, Target


class Runs:
    """Any number of threads may call it."""

    def __init__(self) -> None:
        self._changed = Condition()
        self._open: set[str] = set()

    def begin(self, run: str) -> None:
        """A run goes on."""
        with self._changed:
            self._open.add(run)

    def end(self, run: str) -> None:
        """A run has ended, and all of its progress was heard."""
        with self._changed:
            self._open.discard(run)
            self._changed.notify_all()

    def await_all_but(self, active: Collection[str], timeout_s: float) -> bool:
        """Wait until no other run is open than these; returns whether it is so."""
        with self._changed:
            return self._changed.wait_for(lambda: self._open <= set(active), timeout_s)

    def __bool__(self) -> bool:
        return bool(self._open)


REFRESH_S = 3_600.0
"""Far more often than any retention of offsets ends."""
PATIENCE_S = 10.0
"""How long the end of a query, and of the reporter, waits for the last commit."""

_log = logging.getLogger(__name__)


class OffsetReporter(StreamingQueryListener):
    """Commits the Kafka offsets of a session's streaming queries for consumer groups, so that lag tools see Spark jobs.

    Spark keeps its offsets in its checkpoint and goes by them alone: what is committed here is for people and their
    tools. A query never waits for it and never fails by it: a thread of its own commits the newest state of each group.

        reporter = OffsetReporter("kafka-1:9092")
        spark.streams.addListener(reporter)
        ...  # queries start, run and end
        reporter.close()

    A query's group is spark-NAME after its queryName, or spark-ID after its id, which its checkpoint keeps. It must
    have no members; where it has, one warning says so, and what is new is tried again until they have left.
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
            events_topic: of the coordinator; as in conf/coordinator.toml if it is not given.
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
            raise ValueError(f"target is kafka or coordinator, not {target!r}")
        self._runs = Runs()
        self._sender = Sender(where, Outbox(commit_interval_ms / 1_000, REFRESH_S))

    @property
    def counts(self) -> Counts:
        """How many commits were taken and how many failed; one that failed was tried again later."""
        return self._sender.counts

    def flush(self, timeout_s: float = PATIENCE_S) -> bool:
        """Commit what is new at once; returns whether all of it is committed."""
        return self._sender.flush(timeout_s)

    def close(self, timeout_s: float = PATIENCE_S) -> None:
        """Hear what queries that have ended had read, commit what is new, and end; each for so long at most.

        The listener may stay where it was added.
        """
        session = self.spark or SparkSession.getActiveSession()
        if self._runs and session is not None:
            active = {str(query.runId) for query in session.streams.active}
            self._runs.await_all_but(active, timeout_s)
        self._sender.close(timeout_s)

    def onQueryStarted(self, event: QueryStartedEvent) -> None:  # noqa: N802 - PySpark's name
        """Spark calls it, and the query begins when it returns."""
        self._runs.begin(str(event.runId))

    def onQueryProgress(self, event: QueryProgressEvent) -> None:  # noqa: N802 - PySpark's name
        """Spark calls it after a batch, and now and then between batches."""
        try:
            for group_id, offsets in self._names.offsets(event.progress).items():
                self._sender.put(group_id, str(event.progress.runId), offsets)
        except Exception:  # noqa: BLE001 - whatever it is, it is no failure of the query's
            _log.exception("the progress of query %s cannot be read", event.progress.id)

    def onQueryIdle(self, event: QueryIdleEvent) -> None:  # noqa: N802 - PySpark's name
        """Spark calls it: nothing was read."""

    def onQueryTerminated(self, event: QueryTerminatedEvent) -> None:  # noqa: N802 - PySpark's name
        """Spark calls it, in the thread of its listeners; a program that ends now waits for that thread."""
        self._runs.end(str(event.runId))
        self._sender.end(str(event.runId))
        self._sender.try_all(PATIENCE_S)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()
