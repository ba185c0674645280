"""Rules of who may do what, in calls of the operator: what is refused, what is told of it, and what it leaves alone."""

from __future__ import annotations

from dataclasses import replace

from group_coordinator.core.acls import THE_JOB
from group_coordinator.runtime.update_group import UpdateContext
from tests.support.acls import authorizer
from tests.unit.runtime.group_updates import (
    COMMIT,
    CONTEXT,
    DELETE,
    Json,
    call,
    committed,
    group_of,
    lines,
    row,
    tags,
)
from tests.unit.runtime.test_topic_needs import ORDERS, heartbeat, topics


def under(*rules: str, super_users: tuple[str, ...] = ("User:admin",)) -> UpdateContext:
    return replace(CONTEXT, acls=authorizer(*rules, super_users=super_users))


def commit_to(*names: str) -> Json:
    partitions = [{"partitionIndex": 0, "committedOffset": 1}]
    topics = [{"name": name, "partitions": partitions} for name in names]
    return COMMIT | {"body": {"groupId": "g", "topics": topics}}


def denial(api: str, operation: str, kind: str, name: str, **changes: object) -> Json:
    usual = {
        "group_id": "g",
        "source_partition": 3,
        "source_offset": 7,
        "api": api,
        "principal": "User:billing",
        "client_host": "/127.0.0.1",
        "operation": operation,
        "resource_type": kind,
        "resource_name": name,
        "event_time_ms": 2_000,
    }
    return usual | changes


def test_a_denied_request_is_answered_and_told_and_nothing_is_written() -> None:
    before = committed()

    update = call(row(COMMIT, 2_000, 7), at_ms=2_000, state=before.state, context=under())

    (_, answer), (tag, told) = lines(update)
    assert answer["body"]["topics"][0]["partitions"] == [{"partitionIndex": 0, "errorCode": 30}]
    assert (answer["id"], answer["at"]) == ("group-events-3-7", 2_000)
    assert (tag, told) == ("A", denial("OffsetCommit", "READ", "GROUP", "g"))
    assert update.state == before.state


def test_a_denied_topic_is_told_beside_what_is_done() -> None:
    context = under("ALLOW User:billing READ GROUP g", "ALLOW User:billing READ TOPIC orders")
    update = call(row(commit_to("orders", "secret"), 2_000, 7), at_ms=2_000, context=context)

    assert tags(update) == "LRA"
    assert lines(update)[-1] == ("A", denial("OffsetCommit", "READ", "TOPIC", "secret"))


def test_who_says_no_principal_is_anonymous_at_its_address() -> None:
    rule = "ALLOW User:ANONYMOUS DELETE GROUP g FROM 10.0.0.7"
    asked = DELETE | {"correlationId": "c", "clientHost": "/10.0.0.7"}

    allowed = call(row(asked, 2_000), at_ms=2_000, context=under(rule))
    elsewhere = asked | {"clientHost": "/10.0.0.8"}
    denied = call(row(elsewhere, 2_000, 7), at_ms=2_000, context=under(rule))

    assert tags(allowed) == "R"
    who = {"principal": "User:ANONYMOUS", "client_host": "/10.0.0.8"}
    assert lines(denied)[-1] == ("A", denial("DeleteGroups", "DELETE", "GROUP", "g", **who))


def test_topics_are_learned_from_those_who_may_act_as_brokers() -> None:
    strangers = topics(ORDERS) | {"principal": "User:billing"}
    refused = call(row(strangers, 2_000, 7), at_ms=2_000, context=under())
    told = topics(ORDERS) | {"principal": "User:admin"}
    learned = call(row(told, 2_000, 7), at_ms=2_000, context=under())

    cluster = denial("TopicMetadata", "CLUSTER_ACTION", "CLUSTER", "kafka-cluster")
    assert lines(refused) == [("A", cluster)]
    assert refused.state is None
    assert tags(learned) == ""
    assert (group_of(learned).topics or {}).keys() == {"orders"}


def test_the_job_may_tell_of_topics_and_nothing_else() -> None:
    told = call(row(topics(ORDERS) | {"principal": THE_JOB}, 2_000), at_ms=2_000, context=under())
    pretended = call(row(COMMIT | {"principal": THE_JOB}, 2_000), at_ms=2_000, context=under())
    without_rules = call(row(COMMIT | {"principal": THE_JOB}, 2_000), at_ms=2_000)

    assert (group_of(told).topics or {}).keys() == {"orders"}
    assert tags(pretended) == "RA"
    assert lines(without_rules)[0][1]["principal"] == THE_JOB


def test_of_very_many_denials_of_an_event_the_first_are_told() -> None:
    names = [f"topic-{number}" for number in range(101)]
    context = under("ALLOW User:billing READ GROUP g")

    update = call(row(commit_to(*names), 2_000), at_ms=2_000, context=context)

    told = [line["resource_name"] for tag, line in lines(update) if tag == "A"]
    assert told == names[:100]


def test_a_denied_heartbeat_makes_nobody_look_for_topics() -> None:
    asking = replace(under(), asks_for_topics=True)

    update = call(
        row(heartbeat(0, subscribedTopicNames=["orders"]), 2_000, 7), at_ms=2_000, context=asking
    )

    assert tags(update) == "RA"
    assert update.state is None
