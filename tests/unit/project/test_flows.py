"""Six flows, and the files of the library that each passes. A limit may only be lowered."""

from __future__ import annotations

import asyncio
import json
import sys
from collections.abc import Iterable, Mapping
from concurrent.futures import Future
from functools import partial
from pathlib import Path
from types import FrameType, SimpleNamespace
from typing import Any, Self

import pytest
from click.testing import CliRunner
from kafka import TopicPartition

import group_coordinator
from group_coordinator.cli import groups
from group_coordinator.cli.groups import output
from group_coordinator.clients import AdminClient, Connection
from group_coordinator.clients.channel import Body, Request
from group_coordinator.codecs import wire
from group_coordinator.codecs.offsets_topic import encode_entry
from group_coordinator.codecs.records.record_types import Key, LogEntry, RecordValue
from group_coordinator.gateway.cluster.addresses import Address
from group_coordinator.gateway.cluster.broker_access import BrokerAccess
from group_coordinator.gateway.cluster.cluster_view import ClusterView
from group_coordinator.gateway.gateway import Gateway, GatewayOptions
from group_coordinator.gateway.groups.group_apis import groups_by_job
from group_coordinator.gateway.job.events_out import EventsOut, OutgoingEvent, WaitingEvents
from group_coordinator.gateway.job.job_channel import RecordsIn
from group_coordinator.mirror.arrow_decoder import decode_batch
from group_coordinator.runtime.group_call import (
    GroupCache,
    OperatorInput,
    OperatorResult,
    StoredState,
    call_group,
)
from group_coordinator.runtime.outputs import EVENT, HEADER, ResponseRow
from group_coordinator.settings import load
from tests.support.group_updates import update_context
from tests.support.message_batches import batch_of
from tests.unit.cli.groups.brokers_in_process import BrokersInProcess

LIB = str(Path(group_coordinator.__file__).parent)
LIMITS = {
    "commit": 24,
    "timer": 22,
    "heartbeat": 38,
    "mirror decode": 2,
    "describe": 18,
    "gateway join": 22,
}
"""Files that a flow passes at most. The aims are 24, 22, 38, 5, 16 and 20."""
JOIN = {
    "groupId": "g",
    "sessionTimeoutMs": 10_000,
    "rebalanceTimeoutMs": 60_000,
    "memberId": "",
    "protocolType": "consumer",
    "protocols": [{"name": "range", "metadata": "AAEAAAABAAZvcmRlcnP/////AAAAAA=="}],
}
ORDERS_ID = "AAAAAAAAAAAAAAAAAAAAAQ"
MEMBERS = ("AAAAAAAAAAAAAAAAAAAAAg", "AAAAAAAAAAAAAAAAAAAAAw")


class Passed:
    """Files whose functions are called while the block runs."""

    def __init__(self) -> None:
        self.files: set[str] = set()

    def __enter__(self) -> Self:
        sys.setprofile(self._note)
        return self

    def __exit__(self, *_: object) -> None:
        sys.setprofile(None)

    def _note(self, frame: FrameType, event: str, _: object) -> None:
        name, file = frame.f_code.co_name, frame.f_code.co_filename
        # Comprehensions, lambdas and the import of a module are no steps of a flow.
        if event == "call" and file.startswith(LIB) and not name.startswith("<"):
            self.files.add(file.removeprefix(f"{LIB}/"))

    def check(self, flow: str) -> None:
        assert len(self.files) <= LIMITS[flow], "\n".join(sorted(self.files))


