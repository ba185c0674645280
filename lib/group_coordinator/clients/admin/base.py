"""What both admin clients are made of: the settings, the channel, and how a request gets its answer."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import Future
from dataclasses import replace
from functools import cached_property
from typing import Any, TypeVar

from group_coordinator import settings
from group_coordinator.clients.admin.operation import Operation
from group_coordinator.clients.channel.channel import Body, Channel, Request, RequestChannel
from group_coordinator.clients.channel_errors import ChannelError
from group_coordinator.clients.cluster.connection import Connection

CLIENT_ID = "group-coordinator-admin"
Outcome = TypeVar("Outcome")
Key = TypeVar("Key")


class AdminBase(ABC):
    """Connects with the first request; says nothing about how to wait."""

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
        """Take the settings; nothing is connected yet.

        Args:
            bootstrap_servers: of the Kafka cluster.
            events_topic: where requests go.
            responses_topic: where answers come from.
            tables_root: the folder of the Delta tables.
            cluster_id: only groups of this cluster are listed; None: of all in the tables.
            request_timeout_ms: how long an answer is waited for.
            client_options: kafka-python's own, for security.
            channel: an open one that others use too; closing the client leaves it open. None: one of its own.
        """
        if bootstrap_servers is not None and not isinstance(bootstrap_servers, str):
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
        """The topic of the requests."""
        return self._job.events_topic

    @Operation
    async def close(self) -> None:
        """Disconnect; no error if it is not connected.

        >>> admin.close()
        """
        await self._by_sender(self._close_channel)

    @abstractmethod
    async def _until(self, reply: Future[Outcome]) -> Outcome:
        """Wait for a reply."""

    @abstractmethod
    async def _by_sender(self, work: Callable[[], Outcome]) -> Outcome:
        """Do what opens the channel or sends over it: that waits while the cluster is away."""

    @abstractmethod
    async def _aside(self, work: Callable[[], Outcome]) -> Outcome:
        """Do what blocks and does not need the channel."""

    async def _answer(self, request: Request) -> Body:
        """Ask, and wait for the answer.

        Raises:
            ChannelError: there is none.
        """
        [body] = (await self._answers({"": request})).values()
        return body

    async def _answers(self, requests: Mapping[Key, Request]) -> dict[Key, Body]:
        """Ask everything at once.

        Raises:
            ChannelError: there is no answer to one of the requests.
        """
        sent = await self._by_sender(lambda: self._send(requests))
        return {key: await self._until(reply) for key, reply in sent.items()}

    async def _outcomes(
        self, requests: Mapping[Key, Request], read: Callable[[Body], Outcome]
    ) -> dict[Key, Outcome | ChannelError]:
        """Ask everything at once; what has no answer does not hide the other answers."""
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
        return RequestChannel(
            self._connection,
            events_topic=self._job.events_topic,
            responses_topic=self._job.responses_topic,
            request_timeout_ms=self._job.request_timeout_ms,
            client_id=CLIENT_ID,
            principal=self._connection.principal,
        )
