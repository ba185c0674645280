"""Attacks of someone who has logged in and may do little."""

from __future__ import annotations

import time
from base64 import b64encode
from collections.abc import Callable
from contextlib import suppress
from struct import Struct
from typing import Any

from kafka import KafkaConsumer, TopicPartition
from kafka.record.default_records import DefaultRecordBatchBuilder

from group_coordinator.codecs import wire
from tests.attack.client import Client
from tests.attack.memory import Memory
from tests.attack.outcome import Outcome
from tests.attack.stage import (
    EVENTS,
    MISSING,
    ORDERS,
    OTHER_GROUP,
    OWN_GROUP,
    RESPONSES,
    SECRETS,
    Gateway,
    Stage,
)
from tests.end_to_end.secured_broker import ADMIN, CLIENT, LIMITED, STRANGER
from tests.gateway_faults.frames import read_frame

_OFFSET = 4711
_COMMITS = 200
_LOOKS_S, _MISSING_PARTITION = 5.0, 1_000
_MOST_LOOKS_A_SECOND = 1.0
_NO_TEXT_BYTES = 20_000
_ENTRIES, _GROUPS = 330_000, 16
_MOST_GROWTH_MB = 40.0
_LONGEST_LOOP_MS = 500.0
"""A broker's own share is in it; the loop of the gateway is what takes seconds."""
_COUNT = Struct(">i")
_REFUSED = "request refused"
_LONG_INTERVAL = {"gateway.metadata.interval.ms": "9000"}


def unknown_topic_ids(stage: Stage) -> Outcome:
    """Commit to, and fetch from, a topic that is younger than the gateway's last look, by its id and without a right."""
    codes: dict[str, int] = {}
    with (
        stage.gateway("topic-ids", _LONG_INTERVAL) as gateway,
        gateway.client_of(LIMITED) as client,
    ):
        topic_id = stage.create_topic(f"{SECRETS}-1")
        codes["OffsetCommit"] = _committed(client, topic_id)
    with (
        stage.gateway("topic-ids", _LONG_INTERVAL) as gateway,
        gateway.client_of(LIMITED) as client,
    ):
        topic_id = stage.create_topic(f"{SECRETS}-2")
        codes["OffsetFetch"] = _fetched(client, topic_id)
    problems = [f"{api}: the job was asked" for api, code in codes.items() if code == 0]
    sent = f"OffsetCommit 10 and OffsetFetch 10 for group {OWN_GROUP}, ids of topics created a moment ago"
    return Outcome(sent, ", ".join(f"{api}: code {code}" for api, code in codes.items()), problems)


def _committed(client: Client, topic_id: str) -> int:
    partitions = [{"partitionIndex": 0, "committedOffset": _OFFSET}]
    topics = [{"topicId": topic_id, "partitions": partitions}]
    body = {"groupId": OWN_GROUP, "generationIdOrMemberEpoch": -1, "memberId": "", "topics": topics}
    answer = client.ask("OffsetCommit", 10, body)
    code: int = answer["topics"][0]["partitions"][0]["errorCode"]
    return code


def _fetched(client: Client, topic_id: str) -> int:
    group = {"groupId": OWN_GROUP, "topics": [{"topicId": topic_id, "partitionIndexes": [0]}]}
    [found] = client.ask("OffsetFetch", 10, {"groups": [group]})["groups"]
    code: int = found["errorCode"] or found["topics"][0]["partitions"][0]["errorCode"]
    return code


def topics_of_the_job(stage: Stage) -> Outcome:
    """Write events and responses, and read both, by name and by id, as a user who may do so at the brokers."""
    with stage.at_broker(ADMIN) as admin:
        ids = {
            topic["name"]: topic["topicId"]
            for topic in admin.ask(
                "Metadata", 12, {"topics": [{"name": n} for n in (EVENTS, RESPONSES)]}
            )["topics"]
        }
    asks: dict[str, Callable[[Client], int]] = {
        f"Produce 9 to {EVENTS}": lambda client: _produced(client, 9, 1),
        f"Produce 9 to {EVENTS} without a response": lambda client: _produced(client, 9, 0),
        f"Fetch 11 of {RESPONSES}": lambda client: _read(client, 11, {"topic": RESPONSES}),
        f"Fetch 15 of {RESPONSES} by id": lambda client: _read(
            client, 15, {"topicId": ids[RESPONSES]}
        ),
        f"Fetch 15 of {EVENTS} by id": lambda client: _read(client, 15, {"topicId": ids[EVENTS]}),
    }
    with stage.gateway("job-topics") as gateway:
        before, codes = _end_of_events(stage), {}
        for what, ask in asks.items():
            user = ADMIN if "Fetch" in what and EVENTS in what else CLIENT
            with gateway.client_of(user) as client:
                codes[what] = _code_or_end(client, ask)
        written = _end_of_events(stage) - before
    problems = [f"{what}: done" for what, code in codes.items() if code == "0"]
    if written:
        problems.append(f"{written} forged events are in {EVENTS}")
    sent = f"{'; '.join(asks)} (users with these rights at the brokers)"
    return Outcome(sent, "; ".join(f"{what}: {code}" for what, code in codes.items()), problems)