class GroupCalls:
    """Calls of the operator for a group, each from the state of the one before."""

    def __init__(self, **context: bool) -> None:
        self._context = update_context(timer_slack_ms=5_000, **context)
        self._known = GroupCache()
        self._stored: StoredState | None = None
        self._offset = 0

    def event(self, api: str, version: int, at_ms: int, **body: object) -> OperatorResult:
        principal = "Job:group-coordinator" if api == "TopicMetadata" else None
        content = {
            "api": api,
            "version": version,
            "correlationId": "c",
            "clientId": "billing",
            "clientHost": "/10.0.0.7",
            "principal": principal,
            "body": {"groupId": "g"} | body,
        }
        value = json.dumps(content).encode()
        self._offset += 1
        packed = HEADER.pack(0, self._offset, at_ms, EVENT, len(value)) + value
        return self._call([packed], at_ms, has_timed_out=False)

    def timer(self, at_ms: int) -> OperatorResult:
        return self._call([], at_ms, has_timed_out=True)

    def _call(self, packed: Iterable[bytes], at_ms: int, *, has_timed_out: bool) -> OperatorResult:
        given = OperatorInput("g", self._stored, packed, at_ms, has_timed_out)
        result = call_group(given, self._context, self._known)
        outputs = [output for piece in result.pieces for output in piece.outputs]
        if result.write:
            self._stored = result.state
        return result._replace(pieces=outputs)

    def commit(self) -> OperatorResult:
        partition = {"partitionIndex": 0, "committedOffset": 42}
        topics = [{"name": "orders", "partitions": [partition]}]
        return self.event("OffsetCommit", 8, 1_000, topics=topics)

    def join(self, member_id: str) -> OperatorResult:
        return self.event("JoinGroup", 9, 2_000, **JOIN | {"memberId": member_id})

    def heartbeat(self, member_id: str, at_ms: int) -> OperatorResult:
        return self.event(
            "ConsumerGroupHeartbeat",
            1,
            at_ms,
            memberId=member_id,
            memberEpoch=0,
            rebalanceTimeoutMs=60_000,
            subscribedTopicNames=["orders"],
            topicPartitions=[],
        )


def test_a_commit() -> None:
    calls = GroupCalls()
    calls.commit()

    with Passed() as passed:
        result = calls.commit()

    assert len(list(result.pieces)) == 2
    passed.check("commit")


def test_a_session_timer_of_a_classic_member() -> None:
    calls = GroupCalls()
    calls.commit()
    [answer] = [one for one in calls.join("").pieces if isinstance(one, ResponseRow)]
    calls.join(json.loads(answer.value)["body"]["memberId"])
    calls.timer(11_000)

    with Passed() as passed:
        result = calls.timer(72_000)

    assert list(result.pieces)
    passed.check("timer")


def test_a_heartbeat_that_changes_the_target_assignment() -> None:
    calls = GroupCalls(asks_for_topics=True, follows_markers=True)
    topic = {"name": "orders", "topicId": ORDERS_ID, "numPartitions": 4}
    calls.event("TopicMetadata", 0, 1_000, topics=[topic], deletedTopics=[], complete=False)
    calls.heartbeat(MEMBERS[0], 2_000)

    with Passed() as passed:
        result = calls.heartbeat(MEMBERS[1], 3_000)

    assert len(list(result.pieces)) > 4
    passed.check("heartbeat")


def test_the_decoding_of_mirrored_commits() -> None:
    key = Key(1, {"group": "g", "topic": "orders", "partition": 0})
    says = {"offset": 5, "leaderEpoch": -1, "metadata": "", "commitTimestamp": 1_000}
    message = encode_entry(LogEntry(key, RecordValue(version=3, data=says)))
    batch = batch_of([message] * 2_000)
    decode_batch(batch, {})

    with Passed() as passed:
        decoded = decode_batch(batch, {})

    assert decoded.num_rows == 2_000
    passed.check("mirror decode")


BODIES: Mapping[str, Body] = {
    "ConsumerGroupDescribe": {"groups": [{"errorCode": 69, "errorMessage": "no", "groupId": "g"}]},
    "DescribeGroups": {
        "groups": [
            {
                "errorCode": 0,
                "errorMessage": None,
                "groupId": "g",
                "groupState": "Stable",
                "protocolType": "consumer",
                "protocolData": "range",
                "members": [
                    {
                        "memberId": "m",
                        "groupInstanceId": None,
                        "clientId": "billing",
                        "clientHost": "/10.0.0.7",
                        "memberMetadata": "",
                        "memberAssignment": "AAAAAAABAAZvcmRlcnMAAAABAAAAAP////8=",
                    }
                ],
                "authorizedOperations": -(2**31),
            }
        ]
    },
    "OffsetFetch": {
        "groups": [
            {
                "groupId": "g",
                "topics": [
                    {
                        "name": "orders",
                        "partitions": [
                            {
                                "partitionIndex": 0,
                                "committedOffset": 5,
                                "committedLeaderEpoch": -1,
                                "metadata": "",
                                "errorCode": 0,
                            }
                        ],
                    }
                ],
                "errorCode": 0,
            }
        ]
    },
}


