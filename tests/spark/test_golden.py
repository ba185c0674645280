"""The present code goes on with the checkpoints and tables that every released version left (tests/golden)."""

from __future__ import annotations

import json
import tarfile
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest
from deltalake import DeltaTable
from pyspark.sql import DataFrame, SparkSession

from group_coordinator.settings import Settings, load
from group_coordinator.streaming.batch_gate import BatchGate
from group_coordinator.streaming.batch_writer import Sinks, responses_of
from group_coordinator.tables.catalog import TableCatalog
from group_coordinator.tables.creation import upgrade_tables
from tests.golden import job
from tests.golden.story import FILES, HOUR_MS, ORDERS_ID, PackedEvent, Story, orders
from tests.support.until import until

pytestmark = pytest.mark.spark

ARCHIVES = sorted(FILES.glob("job-*.tar.gz"))
DEADLINE_S = 300
FIRST = "client-06fdc8b5-39cf-5aa1-bd3a-a94f04499c16"
LEADER = "client-8a414a41-e4fb-5179-8ad0-7aa8aef2f1d9"
SYNC_LEADER = "client-bab44627-996c-55fe-8d99-16e90d13a06a"
Row = dict[str, Any]

DESCRIBED = {
    "expiring": ("Empty", "", []),
    "in-transaction": ("Empty", "", []),
    "left": ("Empty", "consumer", []),
    "rebalancing": ("PreparingRebalance", "consumer", [None, None]),
    "simple": ("Empty", "", []),
    "stable": ("Stable", "consumer", [None, "i"]),
    "syncing": ("CompletingRebalance", "consumer", [None, None]),
    "told-of-topics": ("Dead", "", []),
}
FETCHED = {"expiring": 43, "in-transaction": 44, "left": 47, "simple": 42, "stable": 46}


@dataclass
class Job:
    """A copy of what a version left, and what comes of going on with it."""

    spark: SparkSession
    folder: Path
    answers: dict[tuple[str, str], Row] = field(default_factory=dict)

    @property
    def settings(self) -> Settings:
        return load(overrides=job.settings_in(self.folder))

    def take(self, events: list[PackedEvent]) -> None:
        """Let the job take these events in one batch, as its start prepares the tables, then compact."""
        upgrade_tables(self.spark, self.settings.job.tables_root)
        job.send(self.spark, self.folder / "more", events)
        gate = BatchGate(self._write)
        query = job.start(self.spark, self.settings, self.folder / "more", gate)
        until(
            lambda: self.answers,
            seconds=DEADLINE_S,
            awaited="answers",
            pause=query.awaitTermination,
            poll_s=0.1,
        )
        gate.stop(query, self.spark.sparkContext)
        job.compact(self.spark, self.settings, version=1)

    def rows(self, table: str) -> list[Row]:
        root = TableCatalog(self.settings.job.tables_root)
        rows: list[Row] = DeltaTable(root.location(table)).to_pyarrow_table().to_pylist()
        return sorted(rows, key=lambda row: (row["group_id"], row.get("batch_id"), row.get("seq")))

    def _write(self, batch: DataFrame, batch_id: int) -> None:
        """Keep the answers, which would go to Kafka, and write the rest."""
        batch.persist()
        most_bytes = self.settings.job.response_max_bytes
        responses = responses_of(batch, most_bytes, partitions=0).toArrow()
        for answer in map(json.loads, responses["value"].to_pylist()):
            self.answers[answer["groupId"], answer["correlationId"]] = answer["body"]
        rest = batch.where("kind <> 'R'")
        writer = job.writer(self.settings)
        Sinks(job=self.settings.job, writer=writer, report=lambda *_: None).write(rest, batch_id)
        batch.unpersist()


@pytest.fixture
def golden(request: pytest.FixtureRequest, spark: SparkSession, tmp_path: Path) -> Job:
    with tarfile.open(request.param) as archive:
        archive.extractall(tmp_path, filter="data")
    return Job(spark, tmp_path)


of_archives = pytest.mark.parametrize(
    "golden", ARCHIVES, indirect=True, ids=lambda archive: archive.name
)


@of_archives
def test_every_group_is_known_and_goes_on(golden: Job) -> None:
    before = golden.rows("coordinator_log")
    story = Story(first_offset=1_000)
    for group in DESCRIBED:
        story.say(group, 10_000, "DescribeGroups", 5, reply="describe", groups=[group])
        story.say(group, 10_000, "OffsetFetch", 7, reply="fetch", topics=None)
    go_on(story)

    golden.take(story.events)

    assert {group: described(golden, group) for group in DESCRIBED} == DESCRIBED
    assert {group: fetched(golden, group) for group in FETCHED} == FETCHED
    check_answers(golden.answers)
    check_log(before, golden.rows("coordinator_log"))
    assert [
        (row["group_id"], row["state"], row["offset_count"]) for row in golden.rows("groups")
    ] == [
        ("in-transaction", "Empty", 1),
        ("left", "Empty", 1),
        ("of-consumers", "Reconciling", 0),
        ("rebalancing", "Stable", 0),
        ("simple", "Empty", 1),
        ("stable", "Stable", 1),
        ("syncing", "Stable", 0),
        ("told-of-topics", "Empty", 1),
    ]


