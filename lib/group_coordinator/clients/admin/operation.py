"""Base of both admin clients, and the decorator of their methods: each method is written once, as a coroutine.

AsyncioClients have it unchanged. BlockingClients run it to its end: its waits block their thread, so it never yields to
an event loop. The base has the settings, the channel, and the exchange of requests and responses.
"""

from __future__ import annotations

import asyncio
from abc import ABC, abstractmethod
from collections.abc import Callable, Coroutine, Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import replace
from functools import cached_property, wraps
from types import MethodType
from typing import Any, Concatenate, Generic, ParamSpec, TypeVar, overload

from group_coordinator import settings
from group_coordinator.clients.channel import Body, Channel, Request, RequestChannel
from group_coordinator.clients.cluster.connection import Connection
from group_coordinator.clients.errors import ChannelError

Arguments = ParamSpec("Arguments")
Answer = TypeVar("Answer")
Outcome = TypeVar("Outcome")


class BlockingClient:
    """Client whose operations return their results."""

    async def _until(self, reply: Future[Outcome]) -> Outcome:
        return reply.result()

    async def _by_sender(self, work: Callable[[], Outcome]) -> Outcome:
        return work()

    async def _aside(self, work: Callable[[], Outcome]) -> Outcome:
        return work()


class AsyncioClient:
    """Client whose operations are coroutines. A single thread sends, as sending waits while Kafka is unreachable."""

    async def _until(self, reply: Future[Outcome]) -> Outcome:
        # The channel's thread completes its futures, which asyncio cannot await.
        return await asyncio.wrap_future(reply)

    async def _by_sender(self, work: Callable[[], Outcome]) -> Outcome:
        return await asyncio.get_running_loop().run_in_executor(self._sender, work)

    async def _aside(self, work: Callable[[], Outcome]) -> Outcome:
        return await asyncio.to_thread(work)

    @cached_property
    def _sender(self) -> ThreadPoolExecutor:
        return ThreadPoolExecutor(max_workers=1, thread_name_prefix="admin-sender")

    def _end_sender(self) -> None:
        # The caller is the executor's own thread, which ends after this task.
        self.__dict__.pop("_sender").shutdown(wait=False)


class ClientMethod(Generic[Arguments, Answer]):
    """Decorator of a coroutine in a base class of a blocking and an asyncio client."""

    def __init__(
        self, coroutine: Callable[Concatenate[Any, Arguments], Coroutine[Any, Any, Answer]]
    ) -> None:
        self._coroutine = coroutine
        self._blocking = _blocking(coroutine)

    @overload
    def __get__(self, client: None, owner: type) -> Callable[..., Any]: ...
    @overload
    def __get__(self, client: BlockingClient, owner: type) -> Callable[Arguments, Answer]: ...
    @overload
    def __get__(
        self, client: AsyncioClient, owner: type
    ) -> Callable[Arguments, Coroutine[Any, Any, Answer]]: ...
    def __get__(self, client: object, owner: type) -> Callable[..., Any]:
        # The class of the client decides how its methods wait.
        method = self._blocking if issubclass(owner, BlockingClient) else self._coroutine
        return method if client is None else MethodType(method, client)


def _blocking(coroutine: Callable[..., Coroutine[Any, Any, Answer]]) -> Callable[..., Answer]:
    @wraps(coroutine)
    def method(*arguments: Any, **named: Any) -> Answer:
        # The first step runs to the end, as all waits of a blocking client block.
        running = coroutine(*arguments, **named)
        try:
            running.send(None)
        except StopIteration as end:
            response: Answer = end.value
            return response
        # Python warns about a coroutine that is never closed.
        running.close()
        raise AssertionError(
            f"{coroutine.__qualname__} gave way to an event loop that is not there"
        )

    return method


CLIENT_ID = "group-coordinator-admin"
Key = TypeVar("Key")


