"""A consumer group made anew from its log goes on where it was, with new sessions, once it knows its topics again."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Any

from msgspec import to_builtins

from group_coordinator.codecs import snapshots
from group_coordinator.codecs.records import log_entry
from group_coordinator.core.model import requests
from group_coordinator.core.model.consumer_group import ConsumerGroup
from group_coordinator.core.model.group import Group
from group_coordinator.core.model.timers import Timer, TimerKey, TimerKind, session_timer
from group_coordinator.runtime.group_call import (
    OperatorInput,
    OperatorResult,
    StoredState,
    call_group,
)
from group_coordinator.runtime.outputs import EVENT, HEADER, pack_seed
from group_coordinator.runtime.update_group import UpdateContext
from group_coordinator.streaming.rebuild.rebuilt_groups import LoggedRecord, rebuilt_group
from group_coordinator.testing import GroupDriver
from tests.support.group_updates import lines_of
from tests.unit.core.consumer_groups import BILLS, ORD, ORDERS, cluster
from tests.unit.runtime.group_updates import CONTEXT

LOST_MS, LOADED_MS = 20_000, 3_600_000
SESSION_MS, PATIENCE_MS = 50_000, 60_000
ASKING = replace(CONTEXT, asks_for_topics=True)
SILENT = CONTEXT
JOINING = {"subscribedTopicNames": ["bills"], "rebalanceTimeoutMs": 1, "topicPartitions": []}
Json = dict[str, Any]


def before() -> GroupDriver:
    """Static m1 has to give orders-2 back to m2, which subscribes by a pattern; the group has a setting of its own."""
    driver = cluster()
    change = requests.ConfigChange("consumer.session.timeout.ms", 0, str(SESSION_MS))
    driver.send(requests.AlterConfigs("g", (change,), False), 1)
    driver.consumers.join("m1", ["orders"], instance_id="i")
    driver.sleep(1_000)
    driver.consumers.join("m2", topic_regex="o.*")
    driver.sleep(1_000)
    driver.consumers.beat("m1", {ORD: [0, 1, 2]})
    driver.consumers.beat("m2", {})
    driver.at(LOST_MS)
    return driver


def rebuilt(driver: GroupDriver) -> Group:
    """From nothing but what the table holds."""
    entries = [log_entry.encode("g", record, driver.group.topics) for record in driver.log]
    log = [
        LoggedRecord(
            json.dumps(to_builtins(entry.key)),
            None if entry.value is None else json.dumps(to_builtins(entry.value)),
            LOST_MS,
        )
        for entry in entries
    ]
    group = rebuilt_group("g", log)
    assert group is not None
    return group


def event(api: str, version: int = 1, **body: Any) -> bytes:
    content: Json = {"api": api, "version": version, "correlationId": "c"}
    value = json.dumps(content | {"body": {"groupId": "g"} | body}).encode()
    return HEADER.pack(0, 0, LOADED_MS, EVENT, len(value)) + value


def beat(member_id: str, epoch: int, **body: Any) -> bytes:
    return event("ConsumerGroupHeartbeat", memberId=member_id, memberEpoch=epoch, **body)


def owned(*partitions: int) -> Json:
    return {"topicPartitions": [{"topicId": ORD, "partitions": list(partitions)}]}


TOPICS = event(
    "TopicMetadata",
    0,
    topics=[
        {"name": t.name, "topicId": t.topic_id, "numPartitions": t.num_partitions}
        for t in (ORDERS, BILLS)
    ],
)


def loaded(*events: bytes, context: UpdateContext = ASKING) -> OperatorResult:
    """The first call after the rebuild."""
    seed = pack_seed(snapshots.dump(rebuilt(before())))
    return call_group(
        OperatorInput("g", None, [seed, *events], LOADED_MS, has_timed_out=False), context
    )


def after(result: OperatorResult, *events: bytes) -> OperatorResult:
    call = OperatorInput("g", result.state, list(events), LOADED_MS, has_timed_out=False)
    return call_group(call, ASKING)


def lines(result: OperatorResult, tag: str) -> list[Json]:
    return [json.loads(line[1:]) for line in lines_of(result) if line[0] == tag]


def group_in(state: StoredState | None) -> Group:
    assert state is not None
    return snapshots.load("g", state.snapshot)


def membership_of(group: Group) -> ConsumerGroup:
    assert group.consumer is not None
    return group.consumer


def test_what_the_log_says_is_as_before() -> None:
    driver = before()

    group = rebuilt(driver)

    was, now = membership_of(driver.group), membership_of(group)
    assert (now.epoch, now.assignment_epoch, now.state) == (3, 3, was.state)
    assert (now.members, now.targets, now.regexes) == (was.members, was.targets, was.regexes)
    assert (now.owners, now.static_members) == (was.owners, was.static_members)
    assert (now.metadata_hash, group.configs) == (was.metadata_hash, driver.group.configs)
    assert (group.topics, group.clock_ms) == (None, LOST_MS)


def test_sessions_and_the_time_to_give_partitions_back_begin_anew() -> None:
    membership = membership_of(group_in(loaded().state))

    assert membership.timers == {
        session_timer("m1"): Timer(LOADED_MS + SESSION_MS, LOADED_MS),
        TimerKey(TimerKind.REBALANCE, "m1"): Timer(LOADED_MS + PATIENCE_MS, LOADED_MS),
        session_timer("m2"): Timer(LOADED_MS + SESSION_MS, LOADED_MS),
    }
    assert membership.rebalance_epochs == {"m1": membership.members["m1"].epoch}


def test_it_asks_for_its_topics_and_takes_nothing_from_anybody_before_it_knows_them() -> None:
    asked = loaded(beat("m1", 2, instanceId="i"), beat("m2", -1), beat("m3", 0, **JOINING))

    assert [line["names"] + line["regexes"] for line in lines(asked, "T")] == [["orders", "o.*"]]
    assert [line["body"]["errorCode"] for line in lines(asked, "R")] == [14, 14, 14]
    assert lines(asked, "L") == []


def test_it_waits_too_where_others_tell_it_of_topics() -> None:
    asked = loaded(beat("m1", 2, instanceId="i"), context=SILENT)

    assert [line["body"]["errorCode"] for line in lines(asked, "R")] == [14]
    assert lines(asked, "T") == []


def test_once_told_it_goes_on_without_a_new_epoch() -> None:
    told = after(loaded(), TOPICS)
    kept = membership_of(group_in(told.state)).members["m1"].current
    has = [number for number in (0, 1, 2) if number in kept.assigned[ORD]]

    result = after(told, beat("m1", 2, instanceId="i", **owned(*has)), beat("m2", 3, **owned()))

    answers = [line["body"] for line in lines(result, "R")]
    assert [(answer["errorCode"], answer["memberEpoch"]) for answer in answers] == [(0, 3), (0, 3)]
    assert answers[1]["assignment"] == owned(*({0, 1, 2} - set(has)))
    assert {line["record_type"] for line in lines(result, "L")} == {8, 16}
    assert membership_of(group_in(result.state)).epoch == 3


def test_topics_that_come_later_are_new_to_its_patterns() -> None:
    """They count on from the version with which the log's patterns were resolved."""
    group = group_in(after(loaded(), TOPICS).state)
    resolved = membership_of(group).regexes["o.*"]

    assert resolved.version < group.new_topics_version == group.topics_version
