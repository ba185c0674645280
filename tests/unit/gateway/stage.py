"""A gateway on real sockets between a scripted broker, a job by hand and clients that speak through the codec."""

from __future__ import annotations

import asyncio
import inspect
from asyncio import StreamReader, StreamWriter
from collections.abc import AsyncIterator, Callable, Coroutine, Mapping, Sequence
from contextlib import asynccontextmanager, closing
from dataclasses import dataclass, field
from functools import wraps
from itertools import count
from ssl import SSLContext
from types import MappingProxyType
from typing import Any, NamedTuple, ParamSpec, TypeAlias

from group_coordinator.codecs import wire
from group_coordinator.gateway.cluster.addresses import Address
from group_coordinator.gateway.cluster.broker_access import PLAIN_ACCESS, BrokerAccess
from group_coordinator.gateway.cluster.cluster_view import ClusterView
from group_coordinator.gateway.connections.admission import NO_LIMITS, ConnectionLimits
from group_coordinator.gateway.gateway import Gateway, GatewayOptions
from group_coordinator.gateway.login import Caller
from group_coordinator.gateway.rights.own_topics import Closed
from group_coordinator.local.broker import free_row
from tests.unit.gateway.scripted_broker import PATIENCE_S, ScriptedBroker

LOOPBACK = "127.0.0.1"
NEVER_MS = 3_600_000
FETCH = {"maxWaitMs": 100, "minBytes": 1, "topics": []}
HEARTBEAT = {"groupId": "billing", "generationId": 3, "memberId": "m-1"}
Arguments = ParamSpec("Arguments")


@dataclass
class Question:
    """What the gateway asked the job."""

    api: str
    version: int
    body: dict[str, Any]
    caller: Caller
    answer: asyncio.Future[dict[str, Any]]


class JobByHand:
    """The part for groups: the test gives each answer."""

    def __init__(self) -> None:
        self.questions: list[Question] = []
        self.settings_of: list[str] = []
        self.listings = 0
        """How often the groups with settings were asked for."""
        self.expected: list[tuple[str, str]] = []
        """Groups whose coordinators were asked for, with the client ids."""
        self.defect: Exception | None = None
        self._asked = asyncio.Event()

    def answer(
        self, api: str, version: int, body: dict[str, Any], caller: Caller
    ) -> asyncio.Future[dict[str, Any]]:
        if self.defect is not None:
            raise self.defect
        future: asyncio.Future[dict[str, Any]] = asyncio.get_running_loop().create_future()
        self.questions.append(Question(api, version, body, caller, future))
        self._asked.set()
        return future

    async def asked(self, number: int = 0) -> Question:
        async with asyncio.timeout(PATIENCE_S):
            while len(self.questions) <= number:
                self._asked.clear()
                await self._asked.wait()
        return self.questions[number]

    def expect(self, group_id: str, caller: Caller) -> None:
        self.expected.append((group_id, caller.client_id))

    async def groups_with_settings(self) -> Sequence[str]:
        self.listings += 1
        return self.settings_of


class Client:
    """Sends requests and reads answers one by one; it reads nothing by itself."""

    def __init__(self, reader: StreamReader, writer: StreamWriter) -> None:
        self.reader = reader
        self.writer = writer
        self._numbers = count(1)

    def ask(self, api: str, version: int, body: dict[str, Any] | None = None) -> int:
        """Returns the correlation id."""
        number = next(self._numbers)
        self.writer.write(wire.request(api, version, number, "a-client", body or {}))
        return number

    async def frame(self) -> bytes:
        """The next answer, without its size."""
        async with asyncio.timeout(PATIENCE_S):
            size = int.from_bytes(await self.reader.readexactly(4))
            return await self.reader.readexactly(size)

    async def answer(self, api: str, version: int) -> tuple[int, dict[str, Any]]:
        return wire.response_body(api, version, await self.frame())

    async def asks(
        self, api: str, version: int, body: dict[str, Any] | None = None
    ) -> dict[str, Any]:
        """The answer to a request, when no other is on its way."""
        self.ask(api, version, body)
        return (await self.answer(api, version))[1]

    async def is_hung_up(self) -> bool:
        """Whether the gateway ended the connection, without another byte."""
        async with asyncio.timeout(PATIENCE_S):
            try:
                return await self.reader.read(1) == b""
            except ConnectionError:
                return True

    def leave(self) -> None:
        if not self.writer.is_closing():
            self.writer.transport.abort()


