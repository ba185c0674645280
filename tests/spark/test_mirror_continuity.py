"""What a mirror's checkpoint remembers of its topic, and when the tables are compared with what the topic has now."""

from __future__ import annotations

import pytest
from msgspec import json
from pyspark.sql import DataFrame, SparkSession

from group_coordinator.clients.cluster.topics import TopicFacts
from group_coordinator.mirror.arrow_decoder import DECODED
from group_coordinator.mirror.continuity import Continuation, Continuity, GapRepairs
from group_coordinator.settings import Settings
from group_coordinator.streaming.checkpoint.folder import CheckpointFolder
from group_coordinator.streaming.checkpoint.layout import read_origin
from group_coordinator.tables.catalog import TableCatalog
from group_coordinator.tables.creation import create_tables

pytestmark = pytest.mark.spark

TOPIC, DAY = "copy", 86_400_000


class Checkpoint:
    """A mirror's checkpoint, with batches that Spark has planned and done, up to offset 10 of the one partition."""

    def __init__(self, spark: SparkSession, settings: Settings) -> None:
        create_tables(settings.job.tables_root, lambda: spark)
        self.spark = spark
        self.folder = CheckpointFolder(spark, f"{settings.job.checkpoint_location}/mirror")
        self.gap_repairs = GapRepairs(self.folder, TableCatalog(settings.job.tables_root), "eu-1")
        self.continuity = Continuity(self.folder, TOPIC, self.gap_repairs)

    def batch(self, number: int, *, is_done: bool) -> None:
        ends = json.encode({TOPIC: {"0": 10}}).decode()
        self.folder.write(f"offsets/{number}", f'v1\n{{"batchTimestampMs":1}}\n{ends}')
        if is_done:
            self.folder.write(f"commits/{number}", "v1\n{}")

    def taken_up(self, at_ms: int, start: int = 0, topic_id: str = "A") -> Continuation:
        return self.continuity.taken_up(TopicFacts(topic_id, {0: range(start, 20)}, DAY), at_ms)

    def looks_back_in(self, batch_id: int) -> bool:
        def nothing() -> DataFrame:
            return self.spark.createDataFrame([], DECODED)

        return self.gap_repairs.gone(self.spark, batch_id, nothing) is not None


@pytest.fixture
def checkpoint(spark: SparkSession, configured: Settings) -> Checkpoint:
    return Checkpoint(spark, configured)


def test_who_was_away_for_longer_than_tombstones_stay_looks_back_once(
    checkpoint: Checkpoint,
) -> None:
    checkpoint.taken_up(0)
    checkpoint.batch(0, is_done=True)

    assert not checkpoint.taken_up(DAY).is_broken
    assert not checkpoint.looks_back_in(1)
    assert checkpoint.taken_up(DAY + 1).is_broken
    assert not checkpoint.taken_up(DAY + 30_000).is_broken
    assert [number for number in (1, 2, 3) if checkpoint.looks_back_in(number)] == [1]


def test_a_batch_that_the_tables_may_have_leaves_the_tombstones_to_the_next_one(
    checkpoint: Checkpoint,
) -> None:
    """Its rows were appended, and Spark does not know: they are left out the second time."""
    checkpoint.taken_up(0)
    checkpoint.batch(0, is_done=False)

    assert checkpoint.taken_up(DAY + 1).is_broken
    assert [number for number in (0, 1, 2) if checkpoint.looks_back_in(number)] == [1]


def test_records_that_went_unread_break_the_thread(checkpoint: Checkpoint) -> None:
    checkpoint.taken_up(0)
    checkpoint.batch(0, is_done=True)

    assert not checkpoint.taken_up(1, start=10).is_broken
    assert checkpoint.taken_up(2, start=11).is_broken


def test_another_topic_of_the_name_is_read_from_its_beginning_and_batches_go_on(
    checkpoint: Checkpoint,
) -> None:
    checkpoint.taken_up(0)
    checkpoint.batch(0, is_done=True)
    checkpoint.batch(1, is_done=False)

    assert checkpoint.taken_up(1, topic_id="B").is_broken
    origin = read_origin(checkpoint.folder)
    assert origin is not None
    assert (origin.first_batch_id, checkpoint.folder.exists("offsets")) == (2, False)
    assert not checkpoint.taken_up(2, topic_id="B").is_broken
    assert checkpoint.looks_back_in(2)


def test_who_may_not_read_the_topics_settings_goes_by_kafkas_default(
    checkpoint: Checkpoint,
) -> None:
    checkpoint.taken_up(0)
    checkpoint.batch(0, is_done=True)
    facts = TopicFacts("A", {0: range(20)}, None)

    assert not checkpoint.continuity.was_away(facts, DAY)
    assert checkpoint.continuity.was_away(facts, DAY + 1)
    checkpoint.continuity.all_is_read(DAY)
    assert not checkpoint.continuity.was_away(facts, DAY + 1)