class AnsweredAtOnce:
    """A channel with the responses of BODIES."""

    def send(self, request: Request, *, timeout_ms: int | None = None) -> Future[Body]:  # noqa: ARG002
        future: Future[Body] = Future()
        future.set_result(BODIES[request.api])
        return future


def test_the_description_of_a_group(monkeypatch: pytest.MonkeyPatch) -> None:
    brokers = BrokersInProcess({TopicPartition("orders", 0): (0, 9)})
    monkeypatch.setattr(output, "Cluster", lambda _: brokers)
    monkeypatch.setattr(groups, "AdminClient", partial(AdminClient, channel=AnsweredAtOnce()))
    describe = ["--describe", "--group", "g", "--bootstrap-server", "localhost:1"]
    CliRunner().invoke(groups.command, describe, catch_exceptions=False)

    with Passed() as passed:
        result = CliRunner().invoke(groups.command, describe, catch_exceptions=False)

    assert "orders" in result.stdout
    passed.check("describe")


class Socket:
    """Both the transport of a client's connection and its socket."""

    def __init__(self) -> None:
        self.sent = b""

    def get_extra_info(self, name: str, default: Any = None) -> Any:
        return {"socket": self, "peername": ("10.0.0.7", 5)}.get(name, default)

    def setsockopt(self, *_: object) -> None: ...
    def set_write_buffer_limits(self, high: int) -> None: ...
    def pause_reading(self) -> None: ...
    def resume_reading(self) -> None: ...

    def is_closing(self) -> bool:
        return False

    def get_write_buffer_size(self) -> int:
        return 0

    def write(self, data: bytes) -> None:
        self.sent += data


class TopicsByHand:
    """The two topics of the gateway's part for groups, without Kafka."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self._events: list[OutgoingEvent] = []
        self._readers: list[RecordsIn] = []

        def begin(reader: RecordsIn) -> None:
            reader.partitions = [0]
            self._readers.append(reader)

        monkeypatch.setattr(ClusterView, "has_authorizer", property(lambda _: False))
        monkeypatch.setattr(WaitingEvents, "put", lambda _, event: not self._events.append(event))
        monkeypatch.setattr(RecordsIn, "start", begin)
        monkeypatch.setattr(EventsOut, "start", lambda _: None)
        for end in (RecordsIn, EventsOut):
            monkeypatch.setattr(end, "close", lambda _: None)

    def answer(self) -> None:
        event = json.loads(self._events.pop().value)
        body = {"errorCode": 79, "generationId": -1, "leader": "", "memberId": "m", "members": []}
        response = {name: event[name] for name in ("correlationId", "api", "version")}
        response |= {"id": "r", "groupId": "g", "at": 1, "body": body}
        reader, *_ = self._readers  # the second one reads the events
        record = SimpleNamespace(value=json.dumps(response).encode())
        vars(reader)["_on_records"](iter([record]))


async def join_through_a_gateway(topics: TopicsByHand) -> tuple[Passed, Socket]:
    view = ClusterView([Address("127.0.0.1", 1)], 60_000, BrokerAccess({}))
    async with groups_by_job(load(), Connection("127.0.0.1:1"))(view) as service:
        gateway = Gateway(
            GatewayOptions(Address("127.0.0.1", 0), "localhost", 600_000), view, service.part
        )
        line = gateway.serve(None, "10.0.0.7")
        client = Socket()
        line.connection_made(client)  # type: ignore[arg-type] - as much of a transport as is used
        passed = Passed()
        # The first JoinGroup compiles the codecs.
        for correlation_id in range(2):
            request = wire.request("JoinGroup", 9, correlation_id, "billing", JOIN)
            passed.files.clear()
            client.sent = b""
            with passed:
                line.get_buffer(-1)[: len(request)] = request
                line.buffer_updated(len(request))
                await asyncio.sleep(0.01)
            with passed:
                topics.answer()
                await asyncio.sleep(0.01)
    return passed, client


def test_a_join_through_the_gateway(monkeypatch: pytest.MonkeyPatch) -> None:
    passed, client = asyncio.run(join_through_a_gateway(TopicsByHand(monkeypatch)))

    assert wire.response_body("JoinGroup", 9, client.sent[4:])[1]["memberId"] == "m"
    passed.check("gateway join")
