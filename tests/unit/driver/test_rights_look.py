"""What is said of a right that a program lacks."""

from __future__ import annotations

import pytest

from group_coordinator.clients.cluster.connection import Connection
from group_coordinator.core.acls import Operation, ResourceType, Right
from group_coordinator.driver.checks.rights import (
    RIGHTS,
    CheckedRight,
    NeededRight,
    grant_command,
    missing_message,
    right_of,
)
from group_coordinator.settings import load

READ_GROUP = Right(Operation.READ, ResourceType.GROUP, "it's mine")


@pytest.mark.parametrize(
    ("right", "words"),
    [
        (
            Right(Operation.DESCRIBE, ResourceType.TRANSACTIONAL_ID, "*"),
            "--operation Describe --transactional-id '*'",
        ),
        (
            Right(Operation.DESCRIBE_CONFIGS, ResourceType.CLUSTER, "kafka-cluster"),
            "--operation DescribeConfigs --cluster",
        ),
        (READ_GROUP, """--operation Read --group 'it'"'"'s mine'"""),
    ],
)
def test_the_command_is_one_for_a_shell(right: Right, words: str) -> None:
    assert grant_command(right, "User:job", "kafka-1:9092") == (
        f"kafka-acls.sh --bootstrap-server kafka-1:9092 --add --allow-principal User:job {words}"
    )


@pytest.mark.parametrize(
    ("options", "principal"),
    [
        ({"sasl_mechanism": "PLAIN", "sasl_plain_username": "job"}, "User:job"),
        ({"sasl_mechanism": "AWS_MSK_IAM"}, "User:NAME"),
        ({"security_protocol": "SSL", "ssl_certfile": "job.pem"}, "User:NAME"),
        ({}, "User:ANONYMOUS"),
    ],
)
def test_a_user_whose_name_only_brokers_know_is_not_guessed(
    options: dict[str, str], principal: str
) -> None:
    missing = CheckedRight(NeededRight(READ_GROUP, "commits"), READ_GROUP, is_held=False)

    said = missing_message("run", missing, Connection("kafka-1:9092", options))

    assert said.startswith(f"{principal} lacks READ on GROUP ")
    assert f" --allow-principal {principal} " in said


def test_rights_that_the_settings_make_no_use_of_are_not_due() -> None:
    settings = ("topic.metadata.interval.ms=0", "transactions.markers.interval.ms=0")
    job = load(overrides=[*settings, "events.topic=e", "responses.topic=r"]).job

    due = [right_of(need, job) for need in RIGHTS["run"] if need.due(job)]

    topic = ResourceType.TOPIC
    assert due == [
        (Operation.READ, topic, "e"),
        (Operation.WRITE, topic, "e"),
        (Operation.DESCRIBE_CONFIGS, topic, "e"),
        (Operation.WRITE, topic, "r"),
        (Operation.DESCRIBE_CONFIGS, topic, "r"),
    ]
