"""The topic of a running mirror: the way it is read, the progress in its log, and the events after which reading starts again."""

from __future__ import annotations

import logging
import time
from collections.abc import Callable, Mapping

from msgspec import json
from pyspark.errors import StreamingQueryException
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql.streaming.query import StreamingQuery

from group_coordinator.clients.cluster.connection import AGAIN_S, FIRST_S, Connection
from group_coordinator.clients.cluster.positions import Sample
from group_coordinator.clients.cluster.topics import TopicFacts, kafka_cluster_id, topic_facts
from group_coordinator.clients.errors import BrokerUnreachableError, ClientError
from group_coordinator.driver.error_causes import (
    has_lost_records,
    has_slow_worker,
    has_unreadable_time,
    unreadable_time,
    unreadable_time_message,
)
from group_coordinator.driver.errors import StartUpError
from group_coordinator.mirror.admin_source import AdminSource
from group_coordinator.mirror.continuity import Continuity, GapRepairs
from group_coordinator.mirror.query import MIRROR, Reading, TopicChangedError
from group_coordinator.mirror.sinks import GroupsMovedError, MirroredBatch
from group_coordinator.mirror.source import MessageSource
from group_coordinator.settings import JobSettings
from group_coordinator.streaming.batch_gate import ASKS_FOR_OFFSETS
from group_coordinator.streaming.checkpoint.layout import Origin, last_planned_batch, read_origin
from group_coordinator.streaming.checkpoint.plans import Plans
from group_coordinator.tables.catalog import TableCatalog

_LOOK_S = 30
_CLUSTER_FILES = "kafka_cluster"
_SLOW_STARTS = 3
"""Most starts in a row of a query by polls."""


