"""Mirror of a cluster by its admin protocol: polls of the brokers, and their differences as rows of coordinator_log.

1. A batch of the query is a poll: a task for each broker reads the groups that the broker coordinates (clients/cluster/group_poll.py).
2. A task packs the records of each group (observed_records.py). A group that cannot be read has an error, and stays as it is.
3. The driver compares them with the records of the last poll. After a start these are the newest of each key in the log.
4. The changed records are appended in one commit. A batch that the log has already is skipped, and the next poll finds the rest.

A group that is missing in a poll may be on its way from a broker to another, or hidden: it ends if its coordinator says so.
"""

from __future__ import annotations

import logging
import time
import zlib
from collections import defaultdict
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from itertools import islice
from typing import Any

import pyarrow as pa
from msgspec import json
from pyspark.sql import DataFrame, SparkSession, Window
from pyspark.sql import functions as F
from pyspark.sql.datasource import DataSource, DataSourceStreamReader, InputPartition

from group_coordinator.clients.cluster.connection import Connection
from group_coordinator.clients.cluster.group_poll import brokers, polled_groups
from group_coordinator.clients.errors import ClientError
from group_coordinator.codecs.records.record_types import REMOVAL_ORDER
from group_coordinator.core.model.records import Reason
from group_coordinator.mirror.observed_records import (
    RecordChange,
    Records,
    at_time,
    changes,
    is_settled,
    records_of,
)
from group_coordinator.mirror.sinks import Explain, MirroredBatch
from group_coordinator.tables.coordinator_log import COORDINATOR_LOG
from group_coordinator.tables.definition import BATCH_ID, CLUSTER_ID, GROUP_ID, INGESTED_AT
from group_coordinator.tables.writer import Writer

ADMIN = "admin-protocol"
"""Name of this source in the table `writers`, in place of a topic."""
POLLED = "group_id STRING, polled_at_ms BIGINT, error STRING, settled BOOLEAN, records BINARY"
"""A group of a poll; without group_id the error is that of a broker. Records are those of `packed`."""
_SCHEMA = pa.schema(
    [
        ("group_id", pa.string()),
        ("polled_at_ms", pa.int64()),
        ("error", pa.string()),
        ("settled", pa.bool_()),
        ("records", pa.binary()),
    ]
)
_GROUPS_IN_A_BATCH = 1_000
_ROWS_IN_A_PIECE = 20_000
_NO_BROKER = -1
_HIDDEN_TOPIC = "TOPIC_AUTHORIZATION_FAILED: the user lacks the ACL DESCRIBE on the topic"
_HIDDEN = "no broker lists it or says that it ended: its coordinator is away, or the user lacks the ACL DESCRIBE on it"
_log = logging.getLogger(__name__)


def packed(records: Records) -> bytes:
    """Return the records as bytes: of equal records mostly the same bytes."""
    return zlib.compress(json.encode(dict(sorted(records.items()))), 1)


def unpacked(content: bytes) -> Records:
    return json.decode(zlib.decompress(content), type=dict[str, str])


@dataclass(frozen=True, slots=True)
class PolledBroker(InputPartition):
    """A task's part of a poll; `failure`: no broker could be asked."""

    broker_id: int
    failure: str = ""


class PollReader(DataSourceStreamReader):
    """Streaming reader of polls. Its offset is the time of the poll: a repeated batch polls again."""

    def __init__(self, connection: Connection) -> None:
        self._connection = connection

    def initialOffset(self) -> dict[str, int]:  # noqa: N802 - Spark's name
        return {"polled_at_ms": 0}

    def latestOffset(self, *_: object) -> dict[str, int]:  # noqa: N802 - Spark's name
        return {"polled_at_ms": _now_ms()}

    def partitions(self, start: Mapping[str, int], end: Mapping[str, int]) -> list[PolledBroker]:  # noqa: ARG002 - Spark's signature
        try:
            return [PolledBroker(broker_id) for broker_id in brokers(self._connection)]
        except ClientError as error:
            # An outage must not end the query.
            return [PolledBroker(_NO_BROKER, str(error))]

    def read(self, partition: PolledBroker) -> Iterator[pa.RecordBatch]:  # type: ignore[override]
        if partition.failure:
            yield _batch([(None, _now_ms(), partition.failure, False, b"")])
            return
        rows: list[tuple[Any, ...]] = []
        try:
            for polled in polled_groups(self._connection, partition.broker_id):
                records = b"" if polled.error else packed(records_of(polled))
                row = (polled.group_id, _now_ms(), polled.error, is_settled(polled), records)
                rows.append(row)
                if len(rows) == _GROUPS_IN_A_BATCH:
                    yield _batch(rows)
                    rows = []
        except ClientError as error:
            rows.append((None, _now_ms(), str(error), False, b""))
        if rows:
            yield _batch(rows)


def _batch(rows: Iterable[tuple[Any, ...]]) -> pa.RecordBatch:
    columns = zip(*rows, strict=True)
    arrays = [pa.array(column, each.type) for column, each in zip(columns, _SCHEMA, strict=True)]
    return pa.RecordBatch.from_arrays(arrays, schema=_SCHEMA)


