"""The same questions to a broker and through a gateway before it, by users who may not do everything."""

from __future__ import annotations

import asyncio
import json
import ssl
from asyncio import StreamReader, StreamWriter
from base64 import urlsafe_b64encode
from collections.abc import AsyncIterator, Awaitable, Iterator, Sequence
from contextlib import asynccontextmanager, closing
from pathlib import Path
from typing import Any, NamedTuple

import pytest
from kafka import KafkaConsumer, TopicPartition
from kafka.admin import ACLOperation, ResourceType
from kafka.net.sasl.oauth import AbstractTokenProvider

from group_coordinator.codecs import wire
from group_coordinator.gateway.cluster.addresses import Address
from group_coordinator.gateway.cluster.broker_access import BrokerAccess, listener_context
from group_coordinator.gateway.cluster.broker_links import log_in
from group_coordinator.gateway.cluster.cluster_view import ClusterView
from group_coordinator.gateway.gateway import Gateway, GatewayOptions
from group_coordinator.gateway.login import Caller
from group_coordinator.gateway.rights.own_topics import Closed
from group_coordinator.local.broker import EmbeddedBroker
from tests.broker.gateway.ask import Ask, Body
from tests.broker.gateway.conversation import (
    beat,
    commit,
    delete,
    delete_offsets,
    describe_consumers,
    heartbeat,
    join,
    leave,
    listing,
    sync,
)
from tests.broker.gateway.settings_of_groups import altered, described
from tests.broker.gateway.test_same_answers import in_order, once_loaded, replaced
from tests.end_to_end.secured_broker import (
    ADMIN,
    BY_PLAIN,
    BY_TOKEN,
    GATEWAY,
    LIMITED,
    PLAIN_PASSWORD,
    SESSION_MS,
    Grant,
    login_of,
    trust_store,
)
from tests.peers.assembled import InProcessGroups
from tests.support.certificates import self_signed
from tests.support.until import until
from tests.unit.gateway.stage import free_block

LOOPBACK = "127.0.0.1"
NEVER_MS = 3_600_000
TOPICS = ("orders", "payments", "secrets")
GROUPS = ("open", "seen", "closed")
ALL = (*TOPICS, "nowhere")
ON_OPEN_AND_ORDERS: Sequence[Grant] = (
    (ResourceType.GROUP, "open", ACLOperation.READ),
    (ResourceType.TOPIC, "orders", ACLOperation.READ),
)
"""What a consumer needs."""
LIMITS: Sequence[Grant] = (
    *ON_OPEN_AND_ORDERS,
    (ResourceType.GROUP, "open", ACLOperation.DELETE),
    (ResourceType.GROUP, "open", ACLOperation.DESCRIBE_CONFIGS),
    (ResourceType.GROUP, "open", ACLOperation.ALTER_CONFIGS),
    (ResourceType.GROUP, "seen", ACLOperation.DESCRIBE),
    (ResourceType.TOPIC, "payments", ACLOperation.DESCRIBE),
    (ResourceType.TRANSACTIONAL_ID, "mine", ACLOperation.WRITE),
)
"""Of the limited user; READ implies DESCRIBE."""


_OF_PROTOCOL = ("protocolType", "protocolName")


class Told:
    """The group part of the gateway, which remembers who asked it."""

    def __init__(self, groups: InProcessGroups) -> None:
        self._apis = groups.apis
        self.callers: list[Caller] = []

    def answer(self, api: str, version: int, body: Body, caller: Caller) -> Awaitable[Body]:
        self.callers.append(caller)
        return self._apis.answer(api, version, body, caller)

    def expect(self, group_id: str, caller: Caller) -> None:
        self._apis.expect(group_id, caller)

    async def groups_with_settings(self) -> Sequence[str]:
        return await self._apis.groups_with_settings()


class RawClient:
    """One connection by TLS, of a client that speaks through the codec."""

    def __init__(self, reader: StreamReader, writer: StreamWriter) -> None:
        self._reader = reader
        self.writer = writer

    @classmethod
    async def open(cls, port: int, trusted: Path) -> RawClient:
        context = ssl.create_default_context(cafile=trusted)
        return cls(*await asyncio.open_connection(LOOPBACK, port, ssl=context))

    async def ask(self, api: str, version: int, body: Body) -> Body:
        self.writer.write(wire.request(api, version, 7, "someone", body))
        async with asyncio.timeout(20):
            size = int.from_bytes(await self._reader.readexactly(4))
            frame = await self._reader.readexactly(size)
        return wire.response_body(api, version, frame)[1]

    async def log_in(self, options: dict[str, Any]) -> int:
        return await log_in(self.ask, LOOPBACK, options)

    async def is_hung_up(self) -> bool:
        async with asyncio.timeout(20):
            return await self._reader.read(1) == b""


class Scene(NamedTuple):
    broker_port: int
    gateway_port: int
    certificates: Path
    told: Told
    groups: InProcessGroups
    view: ClusterView

    async def at_broker(self) -> RawClient:
        return await RawClient.open(self.broker_port, trust_store(self.certificates))

    async def at_gateway(self) -> RawClient:
        return await RawClient.open(self.gateway_port, self.certificates / "gateway.pem")

    async def both(self, options: dict[str, Any]) -> tuple[RawClient, RawClient]:
        """Somebody who has logged in at the broker, and through the gateway."""
        found = await self.at_broker(), await self.at_gateway()
        for client in found:
            await client.log_in(options)
        return found


