"""Polls of a broker with an authorizer, by users with the right DESCRIBE alone."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing
from typing import Any

import pytest
from confluent_kafka import Consumer
from kafka import KafkaAdminClient, OffsetAndMetadata, TopicPartition
from kafka.admin import NewTopic
from kafka.errors import CoordinatorNotAvailableError, NoError

from group_coordinator.clients.cluster.connection import Connection
from group_coordinator.clients.cluster.group_poll import (
    PolledGroup,
    brokers,
    ended_groups,
    hidden_topics,
    polled_groups,
)
from group_coordinator.local.broker import EmbeddedBroker
from group_coordinator.mirror.observed_records import Records, records_of
from tests.support.acls import rule
from tests.support.authorized_broker import (
    ADMIN,
    PASSWORD,
    admin_of,
    authorized_broker,
    create_acls,
    login_of,
)
from tests.support.until import until

pytestmark = pytest.mark.kafka

ORDERS, SECRET = TopicPartition("orders", 0), TopicPartition("secret", 0)
RULES = {
    "mirror": ["DESCRIBE GROUP *", "DESCRIBE TOPIC *"],
    "in-part": [
        *("DESCRIBE GROUP billing", "DESCRIBE GROUP classic", "DESCRIBE GROUP modern"),
        *("DESCRIBE GROUP gone", "DESCRIBE TOPIC orders"),
    ],
    "no-one": [],
}
"""By user: the rights of `mirror-admin`, a part of them, and none."""
FAST = {
    "group.consumer.min.heartbeat.interval.ms": "100",
    "group.consumer.heartbeat.interval.ms": "200",
}
DEADLINE_S = 60


@pytest.fixture(scope="module")
def broker() -> Iterator[EmbeddedBroker]:
    """Groups that only commit, `billing` and `audit`; and members of both protocols, `classic` and `modern`."""
    with authorized_broker(RULES, **FAST) as started, closing(admin_of(started)) as admin:
        admin.create_topics([NewTopic(each.topic, 1, 1) for each in (ORDERS, SECRET)])
        rules = [rule(f"ALLOW User:{user} {line}") for user in RULES for line in RULES[user]]
        create_acls(started, rules)
        commit(admin, "billing", {ORDERS: 5, SECRET: 7})
        commit(admin, "audit", {ORDERS: 2})
        with (
            closing(member(started, "classic", "classic")),
            closing(member(started, "modern", "consumer")),
        ):
            yield started


def commit(admin: KafkaAdminClient, group: str, offsets: dict[TopicPartition, int]) -> None:
    changed = {each: OffsetAndMetadata(offset, "", -1) for each, offset in offsets.items()}

    def is_committed() -> bool:
        # Kafka makes its offsets topic when it is first asked for.
        try:
            return bool(
                admin.alter_group_offsets(group, changed) == dict.fromkeys(offsets, NoError)
            )
        except CoordinatorNotAvailableError:
            return False

    until(is_committed, seconds=DEADLINE_S, awaited="the commit")


def member(broker: EmbeddedBroker, group: str, protocol: str) -> Consumer:
    """Member of the administrator's, with both partitions."""
    consumer = Consumer(
        {
            "bootstrap.servers": broker.bootstrap_servers,
            "security.protocol": "SASL_PLAINTEXT",
            "sasl.mechanism": "PLAIN",
            "sasl.username": ADMIN,
            "sasl.password": PASSWORD,
            "group.id": group,
            "group.protocol": protocol,
        }
    )
    consumer.subscribe([ORDERS.topic, SECRET.topic])

    def has_both() -> bool:
        consumer.poll(0.1)
        return len(consumer.assignment()) == 2

    until(has_both, seconds=DEADLINE_S, awaited="its partitions")
    return consumer


def connection_of(broker: EmbeddedBroker, user: str) -> Connection:
    return Connection(broker.bootstrap_servers, login_of(user))


def polled(broker: EmbeddedBroker, user: str) -> dict[str, PolledGroup]:
    connection = connection_of(broker, user)
    [broker_id] = brokers(connection)
    return {each.group_id: each for each in polled_groups(connection, broker_id)}


def records(found: dict[str, PolledGroup]) -> dict[str, Records]:
    return {group: records_of(each) for group, each in found.items()}


def committed(group: PolledGroup) -> dict[str, Any]:
    return {topic["name"]: topic["partitions"][0]["committedOffset"] for topic in group.topics}


def test_describe_alone_shows_all_that_an_administrator_sees(broker: EmbeddedBroker) -> None:
    found = polled(broker, "mirror")

    assert {group: each.error for group, each in found.items()} == {
        "billing": "",
        "audit": "",
        "classic": "",
        "modern": "",
    }
    assert committed(found["billing"]) == {"orders": 5, "secret": 7}
    assert records(found) == records(polled(broker, ADMIN))


def test_groups_and_topics_without_the_right_are_left_out(broker: EmbeddedBroker) -> None:
    """A broker describes a group of KIP-848 only to those who may describe all topics of its members."""
    found = polled(broker, "in-part")

    assert {group: (each.error, committed(each)) for group, each in found.items()} == {
        "billing": ("", {"orders": 5}),
        "classic": ("", {}),
        "modern": ("TOPIC_AUTHORIZATION_FAILED", {}),
    }
    classic = found["classic"].description
    assert classic is not None
    assert (classic["groupState"], len(classic["members"])) == ("Stable", 1)
    assert polled(broker, "no-one") == {}


@pytest.mark.parametrize(
    ("user", "ended"), [("mirror", {"gone", "never"}), ("in-part", {"gone"}), ("no-one", set())]
)
def test_a_hidden_group_has_not_ended(broker: EmbeddedBroker, user: str, ended: set[str]) -> None:
    groups = ["audit", "billing", "classic", "gone", "modern", "never"]

    assert ended_groups(connection_of(broker, user), groups) == ended


@pytest.mark.parametrize(
    ("user", "hidden"), [("mirror", set()), ("in-part", {"never", "secret"}), (ADMIN, set())]
)
def test_a_topic_without_the_right_may_exist(
    broker: EmbeddedBroker, user: str, hidden: set[str]
) -> None:
    assert hidden_topics(connection_of(broker, user), ["never", "orders", "secret"]) == hidden
