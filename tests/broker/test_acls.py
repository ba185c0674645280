"""The request table of KafkaApis: a real broker with an authorizer, and our state machine under the same rules."""

from __future__ import annotations

import json
import socket
from base64 import b64encode
from collections.abc import Iterator, Mapping
from contextlib import closing
from typing import Any, Protocol

import pytest
from kafka.admin import ACLPermissionType, ACLResourcePatternType, NewTopic, ResourceType
from kafka.protocol.admin import CreateAclsRequest
from msgspec import structs

from group_coordinator.clients.cluster.connection import Connection
from group_coordinator.clients.cluster.held_rights import AclsUnreadableError, ClusterAcls
from group_coordinator.codecs import wire
from group_coordinator.codecs.acls import encode
from group_coordinator.core.acls import AclRule, Acls
from group_coordinator.driver.tasks.acls import way_past_rules
from group_coordinator.local.broker import EmbeddedBroker
from group_coordinator.runtime.replay_session import Replay
from group_coordinator.settings import load
from tests.broker.gateway import conversation as said
from tests.broker.gateway.ask import Ask, Body
from tests.broker.gateway.settings_of_groups import altered, described
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

RULES = {
    "nobody": [],
    "reader": ["READ GROUP *"],
    "describer": ["DESCRIBE GROUP simple", "DESCRIBE PREFIXED GROUP con", "DESCRIBE TOPIC orders"],
    "seer": ["DESCRIBE GROUP *", "DESCRIBE TOPIC *"],
    "committer": [
        *("READ PREFIXED GROUP s", "READ PREFIXED GROUP n", "READ TOPIC orders"),
        *("WRITE TRANSACTIONAL_ID t", "READ TOPIC nowhere"),
    ],
    "deleter": ["DELETE GROUP *", "READ TOPIC orders", "DESCRIBE TOPIC secret"],
    "viewer": ["DESCRIBE_CONFIGS GROUP *"],
    "tuner": ["ALTER_CONFIGS GROUP *"],
    "ranged": ["ALL GROUP * FROM 127.0.0.0/8", "ALL TOPIC * FROM 10.0.0.0/8"],
    "owner": ["ALL GROUP *", "ALL TOPIC *", "ALL TRANSACTIONAL_ID *"],
}
"""By user."""
DENIED = {"owner": ["DELETE GROUP simple", "DESCRIBE_CONFIGS GROUP simple"]}
TOPICS = {"orders": 2, "secret": 1}
LOADING = (14, 15, 16)
"""What a broker answers until it knows its groups."""
CLIENT_ID = "someone"
DEADLINE_S = 30.0


def rules_of(user: str) -> list[AclRule]:
    allowed = [rule(f"ALLOW User:{user} {line}") for line in RULES[user]]
    return allowed + [rule(f"DENY User:{user} {line}") for line in DENIED.get(user, ())]


@pytest.fixture(scope="module")
def broker() -> Iterator[EmbeddedBroker]:
    with authorized_broker(RULES) as started:
        with closing(admin_of(started)) as admin:
            admin.create_topics([NewTopic(name, count, 1) for name, count in TOPICS.items()])
        create_acls(started, [one for user in RULES for one in rules_of(user)])
        yield started


class Side(Protocol):
    """Who is asked."""

    def ask(self, user: str, ask: Ask) -> Body: ...


class BrokerSide:
    """A connection for each user."""

    def __init__(self, broker: EmbeddedBroker) -> None:
        self._port = broker.port
        self._open: dict[str, socket.socket] = {}

    def ask(self, user: str, ask: Ask) -> Body:
        if user not in self._open:
            self._open[user] = socket.create_connection(("127.0.0.1", self._port), DEADLINE_S)
            self.ask(user, Ask("SaslHandshake", 1, {"mechanism": "PLAIN"}))
            token = b64encode(f"\0{user}\0{PASSWORD}".encode()).decode()
            answer = self.ask(user, Ask("SaslAuthenticate", 2, {"authBytes": token}))
            assert answer["errorCode"] == 0
        connection = self._open[user]
        connection.sendall(wire.request(ask.api, ask.version, 7, CLIENT_ID, ask.body))
        size = int.from_bytes(received(connection, 4))
        return wire.response_body(ask.api, ask.version, received(connection, size))[1]

    def close(self) -> None:
        for connection in self._open.values():
            connection.close()


def received(connection: socket.socket, size: int) -> bytes:
    found = b""
    while len(found) < size:
        found += connection.recv(size - len(found))
    return found