@asynccontextmanager
async def gateway_before(
    broker: EmbeddedBroker,
    certificates: Path,
    access: BrokerAccess | None = None,
    closed: Closed = Closed(),  # noqa: B008 - it cannot be changed
) -> AsyncIterator[Scene]:
    """In this process, with the state machine in the job's place. Without `access` it logs in with SCRAM."""
    access = access or BrokerAccess(login_of(GATEWAY, certificates))
    view = ClusterView([Address(LOOPBACK, broker.port)], NEVER_MS, access)
    await view.look_again()
    groups = InProcessGroups(view, group_initial_rebalance_delay_ms=0)
    groups.learn_topics()
    ticking = asyncio.create_task(groups.job.tick())
    told, port = Told(groups), free_block()
    tls = listener_context(str(self_signed(certificates)), "")
    options = GatewayOptions(Address(LOOPBACK, port), LOOPBACK, NEVER_MS, tls, closed=closed)
    gateway = Gateway(options, view, told)
    await gateway.open()
    try:
        yield Scene(broker.port, port, certificates, told, groups, view)
    finally:
        await gateway.drain(0.0)
        ticking.cancel()
        view.close()


class Unsigned(AbstractTokenProvider):
    """Tokens of a name, which a broker without another judge takes."""

    def token(self) -> str:
        claims = {"sub": BY_TOKEN, "iat": 1_000_000_000, "exp": 9_000_000_000}
        parts = ({"alg": "none"}, claims)
        return ".".join(
            [*(urlsafe_b64encode(json.dumps(p).encode()).rstrip(b"=").decode() for p in parts), ""]
        )


async def answers_of(scene: Scene, options: dict[str, Any], asks: Sequence[Ask]) -> tuple[Any, Any]:
    """The broker's and the gateway's."""
    ids = {f"${name}": seen.topic_id for name, seen in scene.view.topics.items()}
    found = []
    for client in await scene.both(options):
        found.append([await answered(client, ask, ids) for ask in asks])
        client.writer.close()
    return found[0], found[1]


async def answered(client: RawClient, ask: Ask, ids: dict[str, str]) -> Any:
    given = {topic_id: name for name, topic_id in ids.items()}
    answer = await client.ask(ask.api, ask.version, replaced(ask.body, ids))
    return ask, in_order(without_addresses(replaced(answer, given)))


def without_addresses(answer: Body) -> Body:
    """Drawn member ids, and where coordinators are."""
    kept = {key: value for key, value in answer.items() if key not in ("memberId", "port", "host")}
    if "coordinators" in kept:
        kept["coordinators"] = [without_addresses(one) for one in kept["coordinators"]]
    return kept


def topics_of(version: int, names: Sequence[str], **rest: Any) -> list[Body]:
    if version < 10:
        return [{"name": name, **rest} for name in names]
    return [{"topicId": f"${name}", **rest} for name in names if name != "nowhere"]


def commits(version: int, group: str, names: Sequence[str]) -> Ask:
    entries = [{"partitionIndex": 0, "committedOffset": 7}, {"partitionIndex": 9}]
    return commit(
        version,
        group,
        topics_of(version, names, partitions=entries),
        generationIdOrMemberEpoch=-1,
        memberId="",
    )


def fetches(version: int, groups: Sequence[str], names: Sequence[str] | None) -> Iterator[Ask]:
    topics = None if names is None else topics_of(version, names, partitionIndexes=[0])
    if version >= 8:
        entries = [{"groupId": group, "topics": topics} for group in groups]
        yield Ask("OffsetFetch", version, {"groups": entries})
        return
    for group in groups:
        yield Ask("OffsetFetch", version, {"groupId": group, "topics": topics})


def by_an_administrator() -> Iterator[Ask]:
    """What is there to be seen."""
    for group in GROUPS:
        yield commits(9, group, ALL)


def by_a_limited_user() -> Iterator[Ask]:
    yield from about_offsets()
    yield from as_a_member()
    yield from (listing(version) for version in range(6))
    yield from descriptions()
    yield from found_coordinators()
    yield from in_transactions()
    yield from about_settings()
    yield delete_offsets("seen", orders=[0])
    yield delete_offsets("open", orders=[0, 9], payments=[0], secrets=[0], nowhere=[0])
    yield delete_offsets("open", payments=[0])
    yield from (delete(version, "seen", "closed", "nothing", "open") for version in (0, 3))


def about_offsets() -> Iterator[Ask]:
    for version in range(2, 11):
        for group in GROUPS:
            yield commits(version, group, ALL)
            yield commits(version, group, ["secrets"])
    for version in range(1, 11):
        yield from fetches(version, GROUPS, ALL)
        yield from fetches(version, GROUPS, ["secrets"])
        if version >= 2:
            yield from fetches(version, GROUPS, None)