class AdminBase(ABC):
    """Operations that connect with the first request. BlockingClient and AsyncioClient define how to wait."""

    def __init__(  # noqa: PLR0913 - one a setting
        self,
        *,
        bootstrap_servers: str | Sequence[str] | None = None,
        events_topic: str | None = None,
        responses_topic: str | None = None,
        tables_root: str | None = None,
        cluster_id: str | None = None,
        request_timeout_ms: int | None = None,
        client_options: Mapping[str, Any] | None = None,
        channel: Channel | None = None,
    ) -> None:
        """Take the settings, without connecting. Arguments without a value have the values of conf/coordinator.toml.

        `cluster_id`: only groups of this cluster are listed; None: of all in the tables. `client_options` are kafka-python's own,
        for security. Closing the client leaves a given `channel` open; None: the client opens its own.
        """
        if bootstrap_servers is not None and not isinstance(bootstrap_servers, str):
            # Settings have the servers as a text.
            bootstrap_servers = ",".join(bootstrap_servers)
        given: dict[str, Any] = {
            "bootstrap_servers": bootstrap_servers,
            "events_topic": events_topic,
            "responses_topic": responses_topic,
            "tables_root": tables_root,
            "request_timeout_ms": request_timeout_ms,
        }
        self._job = replace(
            settings.load().job,
            **{name: value for name, value in given.items() if value is not None},
        )
        self._cluster_id = cluster_id
        self._connection = Connection(self._job.bootstrap_servers, client_options or {})
        self._shared_channel = channel

    @property
    def events_topic(self) -> str:
        """Topic of this client's requests."""
        return self._job.events_topic

    @ClientMethod
    async def close(self) -> None:
        """Disconnect, if the client is connected.

        >>> admin.close()
        """
        await self._by_sender(self._close_channel)

    @abstractmethod
    async def _until(self, reply: Future[Outcome]) -> Outcome: ...

    @abstractmethod
    async def _by_sender(self, work: Callable[[], Outcome]) -> Outcome:
        """Run work that opens the channel or sends: it waits while the cluster is unreachable."""

    @abstractmethod
    async def _aside(self, work: Callable[[], Outcome]) -> Outcome:
        """Run blocking work that does not need the channel."""

    async def _answer(self, request: Request) -> Body:
        """Send a request, and wait for the response. Raises ChannelError: there is none."""
        [body] = (await self._answers({"": request})).values()
        return body

    async def _answers(self, requests: Mapping[Key, Request]) -> dict[Key, Body]:
        """Send all requests at once. Raises ChannelError: a request has no response."""
        # All requests are sent before the first wait.
        sent = await self._by_sender(lambda: self._send(requests))
        return {key: await self._until(reply) for key, reply in sent.items()}

    async def _outcomes(
        self, requests: Mapping[Key, Request], read: Callable[[Body], Outcome]
    ) -> dict[Key, Outcome | ChannelError]:
        """Send all requests at once; a request without a response does not hide the other responses."""
        sent = await self._by_sender(lambda: self._send(requests))
        outcomes: dict[Key, Outcome | ChannelError] = {}
        for key, reply in sent.items():
            try:
                outcomes[key] = read(await self._until(reply))
            except ChannelError as error:
                outcomes[key] = error
        return outcomes

    def _send(self, requests: Mapping[Key, Request]) -> dict[Key, Future[Body]]:
        channel = self._own_channel if self._shared_channel is None else self._shared_channel
        return {key: channel.send(request) for key, request in requests.items()}

    def _close_channel(self) -> None:
        if "_own_channel" in self.__dict__:
            self._own_channel.close()

    @cached_property
    def _own_channel(self) -> RequestChannel:
        # Opened at the first request: a client that only lists groups needs no channel.
        return RequestChannel(
            self._connection,
            events_topic=self._job.events_topic,
            responses_topic=self._job.responses_topic,
            request_timeout_ms=self._job.request_timeout_ms,
            client_id=CLIENT_ID,
            principal=self._connection.principal,
        )