class OurSide:
    """The state machine."""

    def __init__(self, topic_ids: Mapping[str, str]) -> None:
        self._replay = Replay(load(overrides=["group.initial.rebalance.delay.ms=0"]).coordinator)
        every = tuple(one for user in RULES for one in rules_of(user))
        topics = [
            {"name": name, "topicId": topic_ids[name], "numPartitions": count}
            for name, count in TOPICS.items()
        ]
        acls = json.loads(encode(Acls(every, (f"User:{ADMIN}",))))
        assert self._say({"at": 0, "topics": topics, **acls}) == []

    def ask(self, user: str, ask: Ask) -> Body:
        event = {
            "api": ask.api,
            "version": ask.version,
            "correlationId": "c",
            "clientId": CLIENT_ID,
            "principal": f"User:{user}",
            "clientHost": "/127.0.0.1",
            "body": ask.body,
        }
        outputs = self._say({"at": 0, "event": event})
        [body] = [output["body"] for output in outputs if output["kind"] == "response"]
        frame = wire.response(ask.api, ask.version, 7, body)[4:]
        return wire.response_body(ask.api, ask.version, frame)[1]

    def _say(self, line: Body) -> list[Body]:
        return self._replay.line(json.dumps(line))[:-1]


def asks(ids: Mapping[str, str]) -> Iterator[Ask]:
    """What each user asks; no answer depends on an answer before."""
    yield from (said.join(version, "new", memberId="m") for version in (0, 6, 9))
    yield from (said.sync(version, "new", memberId="m") for version in (4, 5))
    yield said.sync(5, "new", memberId="m", protocolName=None)
    yield said.sync(4, "new", memberId="m", protocolName=None)
    yield said.heartbeat(4, "new", memberId="m")
    yield said.heartbeat(4, "", memberId="m")
    yield from (said.leave(version, "new", "m") for version in (0, 5))
    yield from commits(ids)
    yield from fetches(ids)
    yield from (said.describe(version, group) for version in (0, 4, 6) for group in GROUPS)
    yield from (said.describe_consumers(version, group) for version in (0, 1) for group in GROUPS)
    for topics in (["orders"], ["orders", "secret"], ["secret"]):
        # At an epoch that nobody has, or it would join.
        yield said.beat(1, "consumers", memberId="x", memberEpoch=9, subscribedTopicNames=topics)
    yield from (said.delete(version, "nothing") for version in (1, 3))
    yield said.delete(3, "simple")
    for group in ("simple", "nothing"):
        yield said.delete_offsets(group, secret=[0], nowhere=[0], orders=[0, 9])
    yield said.delete_offsets("nothing", secret=[0])
    yield from settings()


GROUPS = ("simple", "consumers", "nothing")


def commits(ids: Mapping[str, str]) -> Iterator[Ask]:
    simple = {"generationIdOrMemberEpoch": -1, "memberId": ""}
    for version in (2, 9):
        topics = [said.committed(version, 0, topic=t) for t in ("secret", "nowhere", "orders")]
        yield said.commit(version, "simple", topics, **simple)
        yield said.commit(version, "simple", topics[:2], **simple)
    entry = {"partitions": [{"partitionIndex": 0, "committedOffset": 7}]}
    by_id = [{"topicId": ids[name], **entry} for name in TOPICS]
    yield said.commit(10, "simple", [{"topicId": said.UNKNOWN_ID, **entry}, *by_id], **simple)
    # All of these are refused before anybody asks for a transaction.
    for version in (0, 5):
        missing = {"partitions": [{"partitionIndex": 99, "committedOffset": 7}]}
        named = [{"name": name, **missing} for name in ("nowhere", "orders", "secret")]
        body = {"transactionalId": "t", "groupId": "simple", "producerId": 1, "producerEpoch": 0}
        yield Ask("TxnOffsetCommit", version, body | {"topics": named})


def fetches(ids: Mapping[str, str]) -> Iterator[Ask]:
    for version in (1, 2, 7, 8, 9):
        topics = [said.fetched(version, 0, 1, topic=t) for t in ("secret", "nowhere", "orders")]
        yield said.fetch(version, "simple", topics)
        yield said.fetch(version, "nothing", topics[:1])
    by_id = [{"topicId": ids[name], "partitionIndexes": [0]} for name in ("secret", "orders")]
    yield said.fetch(10, "simple", [by_id[0], said.fetched(10, 0, topic="nowhere"), by_id[1]])
    yield from (said.fetch(version, "simple", None) for version in (2, 7, 8, 10))


def settings() -> Iterator[Ask]:
    interval = {"consumer.heartbeat.interval.ms": "6000"}
    for group in ("simple", "nothing"):
        yield from (described(version, group, keys=[*interval]) for version in (1, 2))
        yield altered(1, group, **interval)
        yield altered(1, group, nonsense="1")
        yield altered(1, group, **{"consumer.heartbeat.interval.ms": "x"})
    twice = [{"name": "a", "configOperation": 0, "value": "1"}] * 2
    resource = {"resourceType": 32, "resourceName": "simple", "configs": twice}
    yield Ask("IncrementalAlterConfigs", 1, {"resources": [resource]})


def beginning() -> Iterator[Ask]:
    """Groups that are there, made by a super user."""
    simple = {"generationIdOrMemberEpoch": -1, "memberId": ""}
    topics = [said.committed(9, 0, topic=name) for name in TOPICS]
    yield said.commit(9, "simple", topics, **simple)
    yield said.beat(1, "consumers", memberId="m", subscribedTopicNames=[*TOPICS])