def as_a_member() -> Iterator[Ask]:
    for group in ("seen", "closed"):
        yield from (join(version, group, memberId="m") for version in range(10))
        yield from (sync(version, group, memberId="m") for version in range(6))
        yield from (sync(5, group, memberId="m", **{field: None}) for field in _OF_PROTOCOL)
        yield from (heartbeat(version, group, memberId="m") for version in range(5))
        yield from (leave(version, group, "m") for version in range(6))
        yield from (beat(version, group) for version in range(2))
    yield heartbeat(4, "open", memberId="m")
    yield beat(1, "open", memberEpoch=4, subscribedTopicNames=["orders"])
    yield beat(1, "open", memberEpoch=4, subscribedTopicNames=["orders", "secrets"])


def descriptions() -> Iterator[Ask]:
    for version in range(7):
        body: Body = {"groups": [*GROUPS, "nothing"]}
        yield Ask("DescribeGroups", version, body)
        if version >= 3:
            yield Ask("DescribeGroups", version, body | {"includeAuthorizedOperations": True})
    yield from (describe_consumers(version, *GROUPS) for version in range(2))


def found_coordinators() -> Iterator[Ask]:
    for version in range(7):
        for group in GROUPS if version < 4 else ():
            yield Ask("FindCoordinator", version, {"key": group, "keyType": 0})
        if version >= 4:
            body = {"coordinatorKeys": list(GROUPS), "keyType": 0}
            yield Ask("FindCoordinator", version, body)


def in_transactions() -> Iterator[Ask]:
    partitions = [{"partitionIndex": 0, "committedOffset": 1}]
    for version in range(5):
        for transactional_id, group, names in (
            ("theirs", "open", ("orders",)),
            ("mine", "closed", ("orders",)),
            ("mine", "open", ("payments", "nowhere")),
        ):
            topics = [{"name": name, "partitions": partitions} for name in names]
            body = {"transactionalId": transactional_id, "groupId": group, "producerId": 1}
            yield Ask("TxnOffsetCommit", version, body | {"producerEpoch": 0, "topics": topics})


def about_settings() -> Iterator[Ask]:
    session = "consumer.session.timeout.ms"
    for version in range(2):
        yield altered(version, *GROUPS, **{session: "50000"})
        yield altered(version, "closed", **{session: "50000"})
        yield altered(version, "closed", "closed", **{session: "50000"})
    for version in range(1, 5):
        yield described(version, *GROUPS, keys=[session])
        yield described(version, "closed", keys=[session])


async def groups_are_there(scene: Scene) -> None:
    """The broker has loaded its partitions."""
    client = await scene.at_broker()
    await client.log_in(login_of(ADMIN, scene.certificates))
    await client.ask("FindCoordinator", 3, {"key": "open", "keyType": 0})

    async def ask(question: Ask) -> Body:
        return await client.ask(*question)

    for group in (*GROUPS, "new", "nothing"):
        await once_loaded(ask, heartbeat(4, group, memberId="nobody"))
    client.writer.close()


async def names_of_logins(scene: Scene) -> list[str]:
    """Of three mechanisms; who logs in with PLAIN does so twice, as its session ends."""
    trusted = login_of(ADMIN, scene.certificates)
    plain = trusted | {
        "sasl_mechanism": "PLAIN",
        "sasl_plain_username": BY_PLAIN,
        "sasl_plain_password": PLAIN_PASSWORD,
    }
    token = trusted | {"sasl_mechanism": "OAUTHBEARER", "sasl_oauth_token_provider": Unsigned()}
    for options in (plain, token, trusted):
        client = await scene.at_gateway()
        lifetime_ms = await client.log_in(options)
        if options is plain:
            assert 0 < lifetime_ms <= SESSION_MS
            await asyncio.sleep(1.0)  # a broker takes no second login sooner
            assert await client.log_in(options) > 0
        await client.ask("Heartbeat", 4, {"groupId": "open", "memberId": "m"})
        client.writer.close()
    return [caller.principal for caller in scene.told.callers]


async def wrong_password(scene: Scene) -> bool:
    """Whether the broker says so, and a request about a group closes the connection."""
    client = await scene.at_gateway()
    options = login_of(LIMITED, scene.certificates) | {"sasl_plain_password": "wrong"}
    with pytest.raises(ConnectionRefusedError, match="the gateway's login failed"):
        await client.log_in(options)
    return await client.is_hung_up()


def a_member_of(group_id: str, servers: str, options: dict[str, Any]) -> set[TopicPartition]:
    """What kafka-python gets when it joins, with nothing but its login."""
    consumer = KafkaConsumer(
        bootstrap_servers=servers, group_id=group_id, client_id="alone", **options
    )
    with closing(consumer):
        # Who learns of partitions after the first generation begins a second one. kafka-python 3.0.12 loses what is
        # assigned in it where a poll's time runs out before the answer to its SyncGroup.
        consumer.partitions_for_topic("orders")
        consumer.subscribe(["orders"])
        until(
            lambda: consumer.poll(timeout_ms=100) or consumer.assignment(),
            seconds=30,
            awaited="an assignment",
        )
        return set(consumer.assignment())
