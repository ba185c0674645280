"""Polls of a cluster in a row: which groups changed, which ended, and which are unknown for now."""

from __future__ import annotations

import time
from collections.abc import Iterable
from typing import Any

import pytest

from group_coordinator.clients.errors import BrokerUnreachableError
from group_coordinator.mirror.admin_source import ObservedGroups, packed
from group_coordinator.mirror.observed_records import RecordChange, Records

KEY = '{"type":1,"data":{"group":"%s","topic":"orders","partition":0}}'
GROUP = '{"type":2,"data":{"group":"%s"}}'


def value(offset: int) -> str:
    return f'{{"version":4,"data":{{"offset":{offset},"leaderEpoch":-1,"metadata":"","commitTimestamp":0}}}}'


def row(group: str, records: Records, *, error: str = "") -> dict[str, Any]:
    content = b"" if error else packed(records)
    return {
        "group_id": group,
        "polled_at_ms": 1_000,
        "error": error,
        "settled": True,
        "records": content,
    }


def at(group: str, offset: int) -> dict[str, Any]:
    return row(group, {KEY % group: value(offset)})


def no_topics(_lost: object) -> list[str]:
    return []


BROKER_AWAY = {
    "group_id": None,
    "polled_at_ms": 1_000,
    "error": "Kafka at b:9092: no Kafka broker responds",
    "settled": False,
    "records": b"",
}


def keys(known: ObservedGroups, polled: Iterable[dict[str, Any]]) -> list[tuple[str, str, bool]]:
    """Group, key, and whether it has a value, of each change."""
    return [
        (group, change.key, change.value is not None)
        for group, _, found in known.changed(polled)
        for change in found
    ]


def test_a_poll_without_a_change_has_no_rows() -> None:
    known = ObservedGroups({}, list, no_topics)

    assert keys(known, [at("a", 5), at("b", 1)]) == [("a", KEY % "a", True), ("b", KEY % "b", True)]
    assert keys(known, [at("b", 1), at("a", 5)]) == []
    assert list(known.changed([at("b", 2), at("a", 5)])) == [
        ("b", 1_000, [RecordChange(KEY % "b", value(2))])
    ]


def test_a_missing_group_ends_once_its_coordinator_says_so(
    caplog: pytest.LogCaptureFixture,
) -> None:
    """It may be on its way from a broker to another."""
    ended: set[str] = set()
    known = ObservedGroups({"a": packed({KEY % "a": value(5)})}, ended.intersection, no_topics)

    assert keys(known, []) == []
    assert keys(known, [at("b", 1)]) == [("b", KEY % "b", True)]
    ended.add("a")
    assert keys(known, [at("b", 1)]) == [("a", KEY % "a", False), ("a", GROUP % "a", False)]
    assert keys(known, [at("b", 1)]) == []
    assert caplog.messages == [
        (
            "group a cannot be polled, and stays as it is: no broker lists it or says that it ended: its coordinator is away, "
            "or the user lacks the ACL DESCRIBE on it"
        )
    ]


def test_the_last_group_ends_at_the_time_of_the_poll() -> None:
    known = ObservedGroups({"a": packed({KEY % "a": value(5)})}, list, no_topics)
    before_ms = time.time_ns() // 1_000_000

    [(group, time_ms, _)] = known.changed([])

    assert (group, time_ms >= before_ms) == ("a", True)


def test_a_missing_group_stays_while_the_brokers_cannot_be_asked(
    caplog: pytest.LogCaptureFixture,
) -> None:
    def away(_missing: object) -> list[str]:
        raise BrokerUnreachableError("no Kafka broker responds")

    known = ObservedGroups({"a": packed({KEY % "a": value(5)})}, away, no_topics)

    assert keys(known, []) == []
    assert caplog.messages == [
        "group a cannot be polled, and stays as it is: no Kafka broker responds"
    ]


def test_a_group_that_its_broker_calls_ended_ends_at_once() -> None:
    known = ObservedGroups({"a": packed({KEY % "a": value(5)})}, list, no_topics)

    assert keys(known, [row("a", {})]) == [("a", KEY % "a", False), ("a", GROUP % "a", False)]
    assert known.groups == {}


def test_no_group_ends_while_a_broker_is_away(caplog: pytest.LogCaptureFixture) -> None:
    known = ObservedGroups({"a": packed({KEY % "a": value(5)})}, list, no_topics)

    assert keys(known, [BROKER_AWAY, at("b", 1)]) == [("b", KEY % "b", True)]
    assert keys(known, [BROKER_AWAY, at("b", 1)]) == []
    assert keys(known, [at("b", 1), at("a", 5)]) == []
    assert caplog.messages == [
        "a broker cannot be polled, and stays as it is: Kafka at b:9092: no Kafka broker responds"
    ]


def test_a_group_with_an_error_stays_as_it_is(caplog: pytest.LogCaptureFixture) -> None:
    known = ObservedGroups({"a": packed({KEY % "a": value(5)})}, list, no_topics)
    denied = row("a", {}, error="GROUP_AUTHORIZATION_FAILED")

    assert keys(known, [denied]) == []
    assert keys(known, [denied]) == []
    assert caplog.messages == [
        "group a cannot be polled, and stays as it is: GROUP_AUTHORIZATION_FAILED"
    ]


def test_offsets_stay_while_the_user_may_not_describe_their_topic(
    caplog: pytest.LogCaptureFixture,
) -> None:
    """A broker leaves them out, as if they were removed; a group that only commits would have nothing left."""
    payments = KEY.replace("orders", "payments")
    before = {
        "a": packed({KEY % "a": value(5), payments % "a": value(6)}),
        "b": packed({KEY % "b": value(1)}),
    }
    hidden = {"orders"}
    known = ObservedGroups(dict(before), list, hidden.intersection)
    without_orders = [row("a", {payments % "a": value(7)}), row("b", {})]

    assert keys(known, without_orders) == [("a", payments % "a", True)]
    assert keys(known, without_orders) == []
    hidden.clear()
    assert keys(known, [row("a", {payments % "a": value(7)}), at("b", 1)]) == [
        ("a", KEY % "a", False)
    ]
    assert caplog.messages == [
        "topic orders cannot be polled, and stays as it is: TOPIC_AUTHORIZATION_FAILED: the user lacks the ACL DESCRIBE on the topic"
    ]


def test_no_offset_ends_while_the_topics_cannot_be_asked_for(
    caplog: pytest.LogCaptureFixture,
) -> None:
    def away(_lost: object) -> list[str]:
        raise BrokerUnreachableError("no Kafka broker responds")

    payments = KEY.replace("orders", "payments")
    before = {KEY % "a": value(5), payments % "a": value(6)}
    known = ObservedGroups({"a": packed(before)}, list, away)

    assert keys(known, [row("a", {})]) == []
    assert known.groups == {"a": packed(before)}
    assert caplog.messages == [
        "topic orders and 1 more cannot be polled, and stay as they are: no Kafka broker responds"
    ]