class MirroredTopic:
    """Reads the topic's metadata, and keeps the checkpoint's memory of it; `cluster` has Spark's options for its brokers."""

    def __init__(
        self,
        spark: SparkSession,
        job: JobSettings,
        connection: Connection,
        cluster: Mapping[str, str],
        now_ms: Callable[[], int] = lambda: time.time_ns() // 1_000_000,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._job = job
        self._connection = connection
        self._now_ms = now_ms
        self._clock = clock
        self._folder = MIRROR.folder(spark, job)
        self._gap_repairs = GapRepairs(self._folder, TableCatalog(job.tables_root), job.cluster_id)
        self._continuity = Continuity(self._folder, job.events_topic, self._gap_repairs)
        self._source = MessageSource(cluster, job.events_topic, ())
        self._topic_id = ""
        self._is_lossy = False
        self._looked_s = clock()

    def take_up(self) -> Reading:
        """Return the way the topic is read from now on. Raises BrokerUnreachableError if it does not exist, or ChannelError."""
        facts = self._ask()
        thread = self._continuity.taken_up(facts, self._now_ms())
        self._topic_id = facts.topic_id
        self._is_lossy = thread.is_broken
        origin = read_origin(self._folder) or Origin()
        self._source = MessageSource(
            *(self._source.cluster, self._source.topic, frozenset(facts.extent), thread.homes),
            starts=origin.starting_offsets,
        )
        return Reading(self._source, self._is_lossy, facts.topic_id, origin.first_batch_id)

    def gone(self, session: SparkSession, batch_id: int) -> DataFrame | None:
        """Return tombstones for rows that are missing in the topic, if a gap repair is due."""
        return self._gap_repairs.gone(session, batch_id, lambda: self._source.present(session))

    def look(self, query: StreamingQuery) -> None:
        """Check the topic, now and then. Raises TopicChangedError if the query must be started again."""
        if self._clock() - self._looked_s < _LOOK_S:
            return
        self._looked_s, now_ms = self._clock(), self._now_ms()
        # The repair is done, so a further loss of records must fail again.
        if self._is_lossy and not self._gap_repairs.is_due:
            raise TopicChangedError(
                "the gap repair is done: from now on lost records are an error again"
            )
        facts = self._ask()
        if facts.topic_id != self._topic_id or facts.extent.keys() != self._source.partitions:
            raise TopicChangedError(
                f"topic {self._job.events_topic} was created again, or has more partitions"
            )
        if not self._is_lossy and self._continuity.was_away(facts, now_ms):
            raise TopicChangedError("the mirror has paused for longer than tombstones stay")
        if _has_read_all(query):
            self._continuity.all_is_read(now_ms)

    def is_read(self, since_ms: int) -> None:
        """Note that a drain has read all records of that time."""
        self._continuity.all_is_read(since_ms)

    def may_go_on(self, failure: StreamingQueryException) -> bool:
        """Return True if the query must start again after a failure, because the topic has changed.

        Raises:
            StartUpError: the topic has a record that Spark cannot read; the message has its position.
            ChannelError: the cluster does not respond, or rejects the login.
        """
        if has_unreadable_time(str(failure)):
            message = unreadable_time_message(self._job, self._where_unreadable())
            raise StartUpError(message) from failure
        # The error crosses Java, so only its text is left.
        if GroupsMovedError.__name__ in str(failure):
            self._continuity.groups_have_moved(self._now_ms())
            return True
        return has_lost_records(str(failure)) and self._continuity.is_broken(
            self._ask(), self._now_ms()
        )

    def _where_unreadable(self) -> str:
        # The record is in the failed batch, as all records before it were read.
        batch = Plans(self._folder).ranges_of(last_planned_batch(self._folder))
        found = unreadable_time(self._connection, self._job.events_topic, batch)
        if found is None:
            return ""
        return (
            f"in partition {found.partition} at offset {found.offset}, of {found.timestamp_ms} ms, "
        )

    def _ask(self) -> TopicFacts:
        # A missing topic counts as an outage, as it may be about to be created again.
        facts = topic_facts(self._connection, self._job.events_topic)
        if facts is None:
            raise BrokerUnreachableError(
                f"topic {self._job.events_topic} does not exist at {self._job.bootstrap_servers} now, or this user may no longer see it "
                "(ACL DESCRIBE)"
            )
        return facts


class PolledCluster:
    """A cluster that is read by polls, in the place of a topic. Another cluster at its address is logged."""

    def __init__(self, spark: SparkSession, job: JobSettings, connection: Connection) -> None:
        self._folder = MIRROR.folder(spark, job)
        self._connection = connection
        self._source = AdminSource(connection)
        self._slow_starts = 0
        self._looked_s = 0.0

    def take_up(self) -> Reading:
        self._compare_cluster()
        origin = read_origin(self._folder) or Origin()
        return Reading(
            source=self._source, is_lossy=False, topic_id=None, first_batch_id=origin.first_batch_id
        )

    def look(self, query: StreamingQuery) -> None:
        """Note a query with a batch, and check the cluster's id now and then: a poll sees all other changes by itself."""
        if query.lastProgress is not None:
            self._slow_starts = 0
        if time.monotonic() - self._looked_s >= _LOOK_S:
            self._compare_cluster()

    def _compare_cluster(self) -> None:
        self._looked_s = time.monotonic()
        try:
            found = kafka_cluster_id(self._connection)
        except ClientError:
            # The poll logs the outage.
            return
        known = self._folder.read_newest(_CLUSTER_FILES)
        if known == found:
            return
        if known is not None:
            _log.warning(
                "%s is now the cluster with the id %s, and was %s: groups that it lacks end in the tables, as if they were deleted. To "
                "keep the clusters apart, mirror this one under another name, by --cluster",
                *(self._connection.bootstrap_servers, found, known),
            )
        self._folder.write_next(_CLUSTER_FILES, found)

    def is_read(self, since_ms: int) -> None:
        """Do nothing: no record may be missed."""

    def may_go_on(self, failure: StreamingQueryException) -> bool:
        """Return True if the query must start again, because its Python process took longer to start than Spark waits."""
        if not has_slow_worker(str(failure)):
            return False
        self._slow_starts += 1
        if self._slow_starts == _SLOW_STARTS:
            return False
        _log.warning("a Python process of Spark did not start within 10 s: it is started again")
        return True


def checked_topic(connection: Connection, job: JobSettings) -> TopicFacts:
    """Return the topic's metadata. Raises StartUpError if it does not exist, or ChannelError."""
    facts = topic_facts(connection, job.events_topic)
    if facts is None:
        raise StartUpError(
            f"topic {job.events_topic} does not exist at {job.bootstrap_servers}, or this user may not see it (ACL "
            "DESCRIBE); Kafka creates __consumer_offsets when the first group commits or joins"
        )
    return facts


def _has_read_all(query: StreamingQuery) -> bool:
    progress = query.lastProgress
    if progress is None or query.status["isTriggerActive"]:
        return False
    [source] = json.decode(progress.json)["sources"]
    return bool(source["endOffset"]) and source["endOffset"] == source["latestOffset"]


_INTERVAL_S = 15.0
_log = logging.getLogger(__name__)


class MirrorProgress:
    """Receives batches and samples, and logs a line now and then."""

    def __init__(self, topic: str, now_ms: Callable[[], int], clock: Callable[[], float]) -> None:
        self._topic = topic
        self._now_ms = now_ms
        self._clock = clock
        self._since_s = clock()
        self._records = 0
        self._behind_s: float | None = None
        self._held: list[str] = []
        self._report_question_s = clock() + FIRST_S

    def batch_done(self, batch_id: int, found: MirroredBatch) -> None:
        self._records += found.records + found.dead_letters
        if found.newest_ms is not None:
            # The brokers' clock may be ahead of this machine's.
            self._behind_s = max(0.0, (self._now_ms() - found.newest_ms) / 1000)
        if found.dead_letters:
            _log.warning(
                "batch %d: %d messages could not be decoded: see the table dead_letters",
                batch_id,
                found.dead_letters,
            )

    def sampled(self, sample: Sample) -> None:
        """Note the ends of the topics: records between the last stable offset and the log end are not readable yet."""
        held = [
            f"partition {position.partition}: "
            f"{position.log_end_offset - position.last_stable_offset} records wait for the end of a transaction"
            for position in sample.positions
            if position.topic == self._topic
            and position.last_stable_offset < position.log_end_offset
        ]
        # Once per change, as samples come every few seconds.
        if held and held != self._held:
            _log.info("%s", "; ".join(held))
        self._held = held

    def look(self, query: StreamingQuery) -> None:
        self._look_at_question(query.status)
        if self._clock() - self._since_s >= _INTERVAL_S:
            self.report()

    def _look_at_question(self, status: Mapping[str, object]) -> None:
        asks = str(status["message"]).startswith(ASKS_FOR_OFFSETS)
        if not (status["isTriggerActive"] and asks):
            self._report_question_s = self._clock() + FIRST_S
        elif self._clock() >= self._report_question_s:
            self._report_question_s = self._clock() + AGAIN_S
            _log.warning(
                "waiting for the end offsets of topic %s, which Kafka does not return; SIGTERM or Ctrl-C ends the wait",
                self._topic,
            )

    def report(self) -> None:
        """Log the records since the last line, if there are any."""
        passed_s, self._since_s = self._clock() - self._since_s, self._clock()
        # An idle cluster must not fill the log.
        if self._records:
            _log.info(
                "%s: %d records, %d records/s, %.1f s behind",
                self._topic,
                self._records,
                self._records / max(passed_s, 1e-3),
                self._behind_s or 0.0,
            )
        self._records = 0
