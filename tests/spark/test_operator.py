from __future__ import annotations

import json
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from deltalake import DeltaTable
from pyspark.errors import StreamingQueryException
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql.streaming.query import StreamingQuery

from group_coordinator.core.acls import Authorizer
from group_coordinator.runtime.outputs import ABSENT_KEY, BAD_KEY, EVENT, HEADER, LONG_KEY
from group_coordinator.runtime.update_group import UpdateContext
from group_coordinator.settings import Settings
from group_coordinator.streaming import small_batch
from group_coordinator.streaming.batch_writer import Sinks
from group_coordinator.streaming.meter_totals import counted_in_tables
from group_coordinator.streaming.operator.worker_function import coordinate
from group_coordinator.streaming.small_batch import BatchCounts, BatchMeters
from group_coordinator.streaming.source import pack
from group_coordinator.tables import append, log_rows
from group_coordinator.tables.catalog import TableCatalog
from group_coordinator.tables.writer import Writer
from tests.support.acls import authorizer
from tests.support.until import until

pytestmark = pytest.mark.spark

PACKED = "group_id STRING, event BINARY"
DEADLINE_S = 120

Write = Callable[[DataFrame, int], None]
Row = dict[str, Any]


class Coordinator:
    """The real operator and sinks, fed from a folder instead of Kafka."""

    def __init__(self, spark: SparkSession, settings: Settings, folder: Path) -> None:
        self.spark = spark
        self.settings = settings
        self.folder = folder
        self.folder.mkdir()
        self.catalog = TableCatalog(settings.job.tables_root)
        self.counts: dict[int, BatchCounts] = {}
        self.needs: list[str] = []
        self.awaited: list[str] = []
        self.meters: dict[int, BatchMeters] = {}
        self.sinks = Sinks(
            job=settings.job,
            writer=Writer(self.catalog, settings.job.cluster_id, epoch=1),
            report=self.counts.__setitem__,
            topic_subscriptions=self.needs.extend,
            awaited_markers=self.awaited.extend,
            meters=self.meters.__setitem__,
        )
        self.offset = 0

    def send(self, *events: tuple[str, object]) -> None:
        rows = [(group, bytearray(self._packed(body))) for group, body in events]
        frame = self.spark.createDataFrame(rows, PACKED)
        frame.coalesce(1).write.mode("append").parquet(str(self.folder))

    @contextmanager
    def running(
        self, write: Write | None = None, acls: Authorizer | None = None
    ) -> Iterator[StreamingQuery]:
        job = self.settings.job
        context = UpdateContext(
            self.settings.coordinator,
            "group-events",
            0,
            timers_suspended=False,
            asks_for_topics=True,
            follows_markers=True,
            acls=acls,
        )
        events = self.spark.readStream.schema(PACKED).parquet(str(self.folder))
        query = (
            coordinate(events, context, job.exchange)
            .writeStream.foreachBatch(write or self.sinks.write)
            .option("checkpointLocation", f"{job.checkpoint_location}/test")
            .trigger(processingTime="100 milliseconds")
            .start()
        )
        try:
            yield query
        finally:
            query.stop()

    def rows(self, table: str) -> list[Row]:
        found: list[Row] = DeltaTable(self.catalog.location(table)).to_pyarrow_table().to_pylist()
        return sorted(found, key=lambda row: (row["batch_id"], row["group_id"], row.get("seq")))

    def log(self) -> list[tuple[str, str, int | None]]:
        return [
            (row["group_id"], row["reason"], row["offset"]) for row in self.rows("coordinator_log")
        ]

    def _packed(self, body: object) -> bytes:
        self.offset += 1
        value = body if isinstance(body, bytes) else json.dumps(body).encode()
        return HEADER.pack(0, self.offset, time.time_ns() // 1_000_000, EVENT, len(value)) + value


@pytest.fixture
def coordinator(
    spark: SparkSession, configured: Settings, catalog: TableCatalog, tmp_path: Path
) -> Coordinator:
    assert catalog.root == configured.job.tables_root
    return Coordinator(spark, configured, tmp_path / "events")


def until_batch(query: StreamingQuery, condition: Callable[[], bool]) -> None:
    """Wait for a condition that a batch brings about."""

    def while_running() -> bool:
        found = condition()
        failure = None if found else query.exception()
        assert failure is None, failure
        return found

    until(
        while_running,
        seconds=DEADLINE_S,
        awaited=lambda: f"a batch after {query.lastProgress}",
        pause=query.awaitTermination,
        poll_s=0.1,
    )


def groups_in_state(query: StreamingQuery) -> int | None:
    progress = query.lastProgress
    return progress.stateOperators[0].numRowsTotal if progress else None


def commit(group: str, offset: int, **body: Any) -> tuple[str, Row]:
    partition = {"partitionIndex": 0, "committedOffset": offset, "committedMetadata": None}
    of_a_simple_group = {
        "groupId": group,
        "generationIdOrMemberEpoch": -1,
        "memberId": "",
        "topics": [{"name": "orders", "partitions": [partition]}],
    }
    event = {"api": "OffsetCommit", "version": 8, "correlationId": None}
    return group, event | {"body": of_a_simple_group | body}


def in_transaction(group: str, offset: int, **said: int) -> tuple[str, Row]:
    _, event = commit(group, offset, producerId=17, **said)
    return group, event | {"api": "TxnOffsetCommit", "version": 3}


def test_the_log_and_the_dead_letters_of_a_batch_are_kept(coordinator: Coordinator) -> None:
    coordinator.send(commit("a", 1), commit("b", 2), ("b", b"no JSON"), commit("a", 3))

    with coordinator.running() as query:
        until_batch(query, lambda: bool(coordinator.counts.get(0)))
        until_batch(query, lambda: query.lastProgress is not None)

    assert coordinator.counts[0] == BatchCounts(0, 3, 1, 0)
    assert coordinator.meters[0].counts == {"offset-commit": 3, "dead-letter": 1}
    job = coordinator.settings.job
    assert counted_in_tables(coordinator.spark, job, -1, 1) == coordinator.meters[0].counts
    assert counted_in_tables(coordinator.spark, job, 0, 9) == {}
    assert coordinator.log() == [
        ("a", "offset-commit", 1),
        ("a", "offset-commit", 3),
        ("b", "offset-commit", 2),
    ]
    [letter] = coordinator.rows("dead_letters")
    assert letter["value"] == b"no JSON"
    assert (letter["source_topic"], letter["source_offset"]) == ("group-events", 3)
    [first, *_] = coordinator.rows("coordinator_log")
    assert first["cluster_id"] == "default"
    assert (first["source_topic"], first["source_partition"]) == ("group-events", 0)
    assert json.loads(first["value"])["data"]["offset"] == 1


def test_what_was_denied_is_kept(coordinator: Coordinator) -> None:
    (group, event), denied = commit("a", 1), {"principal": "User:b", "clientHost": "/10.0.0.7"}
    coordinator.send(commit("a", 1), (group, event | denied), ("a", b"no JSON"))
    acls = authorizer(
        "ALLOW User:ANONYMOUS READ GROUP a",
        "ALLOW User:ANONYMOUS READ TOPIC orders",
        "ALLOW User:b READ GROUP a",
    )

    with coordinator.running(acls=acls) as query:
        until_batch(query, lambda: bool(coordinator.counts.get(0)))

    assert coordinator.counts[0] == BatchCounts(0, 1, 1, 0, 1)
    assert coordinator.meters[0].counts == {"offset-commit": 1, "dead-letter": 1, "denial": 1}
    job = coordinator.settings.job
    assert counted_in_tables(coordinator.spark, job, -1, 1) == coordinator.meters[0].counts
    [denial] = coordinator.rows("denials")
    assert denial.pop("event_time") <= denial.pop("ingested_at")
    assert denial == {
        "group_id": "a",
        "api": "OffsetCommit",
        "principal": "User:b",
        "client_host": "/10.0.0.7",
        "operation": "READ",
        "resource_type": "TOPIC",
        "resource_name": "orders",
        "source_topic": "group-events",
        "source_partition": 0,
        "source_offset": 2,
        "cluster_id": "default",
        "batch_id": 0,
    }


def test_groups_say_what_they_need_and_wait_for_and_the_log_names_topics(
    coordinator: Coordinator,
) -> None:
    topic = {"name": "orders", "topicId": "AAAAAAAAAAAAAAAAAAAAAQ", "numPartitions": 1}
    told = {"groupId": "g", "topics": [topic], "complete": False}
    joins = {
        "groupId": "g",
        "memberId": "m",
        "memberEpoch": 0,
        "rebalanceTimeoutMs": 60_000,
        "subscribedTopicNames": ["orders"],
        "topicPartitions": [],
    }
    coordinator.send(
        ("g", {"api": "TopicMetadata", "version": 0, "body": told}),
        ("g", {"api": "ConsumerGroupHeartbeat", "version": 1, "body": joins}),
        in_transaction("t", 1, markersEndOffset=7),
    )

    with coordinator.running() as query:
        until_batch(query, lambda: bool(coordinator.counts.get(0)))
        until_batch(query, lambda: query.lastProgress is not None)

    assert coordinator.counts[0] == BatchCounts(0, 6, 0, 0)
    [need] = map(json.loads, coordinator.needs)
    assert need == {"group_id": "g", "names": ["orders"], "regexes": []}
    assert list(map(json.loads, coordinator.awaited)) == [{"group_id": "t", "since": {"17": 7}}]
    *rows, pending = coordinator.rows("coordinator_log")
    assert json.loads(pending["value"])["markersEndOffset"] == 7
    assert [(row["record_type"], row["member_id"]) for row in rows] == [
        (5, "m"),
        (3, None),
        (7, "m"),
        (6, None),
        (8, "m"),
    ]
    assert json.loads(rows[-1]["value"])["topicNames"] == {topic["topicId"]: "orders"}


@pytest.mark.usefixtures("catalog")
def test_a_deadline_fires_without_events_and_ends_the_state(
    spark: SparkSession, configured: Settings, tmp_path: Path
) -> None:
    soon = replace(
        configured.coordinator, offsets_retention_ms=500, offsets_retention_check_interval_ms=100
    )
    coordinator = Coordinator(spark, Settings(soon, configured.job), tmp_path / "events")
    coordinator.send(commit("g", 1))

    with coordinator.running() as query:
        until_batch(query, lambda: len(coordinator.log()) == 3)
        until_batch(query, lambda: groups_in_state(query) == 0)

    assert coordinator.log() == [
        ("g", "offset-commit", 1),
        ("g", "offset-expired", None),
        ("g", "group-expired", None),
    ]
    commit_row, expiry, _ = coordinator.rows("coordinator_log")
    assert expiry["source_offset"] is None
    waited_ms = (expiry["event_time"] - commit_row["event_time"]).total_seconds() * 1_000
    assert 500 <= waited_ms < 600


def the_driver_holds(monkeypatch: pytest.MonkeyPatch, most: int) -> None:
    """So many rows of dead letters, so many bytes of the log and of what it takes without counting."""
    monkeypatch.setattr(small_batch, "_LITTLE_BYTES", most - 1)
    monkeypatch.setattr(append, "MOST_ROWS", most)
    monkeypatch.setattr(log_rows, "MOST_BYTES", most)


@pytest.mark.parametrize("most", [0, 50_000], ids=["by Spark", "on the driver"])
def test_a_batch_that_is_done_again_is_appended_once(
    coordinator: Coordinator, monkeypatch: pytest.MonkeyPatch, most: int
) -> None:
    coordinator.send(commit("g", 1), ("g", b"no JSON"))
    done = []

    def write_in_both_ways(batch: DataFrame, batch_id: int) -> None:
        the_driver_holds(monkeypatch, most)
        coordinator.sinks.write(batch, batch_id)
        the_driver_holds(monkeypatch, 50_000 - most)
        coordinator.sinks.write(batch, batch_id)
        done.append(batch_id)

    with coordinator.running(write_in_both_ways) as query:
        until_batch(query, lambda: bool(done))

    assert coordinator.log() == [("g", "offset-commit", 1)]
    assert len(coordinator.rows("dead_letters")) == 1


def test_a_batch_that_failed_is_done_again_with_the_same_outcome(coordinator: Coordinator) -> None:
    coordinator.send(commit("g", 1), commit("g", 2))

    def fail_at_the_end(batch: DataFrame, batch_id: int) -> None:
        coordinator.sinks.write(batch, batch_id)
        raise RuntimeError("the power went out")

    with (
        coordinator.running(fail_at_the_end) as query,
        pytest.raises(StreamingQueryException, match="the power went out"),
    ):
        query.awaitTermination(DEADLINE_S)
    first = coordinator.rows("coordinator_log")

    with coordinator.running() as query:
        until_batch(query, lambda: query.lastProgress is not None)
        assert coordinator.rows("coordinator_log") == first
        coordinator.send(commit("g", 3))
        until_batch(query, lambda: len(coordinator.log()) == 3)

    assert [offset for *_, offset in coordinator.log()] == [1, 2, 3]


@pytest.fixture
def little_driver(spark: SparkSession) -> Iterator[None]:
    """A driver that takes no more than 256 KiB of results a job."""
    context: Any = spark.sparkContext
    conf = context._jsc.sc().conf()  # noqa: SLF001
    conf.set("spark.driver.maxResultSize", "256k")
    yield
    conf.remove("spark.driver.maxResultSize")


@pytest.mark.usefixtures("little_driver")
def test_no_batch_is_too_large_for_the_driver(
    coordinator: Coordinator, monkeypatch: pytest.MonkeyPatch
) -> None:
    the_driver_holds(monkeypatch, 0)
    partitions = [{"partitionIndex": n, "committedOffset": 1} for n in range(1_000)]
    topics = [{"name": "orders", "partitions": partitions}]
    coordinator.send(*(commit(f"g-{n}", 1, topics=topics) for n in range(40)))

    with coordinator.running() as query:
        until_batch(query, lambda: bool(coordinator.counts.get(0)))

    assert coordinator.counts[0] == BatchCounts(0, 40_000, 0, 0)


def test_faults_of_keys_are_flagged_and_long_events_are_cut(spark: SparkSession) -> None:
    records = spark.createDataFrame(
        [
            (bytearray(b"g"), bytearray(b"v"), 1, 256, 1_000),
            (bytearray(), bytearray(), 0, 1, 1_000),
            (None, bytearray(b"v"), 0, 2, 1_000),
            (bytearray(b"\xffg"), None, 0, 3, -1),
            (bytearray(b"k" * 32_767), bytearray(b"mor"), 0, 4, 1_000),
            (bytearray(b"k" * 32_768), bytearray(b"more"), 0, 5, 1_000),
            (bytearray(b"g"), bytearray(b"much more"), 0, 6, 1_000),
        ],
        "key BINARY, value BINARY, partition INT, offset BIGINT, ms BIGINT",
    )

    packed = pack(records.selectExpr("*", "timestamp_millis(ms) AS timestamp"), 4).collect()

    assert [(row["group_id"], bytes(row["event"])) for row in packed] == [
        ("g", HEADER.pack(1, 256, 1_000, EVENT, 1) + b"v"),
        ("", HEADER.pack(0, 1, 1_000, EVENT, 0)),
        ("", HEADER.pack(0, 2, 1_000, ABSENT_KEY, 1) + b"v"),
        ("\N{REPLACEMENT CHARACTER}g", HEADER.pack(0, 3, -1, BAD_KEY, -1)),
        ("k" * 32_767, HEADER.pack(0, 4, 1_000, EVENT, 3) + b"mor"),
        ("k" * 255, HEADER.pack(0, 5, 1_000, LONG_KEY, 4) + b"more"),
        ("g", HEADER.pack(0, 6, 1_000, EVENT, 9) + b"much"),
    ]