def _now_ms() -> int:
    return time.time_ns() // 1_000_000


@dataclass(frozen=True, slots=True)
class AdminSource:
    """Source of a mirror's query, in place of a topic's messages."""

    connection: Connection

    def stream(self, spark: SparkSession, most_offsets: int, *, is_lossy: bool) -> DataFrame:  # noqa: ARG002 - as MessageSource
        reader = PollReader(self.connection)

        # A class of its own, as Spark sends the class to its workers, and options would show a login.
        class GroupPolls(DataSource):
            @classmethod
            def name(cls) -> str:
                return "group_polls"

            def schema(self) -> str:
                return POLLED

            def streamReader(self, schema: object) -> PollReader:  # noqa: ARG002, N802 - Spark's signature
                return reader

        spark.dataSource.register(GroupPolls)
        return spark.readStream.format("group_polls").load()


def _topic_of(key: str) -> str:
    """Return the topic of an offset's key, or an empty text."""
    return str(json.decode(key)["data"].get("topic", ""))


Failures = defaultdict[str, list[str]]
"""What could not be read, by error."""


@dataclass(slots=True)
class ObservedGroups:
    """The records of each group at the last poll, packed.

    `ended` returns those of the groups that ended, `hidden` those of the topics that the user may not describe: both raise ClientError.
    """

    groups: dict[str, bytes]
    ended: Callable[[Collection[str]], Collection[str]]
    hidden: Callable[[Collection[str]], Collection[str]]
    failures: frozenset[str] = frozenset()
    """Errors of the last poll."""

    def changed(
        self, polled: Collection[Mapping[str, Any]]
    ) -> Iterator[tuple[str, int, list[RecordChange]]]:
        """Yield group, time and changes of the groups that differ, and remember the poll."""
        seen: set[str | None] = set()
        failures = Failures(list)
        hidden = self._hidden(polled, failures)
        for row in polled:
            group_id: str | None = row["group_id"]
            seen.add(group_id)
            if group_id is None:
                failures[row["error"]].append("a broker")
            elif row["error"]:
                failures[row["error"]].append(f"group {group_id}")
            else:
                yield from self._compared(group_id, row, hidden)
        # An unknown broker may have any group.
        if None not in seen:
            yield from self._without(self.groups.keys() - seen, failures)
        self._report(failures)

    def _report(self, failures: Failures) -> None:
        # Once for each change, as polls follow each other.
        for error, subjects in failures.items():
            if error not in self.failures:
                [subject, *others] = subjects
                stays = f"and {len(others)} more cannot be polled, and stay as they are"
                if not others:
                    stays = "cannot be polled, and stays as it is"
                _log.warning("%s %s: %s", subject, stays, error)
        self.failures = frozenset(failures)

    def _hidden(self, polled: Iterable[Mapping[str, Any]], failures: Failures) -> Collection[str]:
        # Offsets of a topic that the user may no longer describe are missing in a response, as if they were removed.
        lost = set[str]()
        for row in polled:
            before = self.groups.get(row["group_id"])
            if before and not row["error"] and before != row["records"]:
                lost.update(
                    map(_topic_of, unpacked(before).keys() - unpacked(row["records"]).keys())
                )
        lost.discard("")
        reason = _HIDDEN_TOPIC
        try:
            hidden = self.hidden(lost) if lost else ()
        except ClientError as error:
            hidden, reason = lost, str(error)
        for topic in sorted(hidden):
            failures[reason].append(f"topic {topic}")
        return hidden

    def _compared(
        self, group_id: str, row: Mapping[str, Any], hidden: Collection[str]
    ) -> Iterator[tuple[str, int, list[RecordChange]]]:
        before, now = self.groups.get(group_id), row["records"]
        if before == now:
            return
        old, new = unpacked(before) if before else {}, unpacked(now)
        if hidden:
            new = {key: value for key, value in old.items() if _topic_of(key) in hidden} | new
        found = changes(old, new, is_settled=row["settled"])
        gone = {change.key for change in found if change.value is None}
        stays = {key: value for key, value in old.items() if key not in gone and key not in new}
        if stays or new:
            self.groups[group_id] = packed({**stays, **new}) if stays or hidden else now
        else:
            self.groups.pop(group_id, None)
        if found:
            yield group_id, row["polled_at_ms"], found

    def _without(
        self, missing: set[str], failures: Failures
    ) -> Iterator[tuple[str, int, list[RecordChange]]]:
        ended, reason = set[str](), _HIDDEN
        try:
            ended.update(self.ended(missing) if missing else ())
        except ClientError as error:
            reason = str(error)
        for group_id in sorted(ended):
            yield group_id, _now_ms(), changes(unpacked(self.groups.pop(group_id)), {})
        for group_id in sorted(missing - ended):
            failures[reason].append(f"group {group_id}")


