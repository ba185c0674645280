"""The gateway's own connections to brokers, with its own login. Each is opened at its first use."""

from __future__ import annotations

import asyncio
from asyncio import StreamReader, StreamWriter
from base64 import b64decode, b64encode
from collections.abc import Awaitable, Callable, Mapping
from itertools import count
from time import monotonic
from typing import Any, Self, TypeAlias, TypeVar

from kafka.errors import KafkaError
from kafka.net.sasl import get_sasl_mechanism

from group_coordinator.codecs import wire
from group_coordinator.codecs.wire import WireError
from group_coordinator.gateway.cluster.addresses import Address
from group_coordinator.gateway.cluster.broker_access import PLAIN_ACCESS, BrokerAccess

Ask: TypeAlias = Callable[[str, int, dict[str, Any]], Awaitable[dict[str, Any]]]
"""Sends a request to the broker: API, version and body."""

_HANDSHAKE, _AUTHENTICATE = 1, 1
"""Later versions add nothing. Earlier versions lack the end of the session."""


async def log_in(ask: Ask, host: str, options: Mapping[str, Any]) -> int:
    """Log in with kafka-python's options; return the session lifetime in milliseconds, 0: without end.

    Raises:
        ConnectionError: the broker rejects the login.
    """
    name = str(options.get("sasl_mechanism") or "PLAIN")
    response = await ask("SaslHandshake", _HANDSHAKE, {"mechanism": name})
    if response["errorCode"]:
        offered = ", ".join(response["mechanisms"]) or "no login here: correct security.protocol"
        raise ConnectionRefusedError(f"sasl.mechanism = {name}: the brokers offer {offered}")
    lifetime_ms = 0
    try:
        mechanism = get_sasl_mechanism(name)(host=host, **options)
        while not mechanism.is_done():
            # A mechanism such as OAUTHBEARER may get a token over HTTP, which would block the loop.
            said = await asyncio.to_thread(mechanism.auth_bytes)
            body = {"authBytes": b64encode(said).decode()}
            response = await ask("SaslAuthenticate", _AUTHENTICATE, body)
            if response["errorCode"]:
                raise ConnectionRefusedError(
                    f"the gateway's login failed: {response['errorMessage']}"
                )
            mechanism.receive(b64decode(response["authBytes"]))
            lifetime_ms = response["sessionLifetimeMs"]
    # A RuntimeError says that a library is missing.
    except (KafkaError, ValueError, KeyError, RuntimeError) as error:
        raise ConnectionRefusedError(f"the gateway's login failed: {error}") from error
    return lifetime_ms


Found = TypeVar("Found")

CLIENT_ID = "group-coordinator-gateway"
_NEARLY = 0.9
"""Part of a session after which another connection is opened, before the broker ends this session."""


class BrokerLink:
    """Connection that sends a request after the response to the last request. After a failure it is useless."""

    def __init__(self, reader: StreamReader, writer: StreamWriter) -> None:
        self._reader = reader
        self._writer = writer
        self._numbers = count(1)
        self._highest: dict[str, int] = {}
        self._one_by_one = asyncio.Lock()
        self._ends_at_s: float | None = None

    @classmethod
    async def open(cls, broker: Address, access: BrokerAccess = PLAIN_ACCESS) -> Self:
        """Connect, log in if the options require it, and read the broker's API versions.

        Raises:
            OSError, EOFError: the broker is unreachable, hangs up, or rejects the login.
        """
        link = cls(*await asyncio.open_connection(*broker, ssl=access.tls))
        try:
            await link._begin(broker.host, access)
        except BaseException:
            link.close()
            raise
        return link

    async def _begin(self, host: str, access: BrokerAccess) -> None:
        if access.wants_login:
            lifetime_ms = await log_in(self._ask, host, access.login_options)
            if lifetime_ms:
                self._ends_at_s = monotonic() + lifetime_ms / 1000 * _NEARLY
        # In version 0 every broker answers.
        response = await self._ask("ApiVersions", 0, {})
        self._highest = {
            name: entry["maxVersion"]
            for entry in response["apiKeys"]
            if (name := wire.api_name(entry["apiKey"])) is not None
        }

    @property
    def is_over(self) -> bool:
        return self._ends_at_s is not None and monotonic() > self._ends_at_s

    def knows(self, api: str) -> bool:
        return api in self._highest

    async def ask(self, api: str, body: dict[str, Any]) -> dict[str, Any]:
        """Return the response in the highest version of both sides, without fields that it lacks."""
        return await self._ask(api, self.version_of(api), body)

    async def ask_for_much(
        self, api: str, body: dict[str, Any], read: Callable[[int, bytes], Found]
    ) -> Found:
        """Return the result of `read` for the version and bytes of the response.

        It runs in a thread, as the decoding of a large response would hold the loop.
        """
        version = self.version_of(api)
        return await asyncio.to_thread(read, version, await self._answer(api, version, body))

    def version_of(self, api: str) -> int:
        return min(self._highest[api], wire.valid_versions(api)[-1])

    def close(self) -> None:
        self._writer.close()

    async def _ask(self, api: str, version: int, body: dict[str, Any]) -> dict[str, Any]:
        return wire.response_body(api, version, await self._answer(api, version, body))[1]

    async def _answer(self, api: str, version: int, body: dict[str, Any]) -> bytes:
        async with self._one_by_one:
            self._writer.write(wire.request(api, version, next(self._numbers), CLIENT_ID, body))
            await self._writer.drain()
            # The lock keeps a single request pending, so the next frame is its response.
            size = int.from_bytes(await self._reader.readexactly(4))
            return await self._reader.readexactly(size)


FAILURES = (OSError, EOFError, WireError)
"""Errors of a request to a broker, also for lack of a connection; TimeoutError is an OSError."""


class BrokerLinks:
    """Connections by the broker's address."""

    def __init__(self, access: BrokerAccess = PLAIN_ACCESS) -> None:
        self._access = access
        self._links: dict[Address, BrokerLink] = {}
        self._opening = asyncio.Lock()

    async def knows(self, broker: Address, api: str) -> bool:
        return (await self._opened(broker)).knows(api)

    async def ask(self, broker: Address, api: str, body: dict[str, Any]) -> dict[str, Any]:
        link = await self._opened(broker)
        try:
            return await link.ask(api, body)
        except BaseException:
            # The response may come later, and would be read as the response to the next request.
            link.close()
            if self._links.get(broker) is link:
                del self._links[broker]
            raise

    def close(self) -> None:
        for link in self._links.values():
            link.close()
        self._links.clear()

    async def _opened(self, broker: Address) -> BrokerLink:
        async with self._opening:
            link = self._links.get(broker)
            if link is None or link.is_over:
                link = self._links[broker] = await BrokerLink.open(broker, self._access)
        return link