@of_archives
def test_a_consumer_group_goes_on(golden: Job) -> None:
    group = "of-consumers"
    story = Story(first_offset=1_000)
    story.say(group, 10_000, "ConsumerGroupDescribe", 1, reply="describe", groupIds=[group])
    static = {"memberEpoch": 2, "instanceId": "i", "reply": "first"}
    story.beat(group, 11_000, "m1", topicPartitions=partitions(0), **static)
    story.beat(group, 11_001, "m2", memberEpoch=3, topicPartitions=[], reply="second")

    golden.take(story.events)

    (described_group,) = golden.answers[group, "describe"]["groups"]
    assert (described_group["groupState"], described_group["groupEpoch"]) == ("Reconciling", 4)
    assert [
        (member["memberId"], member["memberEpoch"], member["subscribedTopicRegex"])
        for member in described_group["members"]
    ] == [("m1", 2, ""), ("m2", 3, "o.*")]
    first, second = golden.answers[group, "first"], golden.answers[group, "second"]
    assert (first["errorCode"], first["memberEpoch"]) == (0, 4)
    assert (second["errorCode"], second["memberEpoch"]) == (0, 4)
    assert second["assignment"] == {"topicPartitions": partitions(1)}
    (row,) = [row for row in golden.rows("groups") if row["group_id"] == group]
    assert (row["state"], row["assignment_epoch"], row["member_count"]) == ("Stable", 4, 2)


def go_on(story: Story) -> None:
    """Answer what is parked, end what is open, and let expire what has an end."""
    story.join("rebalancing", 11_000, FIRST)
    story.sync("syncing", 11_000, SYNC_LEADER, 1)
    end = {"producerId": 17, "producerEpoch": 0, "committed": True}
    story.say("in-transaction", 11_000, "EndTxn", 0, **end)
    story.say("in-transaction", 11_000, "OffsetFetch", 7, reply="fetch again", topics=None)
    story.say("stable", 11_000, "Heartbeat", 3, reply="beat", generationId=1, memberId=LEADER)
    story.say("expiring", HOUR_MS - 1, "OffsetFetch", 7, reply="fetch again", topics=None)
    story.say("expiring", HOUR_MS, "Tick", 0)
    unknown = [{"name": "refunds", "partitions": [{"partitionIndex": 0, "committedOffset": 1}]}]
    story.say("told-of-topics", 11_000, "OffsetCommit", 8, reply="commit", topics=unknown)
    story.say("told-of-topics", 11_000, "OffsetCommit", 8, topics=orders(48))


def partitions(*numbers: int) -> list[Row]:
    return [{"topicId": ORDERS_ID, "partitions": list(numbers)}]


def check_answers(answers: dict[tuple[str, str], Row]) -> None:
    """Of what was parked, and of what goes on."""
    assert answers["syncing", "sync"]["errorCode"] == 0
    assert answers["stable", "beat"]["errorCode"] == 0
    assert committed(answers["in-transaction", "fetch again"]) == 45
    assert committed(answers["expiring", "fetch again"]) == 43
    ((partition,),) = [
        topic["partitions"] for topic in answers["told-of-topics", "commit"]["topics"]
    ]
    assert partition["errorCode"] == 3


def check_log(before: list[Row], after: list[Row]) -> None:
    """The old rows are untouched but for columns that came later, and the new ones come behind them."""
    assert {row["batch_id"] for row in before} == {0}
    later = dict.fromkeys(after[0].keys() - before[0].keys())
    assert [row for row in after if row["batch_id"] == 0] == [row | later for row in before]
    new = [row for row in after if row["batch_id"] > 0]
    assert len({row["batch_id"] for row in new}) == 1
    assert [(row["group_id"], row["reason"]) for row in new] == [
        ("expiring", "offset-expired"),
        ("expiring", "group-expired"),
        ("in-transaction", "transaction-committed"),
        ("syncing", "sync"),
        ("told-of-topics", "offset-commit"),
    ]


def described(golden: Job, group: str) -> tuple[str, str, list[str | None]]:
    (body,) = golden.answers[group, "describe"]["groups"]
    members = sorted(member["groupInstanceId"] or "" for member in body["members"])
    return body["groupState"], body["protocolType"], [name or None for name in members]


def fetched(golden: Job, group: str) -> int:
    return committed(golden.answers[group, "fetch"])


def committed(body: Row) -> int:
    (topic,) = body["topics"]
    (partition,) = topic["partitions"]
    offset: int = partition["committedOffset"]
    return offset