def test_broker_and_state_machine_refuse_alike(broker: EmbeddedBroker) -> None:
    with closing(BrokerSide(broker)) as theirs:
        ids = topic_ids(theirs)
        ours = OurSide(ids)
        for ask in beginning():
            assert shown(ours, ADMIN, ask) == shown(theirs, ADMIN, ask)
        asked = [(user, ask) for user in RULES for ask in asks(ids)]
        expected = [(user, ask, shown(theirs, user, ask)) for user, ask in asked]
        found = [(user, ask, shown(ours, user, ask)) for user, ask in asked]

    assert [each for each in found if each not in expected] == []
    told = json.dumps([answer for *_, answer in expected])
    assert {code for code in (29, 30, 53) if f'"errorCode": {code}' in told} == {29, 30, 53}


def test_a_pattern_matches_what_its_subscriber_may_see(broker: EmbeddedBroker) -> None:
    joining = said.beat(1, "new", subscribedTopicNames=None, subscribedTopicRegex=".*")
    with closing(BrokerSide(broker)) as theirs:
        ids = topic_ids(theirs)
        for side in (theirs, OurSide(ids)):
            assert side.ask("committer", joining)["errorCode"] == 0
            again = joining.body | {"memberEpoch": 1, "subscribedTopicRegex": None}
            until(
                lambda side=side, again=again: assigned(side, again) == {ids["orders"]},
                seconds=DEADLINE_S,
                awaited="the topics that the pattern matches",
            )


def test_the_cluster_tells_its_rules(broker: EmbeddedBroker) -> None:
    """Those too that are about an operation which kafka-python does not know."""
    newest = rule("ALLOW User:t TWO_PHASE_COMMIT TRANSACTIONAL_ID t")
    creation = CreateAclsRequest.AclCreation(
        resource_type=ResourceType.TRANSACTIONAL_ID,
        resource_name="t",
        resource_pattern_type=ACLResourcePatternType.LITERAL,
        principal=newest.principal,
        host="*",
        operation=15,
        permission_type=ACLPermissionType.ALLOW,
    )
    with closing(admin_of(broker)) as admin:
        manager = admin._manager  # noqa: SLF001 - there is no public way to send a request
        answer = manager.run(manager.send, CreateAclsRequest(creations=[creation]))
        assert answer.results[0].error_code == 0
    with closing(ClusterAcls(connection_of(broker, ADMIN))) as cluster:
        found = cluster.read()

    every = [newest, *(one for user in RULES for one in rules_of(user))]
    assert found == tuple(sorted(every, key=structs.astuple))


def test_a_cluster_tells_its_rules_to_those_who_may_describe_it(broker: EmbeddedBroker) -> None:
    with (
        closing(ClusterAcls(connection_of(broker, "reader"))) as cluster,
        pytest.raises(
            AclsUnreadableError, match="give it the ACL DESCRIBE on the resource CLUSTER"
        ),
    ):
        cluster.read()


def connection_of(broker: EmbeddedBroker, user: str) -> Connection:
    return Connection(broker.bootstrap_servers, login_of(user))


def assigned(side: Side, body: Body) -> set[str]:
    """The topics of a member that tells all, so that it is told all."""
    answer = side.ask("committer", Ask("ConsumerGroupHeartbeat", 1, body))
    body["memberEpoch"] = answer["memberEpoch"]
    given = answer["assignment"] or {"topicPartitions": []}
    return {topic["topicId"] for topic in given["topicPartitions"]}


def topic_ids(theirs: BrokerSide) -> dict[str, str]:
    """Once the broker knows the groups."""
    theirs.ask(ADMIN, Ask("FindCoordinator", 3, {"key": "simple", "keyType": 0}))
    for group in (*GROUPS, "new"):
        beat = said.heartbeat(4, group, memberId="m")
        until(
            lambda beat=beat: theirs.ask(ADMIN, beat)["errorCode"] not in LOADING,
            seconds=DEADLINE_S,
            awaited="the coordinator",
        )
    found = theirs.ask(ADMIN, Ask("Metadata", 12, {"topics": [{"name": t} for t in TOPICS]}))
    return {topic["name"]: topic["topicId"] for topic in found["topics"]}


def shown(side: Side, user: str, ask: Ask) -> Body:
    """The answer; Kafka has hash tables of committed offsets and of assignments."""
    answer = side.ask(user, ask)
    answer.pop("throttleTimeMs", None)
    of_tables = ask.api in {"ConsumerGroupDescribe", "ConsumerGroupHeartbeat"}
    if of_tables or (ask.api == "OffsetFetch" and '"topics": null' in json.dumps(ask.body)):
        answer = in_order(answer)
    return answer


def in_order(answer: Any) -> Any:
    if isinstance(answer, dict):
        return {key: in_order(each) for key, each in answer.items()}
    return sorted(map(in_order, answer), key=str) if isinstance(answer, list) else answer


@pytest.mark.parametrize("user", [ADMIN, "owner"])
def test_rules_of_a_file_hold_where_brokers_have_an_authorizer(
    broker: EmbeddedBroker, user: str
) -> None:
    """Who may not see the cluster's rules is told so, and so that there are some."""
    job = load(overrides=["acls.source=file"]).job

    assert way_past_rules(job, Connection(broker.bootstrap_servers, login_of(user))) is None
