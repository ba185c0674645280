"""The state of a checkpoint that the real query left, divided among another number of partitions."""

from __future__ import annotations

import json
from contextlib import closing
from dataclasses import dataclass, field, replace
from typing import Any

import pytest
from kafka import KafkaProducer
from pyspark.sql import DataFrame, SparkSession

from group_coordinator.clients.cluster.connection import Connection
from group_coordinator.clients.cluster.coordinator_topics import create_topics
from group_coordinator.driver.checks.preflight import check_partitions
from group_coordinator.driver.errors import StartUpError
from group_coordinator.local.broker import EmbeddedBroker
from group_coordinator.settings import Settings
from group_coordinator.streaming.batch_gate import BatchGate
from group_coordinator.streaming.checkpoint.folder import CheckpointFolder
from group_coordinator.streaming.checkpoint.layout import (
    coordinator_folder,
    last_done_batch,
    unplan,
)
from group_coordinator.streaming.checkpoint.ownership import CheckpointError
from group_coordinator.streaming.coordinator_query import start_query
from group_coordinator.streaming.rebuild.rebuild import repartition
from group_coordinator.tables.catalog import TableCatalog
from tests.spark.played import commit, request
from tests.support.log_rows import Log
from tests.support.operator_rows import lines_in
from tests.support.until import until

pytestmark = [pytest.mark.spark, pytest.mark.kafka]

GROUPS = [f"group-{number}" for number in range(20)]


@dataclass
class Stopped:
    """A coordinator between two lives; `lines` are what came out of them."""

    spark: SparkSession
    settings: Settings
    lines: list[str] = field(default_factory=list)

    @property
    def folder(self) -> CheckpointFolder:
        return coordinator_folder(self.spark, self.settings.job)

    def live(self, events: list[dict[str, Any]]) -> list[dict[str, Any]]:
        """Run until each group's event is answered, and stop between two batches."""
        job = self.settings.job
        with closing(KafkaProducer(bootstrap_servers=job.bootstrap_servers)) as producer:
            for group, event in zip(GROUPS, events, strict=True):
                producer.send(
                    job.events_topic, key=group.encode(), value=json.dumps(event).encode()
                )
        self.lines.clear()
        gate = BatchGate(self._write)
        query = start_query(self.spark, self.settings, None, gate)
        until(
            lambda: len(self._responses()) == len(GROUPS),
            seconds=300,
            awaited=lambda: (
                f"{len(GROUPS)} responses, not {len(self._responses())} of {len(self.lines)} lines"
            ),
            pause=query.awaitTermination,
        )
        gate.stop(query, self.spark.sparkContext)
        if gate.held_batch >= 0:
            unplan(self.folder, gate.held_batch)
        return self._responses()

    def lose_commit(self) -> str:
        """As if the last batch had not ended; its file in Spark's log of batches."""
        name = f"commits/{last_done_batch(self.folder)}"
        self.folder.remove(name)
        return name

    def _write(self, batch: DataFrame, _batch_id: int) -> None:
        self.lines.extend(lines_in(batch.collect()))

    def _responses(self) -> list[dict[str, Any]]:
        return [json.loads(line[line.index("{") :]) for line in self.lines if line[0] == "R"]


@pytest.fixture
def stopped(
    spark: SparkSession, configured: Settings, catalog: TableCatalog, broker: EmbeddedBroker
) -> Stopped:
    job = replace(
        configured.job,
        bootstrap_servers=broker.bootstrap_servers,
        events_topic="events-repartition",
        responses_topic="responses-repartition",
    )
    assert catalog.root == job.tables_root
    create_topics(Connection(broker.bootstrap_servers), job)
    # On a busy machine the test may take longer than the tests' retention.
    kept = replace(configured.coordinator, offsets_retention_minutes=60)
    return Stopped(spark, Settings(kept, job))


def fetch(group: str) -> dict[str, Any]:
    return request("OffsetFetch", 7, 0, {"groupId": group, "topics": None})


def test_every_group_is_in_its_new_partition_and_a_batch_that_is_open_comes_first(
    stopped: Stopped,
) -> None:
    spark, job = stopped.spark, stopped.settings.job
    stopped.live([commit(group, 7) for group in GROUPS])

    last = stopped.lose_commit()
    with pytest.raises(
        CheckpointError, match=r"batch \d+ of .* has not ended: end it by `run --drain` first"
    ):
        repartition(spark, job, 3)
    stopped.folder.write(last, "v1\n{}")
    with pytest.raises(CheckpointError, match=r"the state in .* has 2 partitions already"):
        repartition(spark, job, 2)
    assert repartition(spark, job, 3) == 2

    stopped.lose_commit()
    with pytest.raises(StartUpError, match="rebuild --partitions 3` was interrupted: run it again"):
        check_partitions(spark, job)
    with pytest.raises(CheckpointError, match="run it again before --partitions 5"):
        repartition(spark, job, 5)
    assert repartition(spark, job, 3) == 2
    assert repartition(spark, job, 5) == 3

    assert check_partitions(spark, replace(job, shuffle_partitions=2)) == "5"
    fetched = {
        response["groupId"]: response["body"]["topics"][0]["partitions"][0]["committedOffset"]
        for response in stopped.live([fetch(group) for group in GROUPS])
    }
    assert fetched == dict.fromkeys(GROUPS, 7)


def test_what_spark_cannot_divide_is_left_as_it_is(
    spark: SparkSession, configured: Settings, catalog: TableCatalog
) -> None:
    assert catalog.root == configured.job.tables_root
    folder = coordinator_folder(spark, configured.job)
    folder.write("metadata", "{}")
    with pytest.raises(
        CheckpointError, match=r"no batch yet: give `run` the setting shuffle\.partitions = 4"
    ):
        repartition(spark, configured.job, 4)

    provider = "org.apache.spark.sql.execution.streaming.state.HDFSBackedStateStoreProvider"
    conf = {
        "spark.sql.shuffle.partitions": "2",
        "spark.sql.streaming.stateStore.providerClass": provider,
    }
    metadata = json.dumps({"batchTimestampMs": 1, "conf": conf})
    folder.write("offsets/0", f"v1\n{metadata}\n{{}}")
    folder.write("commits/0", "v1\n{}")
    with pytest.raises(CheckpointError, match=r"state\.store\.provider = hdfs"):
        repartition(spark, configured.job, 4)
    assert "1" not in folder.names_in("offsets")


def test_a_checkpoint_that_is_older_than_the_tables_is_not_made_to_look_newer(
    spark: SparkSession, configured: Settings, catalog: TableCatalog
) -> None:
    job = replace(configured.job, cluster_id="test")
    log = Log(batch_id=1)
    log.commit("g", "orders", 0, 1)
    log.frame(spark).write.format("delta").mode("append").save(catalog.location("coordinator_log"))
    folder = coordinator_folder(spark, job)
    folder.write("offsets/0", 'v1\n{"batchTimestampMs":1}\n{}')
    folder.write("commits/0", "v1\n{}")

    with pytest.raises(CheckpointError, match=r"is older than the tables .* it is at batch 0"):
        repartition(spark, job, 4)
