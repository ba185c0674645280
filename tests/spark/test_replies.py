"""The responses of a batch on a real Kafka broker: where each of them arrives."""

from __future__ import annotations

import json
from contextlib import closing
from dataclasses import replace

import pytest
from kafka import KafkaAdminClient, KafkaConsumer, TopicPartition
from kafka.admin import NewPartitions, NewTopic
from kafka.partitioner.default import murmur2
from pyspark.sql import SparkSession

from group_coordinator.clients.cluster.connection import Connection
from group_coordinator.clients.cluster.lasting_client import ResponseWriter
from group_coordinator.clients.cluster.topics import ClusterTopics, PartitionCount
from group_coordinator.local.broker import EmbeddedBroker
from group_coordinator.settings import Settings
from group_coordinator.streaming.batch_writer import Sinks
from group_coordinator.streaming.operator.output_rows import (
    OUTPUT,
    RESPONSE,
    TOPIC_SUBSCRIPTION,
    Row,
)
from group_coordinator.streaming.small_batch import BatchCounts, SmallBatches
from group_coordinator.tables.catalog import TableCatalog
from group_coordinator.tables.writer import Writer

pytestmark = [pytest.mark.spark, pytest.mark.kafka]

GROUP = "billing"


def response(name: str, to: int | None = None) -> Row:
    answer = {"id": name, "groupId": GROUP, "body": {"errorCode": 0}}
    content = json.dumps(answer).encode()
    return RESPONSE, GROUP, to, content, 1


def need() -> Row:
    content = json.dumps({"group_id": GROUP, "names": ["orders"], "regexes": []}).encode()
    return TOPIC_SUBSCRIPTION, None, None, content, 1


class Job:
    """The sinks of a job, and a clock that is a second later for every batch."""

    def __init__(
        self, spark: SparkSession, settings: Settings, address: str, topic: str, *, is_quick: bool
    ) -> None:
        job = replace(settings.job, bootstrap_servers=address, responses_topic=topic)
        self._spark, self._job, self._seconds = spark, job, 0
        self.cluster = ClusterTopics(Connection(address))
        count = PartitionCount(self.cluster.read, topic, self._clock)
        self.responses = ResponseWriter(Connection(address), job, count.now)
        self.counts: dict[int, BatchCounts] = {}
        self.arrived_before_needs: list[str] = []
        self._sinks = Sinks(
            job=job,
            writer=Writer(TableCatalog(job.tables_root), job.cluster_id, epoch=1),
            report=self.counts.__setitem__,
            topic_subscriptions=lambda _: self.arrived_before_needs.extend(
                arrived(address, topic, 4)
            ),
            reply_partitions=count.now,
            small_batches=SmallBatches(lambda _: is_quick, self.responses),
        )

    def write(self, batch_id: int, *rows: Row) -> None:
        self._seconds += 1
        self._sinks.write(self._spark.createDataFrame(rows, OUTPUT), batch_id)

    def _clock(self) -> float:
        return self._seconds


def arrived(address: str, topic: str, partitions: int) -> dict[str, int]:
    """The ids of all responses, with the partitions that they are in."""
    with closing(KafkaConsumer(bootstrap_servers=address, consumer_timeout_ms=1_000)) as consumer:
        consumer.assign([TopicPartition(topic, number) for number in range(partitions)])
        consumer.seek_to_beginning()
        return {json.loads(record.value)["id"]: record.partition for record in consumer}


@pytest.mark.parametrize("is_quick", [True, False])
def test_a_response_arrives_in_the_partition_that_its_client_reads(
    spark: SparkSession, configured: Settings, broker: EmbeddedBroker, *, is_quick: bool
) -> None:
    """One that names a partition that is not there arrives in its group's, and the batch goes on."""
    topic = f"replies-of-{'few-events' if is_quick else 'many-events'}"
    address = broker.bootstrap_servers
    with closing(KafkaAdminClient(bootstrap_servers=address)) as admin:
        admin.create_topics([NewTopic(topic, 3, 1)], wait_for_metadata=True)
        job = Job(spark, configured, address, topic, is_quick=is_quick)
        by_key = (murmur2(GROUP.encode()) & 0x7FFFFFFF) % 3
        [other] = {0, 1, 2} - {by_key, (by_key + 1) % 3}

        job.write(
            0,
            response("silent"),
            response("named", to=other),
            response("beyond", to=3),
            response("far beyond", to=2**31 - 1),
        )
        assert arrived(address, topic, 3) == {
            "silent": by_key,
            "named": other,
            "beyond": by_key,
            "far beyond": by_key,
        }

        admin.create_partitions({topic: NewPartitions(4)})
        admin.wait_for_topics([topic])
        job.write(1, response("grown", to=3), need())
        assert arrived(address, topic, 4)["grown"] == 3
        job.cluster.close()
        job.responses.close()
    assert [counts.responses for counts in job.counts.values()] == [4, 1]
    # Who takes a batch as a whole tells of needs while responses are on their way.
    assert is_quick or "grown" in job.arrived_before_needs
