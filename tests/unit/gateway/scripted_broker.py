"""A broker of one node over a real socket: it speaks through the codec and answers what a test tells it to."""

from __future__ import annotations

import asyncio
from asyncio import StreamReader, StreamWriter
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from ssl import SSLContext
from typing import Any, Self

from group_coordinator.codecs import wire
from group_coordinator.gateway.cluster.addresses import Address

NODE, ABSENT = 1, 9
RACK = "rack-1"
ORDERS_ID = "4ksO1bcLSgCStYJnTlCVLg"
PATIENCE_S = 5.0
API_VERSIONS = {
    "apiKeys": [
        {"apiKey": key, "minVersion": lowest, "maxVersion": highest}
        for key, lowest, highest in (
            (0, 0, 13),
            (1, 4, 18),
            (3, 0, 13),
            (10, 0, 6),
            (11, 2, 5),
            (18, 0, 4),
            (26, 0, 5),
            (29, 1, 3),
            (32, 1, 4),
            (76, 1, 1),
            (999, 0, 3),
        )
    ],
    "supportedFeatures": [
        {"name": "group.version", "minVersion": 0, "maxVersion": 1},
        {"name": "transaction.version", "minVersion": 0, "maxVersion": 2},
    ],
    "finalizedFeaturesEpoch": 7,
    "finalizedFeatures": [
        {"name": "share.version", "minVersionLevel": 1, "maxVersionLevel": 1},
        {"name": "group.version", "minVersionLevel": 1, "maxVersionLevel": 1},
    ],
}


@dataclass
class Asked:
    """A request that came, and the way to answer it."""

    api: str
    version: int
    correlation_id: int
    client_id: str | None
    body: dict[str, Any]
    frame: bytes
    writer: StreamWriter

    def answer(self, body: Mapping[str, Any]) -> None:
        self.writer.write(wire.response(self.api, self.version, self.correlation_id, body))

    def answer_bytes(self, body: bytes) -> bytes:
        """Any bytes behind the correlation id; returns the whole frame."""
        content = self.correlation_id.to_bytes(4, signed=True) + body
        frame = len(content).to_bytes(4) + content
        self.writer.write(frame)
        return frame

    def hang_up(self) -> None:
        self.writer.transport.abort()


class ScriptedBroker:
    """Logins, ApiVersions and Metadata are answered on the spot, all else by the test: `await broker.asked()`."""

    def __init__(self, tls: SSLContext | None = None) -> None:
        self._tls = tls
        self.address = Address("127.0.0.1", 0)
        self.nodes: dict[int, Address] = {}
        self.writers: set[StreamWriter] = set()
        self.has_authorizer = False
        self.session_ms = 0
        self.answers: dict[str, Callable[[Asked], Mapping[str, Any]]] = {
            "ApiVersions": lambda _asked: API_VERSIONS,
            "Metadata": lambda _asked: self.metadata(),
            "SaslHandshake": lambda _asked: {"mechanisms": ["PLAIN"]},
            "SaslAuthenticate": lambda _asked: {"sessionLifetimeMs": self.session_ms},
            "DescribeAcls": lambda _asked: {"errorCode": 0 if self.has_authorizer else 54},
        }
        self._serving: set[asyncio.Task[Any]] = set()
        self._asked: asyncio.Queue[Asked] = asyncio.Queue()

    async def __aenter__(self) -> Self:
        self._server = await asyncio.start_server(self._serve, "127.0.0.1", 0, ssl=self._tls)
        self.address = Address("127.0.0.1", self._server.sockets[0].getsockname()[1])
        self.nodes[NODE] = self.address
        return self

    async def __aexit__(self, *_: object) -> None:
        self._server.close()
        for writer in self.writers:
            writer.transport.abort()
        await asyncio.gather(*self._serving)
        await asyncio.sleep(0)

    async def asked(self) -> Asked:
        async with asyncio.timeout(PATIENCE_S):
            return await self._asked.get()

    def is_idle(self) -> bool:
        """Whether nothing came that the test did not take."""
        return self._asked.empty()

    def metadata(self) -> Mapping[str, Any]:
        brokers = [
            {"nodeId": node, "host": host, "port": port, "rack": RACK}
            for node, (host, port) in self.nodes.items()
        ]
        partitions = [
            {"partitionIndex": n, "leaderId": NODE, "replicaNodes": [NODE, ABSENT]} for n in (1, 0)
        ]
        topic = {"name": "orders", "topicId": ORDERS_ID, "partitions": partitions}
        return {"brokers": brokers, "controllerId": NODE, "topics": [topic]}

    async def _serve(self, reader: StreamReader, writer: StreamWriter) -> None:
        self.writers.add(writer)
        task = asyncio.current_task()
        assert task is not None
        self._serving.add(task)
        try:
            while True:
                size = int.from_bytes(await reader.readexactly(4))
                self._take(await reader.readexactly(size), writer)
        except (OSError, EOFError, wire.WireError):
            pass  # a broker hangs up on what it cannot read, too
        finally:
            writer.transport.abort()
            self.writers.discard(writer)

    def _take(self, frame: bytes, writer: StreamWriter) -> None:
        header = wire.request_header(frame)
        api = wire.api_name(header.api_key)
        assert api is not None
        body = wire.request_body(frame)
        asked = Asked(
            api, header.version, header.correlation_id, header.client_id, body, frame, writer
        )
        if api in self.answers:
            asked.answer(self.answers[api](asked))
        else:
            self._asked.put_nowait(asked)
