"""Drains of the real job where gateways answer: what changes between them counts for the events behind the Ticks of a start."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import closing
from dataclasses import replace
from pathlib import Path
from threading import Event
from typing import Any

import pytest
from kafka import KafkaAdminClient, KafkaConsumer, KafkaProducer, TopicPartition
from pyspark.sql import SparkSession

from group_coordinator.clients.cluster.connection import Connection
from group_coordinator.clients.cluster.coordinator_topics import create_topics
from group_coordinator.clients.cluster.lasting_client import ResponseWriter
from group_coordinator.codecs.acls import encode
from group_coordinator.core.acls import Acls
from group_coordinator.driver.coordinator_wiring import RunInputs, for_a_drain
from group_coordinator.driver.tasks.acls import acls_of_run
from group_coordinator.local.broker import EmbeddedBroker
from group_coordinator.settings import Settings
from group_coordinator.streaming.checkpoint.ownership import checked_writer
from group_coordinator.streaming.coordinator_query import CoordinatorRun
from tests.support.acls import rules

pytestmark = [pytest.mark.spark, pytest.mark.kafka]

EVERYONE = Acls(rules("ALLOW User:* ALL GROUP *", "ALLOW User:* ALL TOPIC *"))
NOBODY = Acls(())


class Job:
    """A job on topics of its own, with the events of a group."""

    def __init__(self, spark: SparkSession, settings: Settings, folder: Path) -> None:
        self._spark = spark
        self._acls = folder / "acls.json"
        self.settings = replace(
            settings,
            job=replace(
                settings.job,
                events_topic="events-basis",
                responses_topic="responses-basis",
                events_topic_partitions=2,
                responses_topic_partitions=1,
                timer_slack_ms=1000,
                acls_source="file",
                acls_file=str(self._acls),
                super_users="User:admin",
            ),
        )
        self._connection = Connection.of(self.settings.job)
        create_topics(self._connection, self.settings.job)

    def drain(self, metadata_max_bytes: int, acls: Acls) -> None:
        self._acls.write_bytes(encode(acls))
        limited = replace(self.settings.coordinator, offset_metadata_max_bytes=metadata_max_bytes)
        settings = replace(self.settings, coordinator=limited)
        writer = checked_writer(self._spark, settings.job, lambda: None)
        with (
            acls_of_run(self._spark, settings, self._connection) as of_run,
            closing(ResponseWriter(self._connection, settings.job, lambda: 1)) as responses,
        ):
            given = RunInputs(
                spark=self._spark,
                connection=self._connection,
                writer=writer,
                settings=settings,
                progress_file=None,
                topic_metadata=None,
                following=None,
                reply_partitions=lambda: 1,
                responses=responses,
                acls=of_run,
                endpoint=None,
            )
            CoordinatorRun(
                spark=self._spark,
                settings=settings,
                writer=writer,
                around=for_a_drain(given),
                stop=Event(),
            ).drain()

    def ask(self, number: int, *, through_gateway: bool) -> None:
        """Commits with metadata of five bytes by two users, and a gateway's question for the state."""
        partition = {"partitionIndex": 0, "committedOffset": number, "committedMetadata": "12345"}
        topics = [{"name": "orders", "partitions": [partition]}]
        asked = (
            ("a", "OffsetCommit", 8, "User:a", {"topics": topics}),
            ("admin", "OffsetCommit", 8, "User:admin", {"topics": topics}),
            ("gateway", "ReadState", 0, "Job:group-coordinator", {}),
        )[: 3 if through_gateway else 2]
        servers = self.settings.job.bootstrap_servers
        with closing(KafkaProducer(bootstrap_servers=servers)) as producer:
            for name, api, version, principal, body in asked:
                event = {
                    "api": api,
                    "version": version,
                    "correlationId": f"{name}-{number}",
                    "principal": principal,
                    "clientHost": "/127.0.0.1",
                    "body": {"groupId": "billing", **body},
                }
                value = json.dumps(event).encode()
                producer.send(self.settings.job.events_topic, value, b"billing").get(30)

    def records(self, topic: str) -> Iterator[Any]:
        with closing(
            KafkaConsumer(bootstrap_servers=self.settings.job.bootstrap_servers)
        ) as reader:
            for number in sorted(reader.partitions_for_topic(topic)):
                partition = TopicPartition(topic, number)
                reader.assign([partition])
                reader.seek_to_beginning(partition)
                end = reader.end_offsets([partition])[partition]
                while reader.position(partition) < end:
                    for records in reader.poll(timeout_ms=500).values():
                        yield from (json.loads(record.value) for record in records)

    def announced(self) -> list[str]:
        """The basis of each start, in their order; every partition has the same."""
        ids = [
            event["body"]["basisId"]
            for event in self.records(self.settings.job.events_topic)
            if event["api"] == "Tick"
        ]
        half = len(ids) // 2
        assert ids[:half] == ids[half:]
        return list(dict.fromkeys(ids))

    def responses(self) -> dict[str, Any]:
        """Bodies by correlation id."""
        found = self.records(self.settings.job.responses_topic)
        return {response["correlationId"]: response["body"] for response in found}


def code_of(body: Any) -> int:
    code: int = body["topics"][0]["partitions"][0]["errorCode"]
    return code


@pytest.fixture
def job(
    spark: SparkSession, configured: Settings, broker: EmbeddedBroker, tmp_path: Path
) -> Iterator[Job]:
    at_broker = replace(configured.job, bootstrap_servers=broker.bootstrap_servers)
    job = Job(spark, replace(configured, job=at_broker), tmp_path)
    yield job
    with closing(KafkaAdminClient(bootstrap_servers=broker.bootstrap_servers)) as admin:
        admin.delete_topics([job.settings.job.events_topic, job.settings.job.responses_topic])


def drain_three_times(job: Job, *, through_gateway: bool) -> None:
    """With other limits of metadata (12: OFFSET_METADATA_TOO_LARGE) and ACLs (30: GROUP_AUTHORIZATION_FAILED) from the second on."""
    job.ask(1, through_gateway=through_gateway)
    job.drain(metadata_max_bytes=5, acls=EVERYONE)
    job.ask(2, through_gateway=through_gateway)
    job.drain(metadata_max_bytes=4, acls=NOBODY)
    job.ask(3, through_gateway=through_gateway)
    job.drain(metadata_max_bytes=4, acls=NOBODY)


@pytest.mark.usefixtures("catalog")
def test_settings_and_acls_of_the_last_run_count_for_the_events_before_the_ticks(job: Job) -> None:
    drain_three_times(job, through_gateway=True)

    responses = job.responses()
    assert [code_of(responses[f"a-{number}"]) for number in (1, 2, 3)] == [0, 0, 30]
    assert [code_of(responses[f"admin-{number}"]) for number in (1, 2, 3)] == [0, 0, 12]
    before, after = job.announced()
    assert [responses[f"gateway-{number}"]["basisId"] for number in (1, 2, 3)] == [
        *(before, "", after)
    ]


@pytest.mark.usefixtures("catalog")
def test_settings_and_acls_count_at_once_while_no_gateway_has_a_state(job: Job) -> None:
    drain_three_times(job, through_gateway=False)

    responses = job.responses()
    assert [code_of(responses[f"a-{number}"]) for number in (1, 2, 3)] == [0, 30, 30]
    assert [code_of(responses[f"admin-{number}"]) for number in (1, 2, 3)] == [0, 12, 12]
