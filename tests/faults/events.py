"""The events that the faults hit: some of everything, and nothing that depends on when it is read.

Members have sessions of a day, and no first rebalance waits for more of them: no deadline comes while faults go on.
"""

from __future__ import annotations

import json
from collections.abc import Generator, Iterator
from dataclasses import replace
from pathlib import Path
from typing import NamedTuple

from kafka import KafkaProducer

from group_coordinator.clients.channel import Request
from group_coordinator.clients.member import classic
from group_coordinator.clients.offset_messages import MemberIdentity
from group_coordinator.runtime.event_handling import fresh_id

ACLS = ("acls.source=file", f"acls.file={Path(__file__).with_name('acls.json')}")
SETTINGS = (
    *ACLS,
    *("events.topic.partitions=2", "responses.topic.partitions=2", "shuffle.partitions=2"),
    *("compaction.interval.ms=500", "group.initial.rebalance.delay.ms=0"),
    "group.max.session.timeout.ms=86400000",
)
DAY_MS = 86_400_000
CLIENT = "client"
CLIENTS, INTRUDER = "User:test", "User:mallory"
"""The first is a super user, the second may commit for a group of its own and one topic."""
SIMPLE_GROUPS, TEAMS, PRODUCERS = 16, 6, 3
ROUNDS = 12


class BadEvent(NamedTuple):
    """A record that is no event."""

    key: bytes | None
    value: bytes | None


class Intrusion(NamedTuple):
    """A request of somebody who may not do everything."""

    request: Request


Told = Request | BadEvent | Intrusion
Story = Generator[Told, str, None]
"""What one client sends, event by event; it is told each event's id."""


def commit(identity: MemberIdentity, offset: int, partition: int = 0) -> Request:
    entry = {"partitionIndex": partition, "committedOffset": offset}
    topics = [{"name": "orders", "partitions": [entry]}]
    body = {"groupId": identity.group_id, **identity.commit_fields(), "topics": topics}
    return Request("OffsetCommit", 8, identity.group_id, body)


def simple_group(name: str) -> Story:
    """Commits, and now and then something is deleted."""
    for number in range(ROUNDS):
        yield commit(MemberIdentity(name), number, number % 3)
        if number % 5 == 2:
            partitions = [{"partitionIndex": 1}]
            topics = [{"name": "orders", "partitions": partitions}]
            yield Request("OffsetDelete", 0, name, {"groupId": name, "topics": topics})
        if number % 5 == 4:
            yield Request("DeleteGroups", 2, name, {"groupsNames": [name]})


def team(name: str) -> Story:
    """Two members come, work and leave; then two others. The last ones stay."""
    members = yield from _shift(name, 1)
    for turn in range(1, ROUNDS // 4):
        for member in members:
            yield classic.leave_group(member, "done")
        members = yield from _shift(name, 3 * turn + 1)


def _shift(name: str, generation: int) -> Generator[Told, str, list[MemberIdentity]]:
    """The first member works alone in one generation, both of them do in the next one."""
    first = yield from _joined(name, generation)
    yield _synced(first, [first])
    yield commit(first, generation)
    second = yield from _joined(name, generation + 1)
    yield classic.heartbeat(first)  # REBALANCE_IN_PROGRESS
    yield _join(first)
    first = replace(first, generation_id=generation + 1)
    yield _synced(second, [])
    yield _synced(first, [first, second])
    yield commit(second, generation, 1)
    return [first, second]


def _joined(group: str, generation: int) -> Generator[Told, str, MemberIdentity]:
    """First the coordinator gives an id, then the member joins with it."""
    event_id = yield _join(MemberIdentity(group))
    member = MemberIdentity(group, f"{CLIENT}-{fresh_id(event_id)}", generation)
    yield _join(member)
    return member


def _join(member: MemberIdentity) -> Request:
    return classic.join_group(member, ["orders"], DAY_MS, DAY_MS)


def _synced(member: MemberIdentity, assigned: list[MemberIdentity]) -> Request:
    decision = {one.member_id: f"of {one.member_id}".encode() for one in assigned}
    return classic.sync_group(member, decision)


def producer_of(group: str) -> Story:
    """Transactional commits: some end, one stays open."""
    for number in range(ROUNDS):
        partitions = [{"partitionIndex": number % 3, "committedOffset": number}]
        topics = [{"name": "orders", "partitions": partitions}]
        ids = {"groupId": group, "producerId": 17, "producerEpoch": 0}
        commits = {**ids, "transactionalId": "t", "topics": topics}
        yield Request("TxnOffsetCommit", 3, group, commits)
        if number % 4 == 1:
            yield Request("EndTxn", 0, group, {**ids, "committed": number % 8 == 1})


def bad_client() -> Story:
    """Everything that becomes a dead letter, or a refusal."""
    for number in range(ROUNDS):
        yield BadEvent(b"bad", b"{no json")
        yield BadEvent(None, b"{}")
        yield BadEvent(b"\xff\xfe", b"not a text for a key")
        yield BadEvent(b"simple-0", None)
        yield Request("OffsetCommit", 99, "simple-1", {"groupId": "simple-1"})
        yield Request("Heartbeat", 4, "simple-2", {"groupId": f"not-{number}"})


def intruder() -> Story:
    """Commits for a group of its own, and is denied one of two topics; tries others' groups, and is denied all."""
    for number in range(ROUNDS):
        entries = [{"partitionIndex": number % 3, "committedOffset": number}]
        topics = [{"name": name, "partitions": entries} for name in ("orders", "payments")]
        body = {"groupId": "mallorys", **MemberIdentity("mallorys").commit_fields()}
        yield Intrusion(Request("OffsetCommit", 8, "mallorys", {**body, "topics": topics}))
        yield Intrusion(commit(MemberIdentity("simple-3"), 100 + number))
        yield Intrusion(Request("DeleteGroups", 2, "simple-3", {"groupsNames": ["simple-3"]}))


def stories() -> list[Story]:
    return [
        *(simple_group(f"simple-{number}") for number in range(SIMPLE_GROUPS)),
        *(team(f"team-{number}") for number in range(TEAMS)),
        *(producer_of(f"producer-{number}") for number in range(PRODUCERS)),
        bad_client(),
        intruder(),
    ]


def write(producer: KafkaProducer, topic: str) -> int:
    """Tell all stories in turns, an event at a time; how many events there were."""
    told = [(story, next(story)) for story in stories()]
    sent = 0
    while told:
        going_on = []
        for story, event in told:
            event_id = _send(producer, topic, event, f"c-{sent}")
            sent += 1
            going_on += [(story, after) for after in _after(story, event_id)]
        told = going_on
    return sent


def _after(story: Story, event_id: str) -> Iterator[Told]:
    try:
        yield story.send(event_id)
    except StopIteration:
        return


def _send(producer: KafkaProducer, topic: str, event: Told, correlation_id: str) -> str:
    match event:
        case Request():
            key, value = event.group_id.encode(), as_json(event, correlation_id)
        case Intrusion(request):
            key, value = request.group_id.encode(), as_json(request, correlation_id, INTRUDER)
        case BadEvent(key, value):
            pass
    at = producer.send(topic, key=key, value=value).get(30)
    return f"{topic}-{at.partition}-{at.offset}"


def as_json(request: Request, correlation_id: str | None, principal: str = CLIENTS) -> bytes:
    """The event; without correlation id nobody waits for its response."""
    return json.dumps(
        {
            "api": request.api,
            "version": request.version,
            "correlationId": correlation_id,
            "clientId": CLIENT,
            "clientHost": "/127.0.0.1",
            "principal": principal,
            "body": request.body,
        }
    ).encode()