def _code_or_end(client: Client, ask: Callable[[Client], int]) -> str:
    try:
        code = ask(client)
    except OSError:
        return "hung up"
    return "no response" if code < 0 else str(code)


def _produced(client: Client, version: int, acks: int) -> int:
    """Return the error code; -1: no response is wanted."""
    records = b64encode(_forged_batch()).decode()
    topics = [{"name": EVENTS, "partitionData": [{"index": 0, "records": records}]}]
    body = {"acks": acks, "timeoutMs": 5_000, "topicData": topics}
    if not acks:
        client.send(wire.request("Produce", version, 7, "someone", body))
        client.is_hung_up(0.5)
        return -1
    [topic] = client.ask("Produce", version, body)["responses"]
    code: int = topic["partitionResponses"][0]["errorCode"]
    return code


def _read(client: Client, version: int, topic: dict[str, Any]) -> int:
    partition = {"partition": 0, "fetchOffset": 0, "partitionMaxBytes": 1_000_000}
    topics = [{**topic, "partitions": [partition]}]
    answer = client.ask(
        "Fetch", version, {"maxWaitMs": 100, "maxBytes": 1_000_000, "topics": topics}
    )
    if answer["errorCode"]:
        return int(answer["errorCode"])
    code: int = answer["responses"][0]["partitions"][0]["errorCode"]
    return code


def _forged_batch() -> bytes:
    builder = DefaultRecordBatchBuilder(2, 0, 0, -1, -1, -1, 100_000)
    event = b'{"api":"DeleteGroups","version":2,"correlationId":null,"principal":"User:admin","body":{"groupId":"billing"}}'
    builder.append(0, None, b"billing", event, [])
    return bytes(builder.build())


def _end_of_events(stage: Stage) -> int:
    partition = TopicPartition(EVENTS, 0)
    options = {"bootstrap_servers": stage.broker.bootstrap_servers, **stage.login(ADMIN)}
    consumer = KafkaConsumer(**options)
    try:
        end: int = consumer.end_offsets([partition])[partition]
    finally:
        consumer.close()
    return end


def metadata_looks(stage: Stage) -> Outcome:
    """Commit for a topic that is not there, then for a partition that is not: how often are the brokers asked?"""
    with (
        stage.gateway("looks", _LONG_INTERVAL, watched=True) as gateway,
        gateway.client_of(LIMITED) as client,
    ):
        _asked_for_missing(client)
        before, begun_s = _looks(stage), time.monotonic()
        for _ in range(_COMMITS):
            _asked_for_missing(client)
        while time.monotonic() < begun_s + _LOOKS_S:
            _asked_for_missing(client, ORDERS, _MISSING_PARTITION)
        took_s, looks = time.monotonic() - begun_s, _looks(stage) - before
    most = 2 + _MOST_LOOKS_A_SECOND * took_s
    problems = [f"{looks} looks in {took_s:.1f} s"] if looks > most else []
    sent = (
        f"{_COMMITS} OffsetCommits, one after the other, for a topic that is not there, then others for a partition "
        f"that is not, for {_LOOKS_S:.0f} s"
    )
    return Outcome(
        sent, f"{looks} Metadata requests of the gateway at the broker in {took_s:.1f} s", problems
    )


def _asked_for_missing(client: Client, name: str = MISSING, partition: int = 0) -> None:
    partitions = [{"partitionIndex": partition, "committedOffset": 1}]
    topics = [{"name": name, "partitions": partitions}]
    body = {"groupId": OWN_GROUP, "generationIdOrMemberEpoch": -1, "memberId": "", "topics": topics}
    client.ask("OffsetCommit", 9, body)