def groups_in_log(log: DataFrame) -> dict[str, bytes]:
    """Return the groups by the newest row of each key in a cluster's log, without the times that a poll does not show."""
    newest = Window.partitionBy(GROUP_ID.name, "key").orderBy(F.desc(BATCH_ID.name), F.desc("seq"))
    timeless = F.regexp_replace(
        "value", r'"(commitTimestamp|currentStateTimestamp)":\d+', r'"$1":0'
    )
    rows = (
        log.where(F.col("record_type").isin(*REMOVAL_ORDER))
        .withColumn("age", F.row_number().over(newest))
        .where("age = 1 AND value IS NOT NULL")
        .groupBy(GROUP_ID.name)
        .agg(F.collect_list(F.struct("key", timeless.alias("value"))).alias("records"))
    )
    return {
        row["group_id"]: packed({each["key"]: each["value"] for each in row["records"]})
        for batch in rows.toArrow().to_batches()
        for row in batch.to_pylist()
    }


@dataclass(frozen=True, slots=True)
class ArrowRows:
    """Rows of a table that the driver holds."""

    spark: SparkSession
    rows: pa.Table
    fits_the_driver: bool = True

    def arrow(self) -> pa.RecordBatchReader:
        return self.rows.to_reader()

    def frame(self) -> DataFrame:
        return self.spark.createDataFrame(self.rows)


_COLUMNS = pa.schema(
    [
        column
        for column in COORDINATOR_LOG.no_rows().schema
        if column.name not in {BATCH_ID.name, INGESTED_AT.name}
    ]
)


@dataclass(slots=True, kw_only=True)
class AdminSinks:
    """Writes the differences of polls. The same batch may be written again, from another poll."""

    writer: Writer
    ended: Callable[[Collection[str]], Collection[str]]
    hidden: Callable[[Collection[str]], Collection[str]]
    explain: Explain
    report: Callable[[int, MirroredBatch], None]
    first_batch_id: int = 0
    topic_id: str | None = None
    """None, as no topic is read (MirrorSinks)."""
    known: ObservedGroups | None = field(default=None, init=False)
    """The last poll; None: the log has it."""

    def write(self, batch: DataFrame, batch_id: int) -> None:
        """Append the differences between the poll and the last poll."""
        spark, in_tables = batch.sparkSession, self.first_batch_id + batch_id
        log = self.writer.catalog.read(spark, COORDINATOR_LOG.name).where(
            F.col(CLUSTER_ID.name) == self.writer.cluster_id
        )
        # Taken out: after a failure the log is read again.
        known, self.known = self.known, None
        if known is None:
            known = ObservedGroups(groups_in_log(log), self.ended, self.hidden)
            # A repeated batch whose differences are in the log: the next poll finds later ones.
            if not log.where(F.col(BATCH_ID.name) >= in_tables).isEmpty():
                self.known = known
                return
        rows = self._rows(known.changed(batch.toArrow().to_pylist()))
        if rows.num_rows:
            rows = self._explained(spark, rows, in_tables)
            self.writer.append_once(ArrowRows(spark, rows), COORDINATOR_LOG, in_tables)
        self.known = known
        newest_ms = _now_ms() if rows.num_rows else None
        self.report(in_tables, MirroredBatch(rows.num_rows, 0, newest_ms))

    def _rows(self, found: Iterable[tuple[str, int, list[RecordChange]]]) -> pa.Table:
        rows = (
            self._row(group_id, time_ms, change, seq)
            for group_id, time_ms, of_group in found
            for seq, change in enumerate(of_group)
        )
        # In pieces: a first poll may have a million rows, and Python's take ten times the space of Arrow's.
        pieces, first = [], 0
        while some := list(islice(rows, _ROWS_IN_A_PIECE)):
            for place, row in enumerate(some, first):
                row["source_offset"] = place
            first += len(some)
            pieces.append(pa.RecordBatch.from_pylist(some, schema=_COLUMNS))
        return pa.Table.from_batches(pieces, schema=_COLUMNS)

    def _row(self, group_id: str, time_ms: int, change: RecordChange, seq: int) -> dict[str, Any]:
        about = json.decode(change.key)
        value = None if change.value is None else at_time(change.value, time_ms)
        data = about["data"]
        return {
            CLUSTER_ID.name: self.writer.cluster_id,
            GROUP_ID.name: group_id,
            "record_type": about["type"],
            "key": change.key,
            "value": value,
            "topic": data.get("topic"),
            "partition": data.get("partition"),
            "member_id": data.get("memberId"),
            "offset": json.decode(value)["data"].get("offset") if value else None,
            "reason": Reason.OBSERVED.value,
            "event_time": time_ms * 1_000,
            "source_partition": 0,
            "seq": seq,
            "inferred": False,
        }

    def _explained(self, spark: SparkSession, rows: pa.Table, in_tables: int) -> pa.Table:
        found = rows
        if rows["value"].null_count:
            found = self.explain(spark.createDataFrame(rows), in_tables, None).toArrow()
        empty = pa.nulls(rows.num_rows, pa.int64())
        for name in ("source_partition", "source_offset"):
            found = found.set_column(found.column_names.index(name), name, empty)
        return found.cast(_COLUMNS)
