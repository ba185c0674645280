"""The coordinator's own topics: what `init` makes, and what it refuses to work with."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import closing
from itertools import count

import pytest
from click.testing import CliRunner
from kafka import KafkaAdminClient
from kafka.admin import ConfigResource, ConfigResourceType, NewTopic

from group_coordinator import settings
from group_coordinator.cli.main import main
from group_coordinator.clients.cluster.connection import Connection
from group_coordinator.clients.cluster.coordinator_topics import (
    TopicsError,
    check_topics,
    create_topics,
)
from group_coordinator.driver.coordinator import check_topics_again
from group_coordinator.local.broker import EmbeddedBroker
from group_coordinator.settings import JobSettings

pytestmark = pytest.mark.kafka

_numbers = count(1)


@pytest.fixture
def job(broker: EmbeddedBroker) -> JobSettings:
    number = next(_numbers)
    return settings.load(
        overrides=[
            f"bootstrap.servers={broker.bootstrap_servers}",
            f"events.topic=events-of-its-own-{number}",
            f"responses.topic=responses-of-its-own-{number}",
            "response.max.bytes=2000000",
        ]
    ).job


def make(job: JobSettings, name: str, **configs: str) -> None:
    dotted = {key.replace("_", "."): value for key, value in configs.items()}
    with closing(KafkaAdminClient(bootstrap_servers=job.bootstrap_servers)) as admin:
        admin.create_topics([NewTopic(name, 1, 1, topic_configs=dotted)], wait_for_metadata=True)


def configs_of(job: JobSettings, topic: str) -> Mapping[str, str]:
    resource = ConfigResource(ConfigResourceType.TOPIC, topic)
    with closing(KafkaAdminClient(bootstrap_servers=job.bootstrap_servers)) as admin:
        (of_topics,) = admin.describe_configs([resource], config_filter="all").values()
    return {name: entry["value"] for name, entry in of_topics[topic].items()}


def test_topics_are_made_once_with_the_brokers_clock_and_room_for_responses(
    job: JobSettings,
) -> None:
    connection = Connection.of(job)

    assert create_topics(connection, job) == [job.events_topic, job.responses_topic]
    assert create_topics(connection, job) == []
    check_topics(connection, job)

    assert configs_of(job, job.events_topic)["message.timestamp.type"] == "LogAppendTime"
    assert configs_of(job, job.events_topic)["cleanup.policy"] == "delete"
    assert int(configs_of(job, job.responses_topic)["max.message.bytes"]) > 2_000_000


def test_an_events_topic_with_the_clients_clock_is_refused(job: JobSettings) -> None:
    make(job, job.events_topic, message_timestamp_type="CreateTime")

    with pytest.raises(TopicsError, match="CreateTime, but the coordinator needs LogAppendTime"):
        create_topics(Connection.of(job), job)


@pytest.mark.parametrize("policy", ["compact", "compact,delete"])
def test_a_compacted_topic_is_refused(job: JobSettings, policy: str) -> None:
    make(job, job.events_topic, message_timestamp_type="LogAppendTime", cleanup_policy=policy)

    with pytest.raises(
        TopicsError,
        match=rf"{job.events_topic}: cleanup\.policy = {policy}, but the coordinator needs delete",
    ):
        create_topics(Connection.of(job), job)


def test_a_responses_topic_without_room_is_refused(job: JobSettings) -> None:
    make(job, job.responses_topic, max_message_bytes="1048588")

    with pytest.raises(
        TopicsError, match=r"max\.message\.bytes = 1048588, but responses need 2\d{6}"
    ):
        create_topics(Connection.of(job), job)


def test_a_missing_topic_is_named(job: JobSettings) -> None:
    make(job, job.events_topic, message_timestamp_type="LogAppendTime")

    with pytest.raises(TopicsError, match=f"topic {job.responses_topic} missing"):
        check_topics(Connection.of(job), job)


@pytest.mark.parametrize(
    ("setting", "topic", "told"),
    [
        (
            *("topics.replication.factor=2", None),
            (
                "INVALID_REPLICATION_FACTOR (38), Unable to replicate the partition 2 time(s): The target replication "
                "factor of 2 cannot be reached because only 1 broker(s) are registered or some brokers have all their "
                "log directories cordoned: set topics.replication.factor to at most the number of brokers"
            ),
        ),
        (
            *("events.topic=bad/name", "bad/name"),
            (
                "INVALID_TOPIC (17), Topic name is invalid: 'bad/name' contains one or more characters other than "
                "ASCII alphanumerics, '.', '_' and '-': set another name by events.topic or responses.topic"
            ),
        ),
        (
            *("events.topic.partitions=100000000", None),
            (
                "POLICY_VIOLATION (44), Excessively large number of partitions per request: set "
                "events.topic.partitions, responses.topic.partitions and topics.replication.factor to values that the "
                "brokers' policy allows, or create the topic with Kafka's own tool"
            ),
        ),
    ],
)
def test_what_the_broker_answers_to_a_topic_that_it_does_not_make_is_told(
    job: JobSettings, setting: str, topic: str | None, told: str
) -> None:
    server = job.bootstrap_servers
    name = topic or f"events-of-nobody-{next(_numbers)}"

    init = CliRunner().invoke(
        main,
        [
            "init",
            "--topics-only",
            "--bootstrap-server",
            server,
            f"--set=events.topic={name}",
            f"--set={setting}",
        ],
    )

    assert (init.exit_code, init.stderr) == (
        1,
        f"Error: topic {name} does not exist for this user, and {server} does not create it: {told}\n",
    )


def test_topics_that_a_broker_does_not_know_yet_are_looked_for_again(
    job: JobSettings, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A broker that has just started may know none; a topic that stays away is deleted."""
    connection, pauses = Connection.of(job), []
    monkeypatch.setattr(check_topics_again.retry, "sleep", pauses.append)
    with pytest.raises(TopicsError, match=f"{job.events_topic} and {job.responses_topic} missing"):
        check_topics_again(connection, job)
    assert pauses == [2, 2]

    monkeypatch.setattr(check_topics_again.retry, "sleep", lambda _: create_topics(connection, job))
    check_topics_again(connection, job)