def _looks(stage: Stage) -> int:
    return stage.relay.counts["Metadata", "group-coordinator-gateway"]


def oversized_group_requests(stage: Stage) -> Outcome:
    """Ask for the offsets of millions of topics at once, without a right on the group."""
    came, problems = [], []
    for groups in (1, _GROUPS):
        with (
            stage.gateway("oversized") as gateway,
            gateway.client_of(STRANGER) as client,
            gateway.client_of(LIMITED) as other,
            Memory(gateway) as memory,
        ):
            frame = _offset_fetch(groups, _ENTRIES)
            client.send(frame)
            wait_ms = _longest_wait_ms(other)
            is_hung_up = client.is_hung_up(1.0)
        end = "hung up" if is_hung_up else "connected"
        came.append(
            f"{len(frame)} bytes: {end}, {memory.growth_mb:.0f} MB more, others waited {wait_ms:.0f} ms"
        )
        if memory.growth_mb > _MOST_GROWTH_MB or wait_ms > _LONGEST_LOOP_MS:
            problems.append(came[-1])
    sent = f"OffsetFetch 8 of 1 and of {_GROUPS} groups with {_ENTRIES} topics each"
    return Outcome(sent, "; ".join(came), problems)


def _offset_fetch(groups: int, entries: int) -> bytes:
    """Make a request whose topics take three bytes each: an empty name, no partition, no tag."""
    group = {"groupId": "x", "topics": []}
    empty = wire.request("OffsetFetch", 8, 7, "someone", {"groups": [group]})
    # The last bytes: no topic, the tags of the group, requireStable, the tags of the request; before them the group's name.
    head, one, end = empty[4:-7], empty[-6:-4], empty[-2:]
    assert (empty[-7], one, empty[-4]) == (2, b"\x02x", 1), empty
    topics = _varint(entries + 1) + b"\x01\x01\x00" * entries + b"\x00"
    body = head + _varint(groups + 1) + (one + topics) * groups + end
    return _COUNT.pack(len(body)) + body


def _varint(number: int) -> bytes:
    found = bytearray()
    while number > 0x7F:
        found.append(number & 0x7F | 0x80)
        number >>= 7
    return bytes([*found, number])


def _longest_wait_ms(client: Client) -> float:
    longest_s, end_s = 0.0, time.monotonic() + 2.0
    while time.monotonic() < end_s:
        begun_s = time.monotonic()
        with suppress(OSError):  # it has waited for long, which is told
            client.ask("Metadata", 12, {"topics": [{"name": ORDERS}]})
        longest_s = max(longest_s, time.monotonic() - begun_s)
    return longest_s * 1000


def groups_that_are_no_text(stage: Stage) -> Outcome:
    """Ask about a group whose id is no UTF-8 and grows as a text."""
    with stage.gateway("no-text") as gateway:
        ends = [
            _end(gateway, api, version)
            for api, version in (("FindCoordinator", 3), ("Heartbeat", 3), ("DescribeGroups", 4))
        ]
        tracebacks = gateway.log.count("Traceback")
    problems = [f"{tracebacks} tracebacks in the gateway's log"] if tracebacks else []
    sent = f"FindCoordinator, Heartbeat and DescribeGroups with a group id of {_NO_TEXT_BYTES} bytes 0xff"
    return Outcome(sent, ", ".join(ends), problems)


def _end(gateway: Gateway, api: str, version: int) -> str:
    """Of a request whose group id is written over, at the same length, with bytes that are no text."""
    group_id = "g" * _NO_TEXT_BYTES
    bodies: dict[str, dict[str, Any]] = {
        "FindCoordinator": {"key": group_id, "keyType": 0},
        "Heartbeat": {"groupId": group_id, "generationId": 1, "memberId": "m"},
        "DescribeGroups": {"groups": [group_id]},
    }
    frame = wire.request(api, version, 7, "someone", bodies[api])
    with gateway.client_of(LIMITED) as client:
        client.send(frame.replace(group_id.encode(), b"\xff" * _NO_TEXT_BYTES))
        try:
            read_frame(client.socket)
        except OSError:
            return f"{api}: hung up"
    return f"{api}: a response"


def other_group_heartbeat(client: Client) -> int:
    """Return the error code of a heartbeat of no one in the other client's group."""
    body = {"groupId": OTHER_GROUP, "generationId": 1, "memberId": "m"}
    code: int = client.ask("Heartbeat", 4, body)["errorCode"]
    return code