@dataclass
class Stage:
    """Everybody who takes part."""

    gateway: Gateway
    broker: ScriptedBroker
    job: JobByHand
    view: ClusterView
    port: int
    clients: list[Client] = field(default_factory=list)

    async def client(
        self, node: int | None = None, tls: SSLContext | None = None, host: str = LOOPBACK
    ) -> Client:
        """Somebody who comes from a host to the bootstrap port, or to a node's."""
        port = self.port if node is None else self.port + 1 + node
        streams = await asyncio.open_connection(LOOPBACK, port, ssl=tls, local_addr=(host, 0))
        client = Client(*streams)
        self.clients.append(client)
        return client


class Certificates(NamedTuple):
    """TLS of either side; None: plain text."""

    of_gateway: SSLContext | None
    of_broker: SSLContext | None


PLAIN = Certificates(None, None)


def in_loop(test: Callable[Arguments, Coroutine[Any, Any, None]]) -> Callable[Arguments, None]:
    """A test that runs inside an event loop."""

    @wraps(test)
    def run(*args: Arguments.args, **kwargs: Arguments.kwargs) -> None:
        asyncio.run(test(*args, **kwargs))

    return run


Test: TypeAlias = Callable[..., Coroutine[Any, Any, None]]


def on_stage(**options: Any) -> Callable[[Test], Callable[..., None]]:
    """A test that runs inside an event loop, with a stage of these options as its first argument."""

    def decorate(test: Test) -> Callable[..., None]:
        async def scene(*args: Any, **kwargs: Any) -> None:
            async with staged(**options) as stage:
                await test(stage, *args, **kwargs)

        run = in_loop(wraps(test)(scene))
        signature = inspect.signature(test)
        _, *fixtures = signature.parameters.values()
        vars(run)["__signature__"] = signature.replace(parameters=fixtures)
        return run

    return decorate


@asynccontextmanager
async def staged(
    max_idle_ms: int = NEVER_MS,
    *,
    login: Mapping[str, Any] = MappingProxyType({}),
    certificates: Certificates = PLAIN,
    lends_certificate: bool = False,
    has_authorizer: bool = False,
    limits: ConnectionLimits = NO_LIMITS,
    client_open_max_bytes: int = 8 * 1024 * 1024,
    closed: Closed = Closed(),  # noqa: B008 - it cannot be changed
) -> AsyncIterator[Stage]:
    """`login` are options of kafka-python for the gateway's own connections."""
    async with ScriptedBroker(certificates.of_broker) as broker:
        broker.has_authorizer = has_authorizer
        access = BrokerAccess(login, lends_certificate=lends_certificate)
        view = ClusterView([broker.address], NEVER_MS, access)
        await view.look_again()
        job = JobByHand()
        port = free_block()
        tls = certificates.of_gateway
        options = GatewayOptions(
            Address(LOOPBACK, port),
            LOOPBACK,
            max_idle_ms,
            tls,
            limits=limits,
            client_open_max_bytes=client_open_max_bytes,
            closed=closed,
        )
        gateway = Gateway(options, view, job)
        await gateway.open()
        stage = Stage(gateway, broker, job, view, port)
        try:
            yield stage
        finally:
            for client in stage.clients:
                client.leave()
            await gateway.drain(0.0)
            view.close()
            await settled()


@asynccontextmanager
async def viewed(
    access: BrokerAccess = PLAIN_ACCESS, *, lookup_interval_ms: int = 1000
) -> AsyncIterator[tuple[ScriptedBroker, ClusterView]]:
    """A broker, and the view of a gateway that has not looked yet."""
    async with ScriptedBroker() as broker:
        with closing(ClusterView([broker.address], NEVER_MS, access, lookup_interval_ms)) as view:
            yield broker, view


def free_block() -> int:
    """A port that is free together with those of the nodes 0 to 3."""
    return free_row(5)


async def settled() -> None:
    """Let the loop tell everybody what was aborted."""
    for _ in range(3):
        await asyncio.sleep(0)


async def until(holds: Callable[[], bool]) -> None:
    """Let the loop turn until it holds."""
    async with asyncio.timeout(PATIENCE_S):
        while not holds():  # noqa: ASYNC110 - nobody tells
            await asyncio.sleep(0.001)
