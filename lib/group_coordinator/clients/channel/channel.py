"""Requests and responses over the two topics, matched by correlation id."""

from __future__ import annotations

import asyncio
import logging
import time
import uuid
from collections.abc import Iterable, Iterator, Mapping
from concurrent.futures import Future, InvalidStateError
from contextlib import suppress
from itertools import count
from threading import Event
from typing import Any, Generic, NamedTuple, Protocol, Self, TypeAlias, TypeVar

from kafka import KafkaConsumer, TopicPartition
from kafka.errors import KafkaError
from msgspec import Raw, Struct, json

from group_coordinator.background import Background
from group_coordinator.clients.channel_errors import (
    BrokerUnreachableError,
    ChannelClosedError,
    ChannelError,
    RequestTimedOutError,
    TopicMissingError,
)
from group_coordinator.clients.cluster.connection import Connection
from group_coordinator.clients.cluster.lasting_client import LastingClient
from group_coordinator.clients.cluster.lasting_producer import LastingProducer

Body: TypeAlias = dict[str, Any]
"""The body of an event or of a response, with Kafka's own field names."""


class Request(NamedTuple):
    """One API call for one group; `body` has Kafka's request fields of that version."""

    api: str
    version: int
    group_id: str
    body: Mapping[str, Any]
    client_id: str | None = None
    """None: the channel's own."""

    def event(
        self, correlation_id: str, reply_partition: int | None, client_host: str, principal: str
    ) -> bytes:
        """The value of its record in the events topic; the key is the group id."""
        return json.encode(
            {
                "api": self.api,
                "version": self.version,
                "correlationId": correlation_id,
                "replyPartition": reply_partition,
                "clientId": self.client_id,
                "clientHost": client_host,
                "principal": principal,
                "body": self.body,
            }
        )

    def __str__(self) -> str:
        return f"{self.api} v{self.version} for group {self.group_id!r}"


class Channel(Protocol):
    """What members and admin clients need of a RequestChannel."""

    def send(self, request: Request, *, timeout_ms: int | None = None) -> Future[Body]:
        """Send a request."""
        ...


_log = logging.getLogger(__name__)


class Response(Struct, rename="camel", gc=False):
    """A response as the job writes it."""

    api: str | None = None
    group_id: str = ""
    at: int = 0
    correlation_id: str | None = None
    body: Raw = Raw(b"{}")


def read(value: bytes, name: str) -> tuple[Response, Body | None] | None:
    """A response, and its body if its correlation id begins with `name`; None: the value is no response, which the log says."""
    try:
        response = json.decode(value, type=Response)
        is_ours = (response.correlation_id or "").startswith(name)
        return response, json.decode(response.body, type=Body) if is_ours else None
    except (ValueError, RecursionError):  # the last: nested too deep
        _log.warning("not a response of the coordinator: %r", value[:200])
        return None


_DONE = (InvalidStateError, asyncio.InvalidStateError)
"""Whoever asked has cancelled the future."""


class PendingReply(Future[Body]):
    """The response to a request, and until when it is waited for."""

    def __init__(self, request: Request, timeout_s: float, now_s: float) -> None:
        super().__init__()
        self.request = request
        self.timeout_s = timeout_s
        self.deadline_s = now_s + timeout_s


_Reply = TypeVar("_Reply", PendingReply, "asyncio.Future[Body]")


class PendingReplies(Generic[_Reply]):
    """Any thread may use those of the class PendingReply; those of an event loop belong to the loop.

    A response completes its future once. A repeated response, or one to somebody else, finds no future and is dropped.
    """

    def __init__(self, name: str) -> None:
        """Correlation ids begin with `name`, by which responses are told from those to others."""
        self.name = name
        self._numbers = count(1)
        self._pending: dict[str, _Reply] = {}
        self._broken: ChannelError | None = None

    def __len__(self) -> int:
        return len(self._pending)

    def put(self, reply: _Reply) -> str:
        """The correlation id of a request that is about to be sent."""
        correlation_id = f"{self.name}-{next(self._numbers)}"
        self._pending[correlation_id] = reply
        # Behind the line above: `fail_all` in another thread sees this one, or is seen here.
        if self._broken is not None:
            self._pending.pop(correlation_id, None)
            raise self._broken
        return correlation_id

    def answer(self, correlation_id: str, body: Body) -> bool:
        """Whether somebody waited for it."""
        reply = self._pending.pop(correlation_id, None)
        if reply is None:
            return False
        try:
            reply.set_result(body)
        except _DONE:
            return False
        return True

    def fail(self, correlation_id: str, error: Exception) -> None:
        """There will be no response."""
        reply = self._pending.pop(correlation_id, None)
        if reply is not None:
            with suppress(*_DONE):
                reply.set_exception(error)

    def fail_all(self, error: ChannelError) -> None:
        """There will be no responses, nor to requests to come."""
        self._broken = error
        for correlation_id in list(self._pending):
            self.fail(correlation_id, error)


class TimedReplies(PendingReplies[PendingReply]):
    """Futures that fail after their deadlines."""

    def expire(self, now_s: float) -> None:
        """Fail the requests whose deadline is over."""
        for correlation_id, reply in self._pending.copy().items():
            if reply.deadline_s <= now_s:
                self.fail(correlation_id, _timed_out(correlation_id, reply))


def _timed_out(correlation_id: str, reply: PendingReply) -> RequestTimedOutError:
    return RequestTimedOutError(
        f"no answer to {reply.request} (correlation id {correlation_id}) in {reply.timeout_s:g} s; "
        "is the job running, and not older than this client? `group-coordinator run` starts it"
    )


class ResponseReader(LastingClient[KafkaConsumer]):
    """One thread may call its methods, which raise a KafkaError where the topic cannot be read.

    Args:
        connection: how the cluster is reached.
        topic: the responses topic.
        positions: of partitions that were read before, by number; kept up to date.
        options: of KafkaConsumer.
    """

    def __init__(
        self, connection: Connection, topic: str, positions: dict[int, int], **options: Any
    ) -> None:
        super().__init__(
            connection,
            KafkaConsumer,
            allow_auto_create_topics=False,
            enable_auto_commit=False,
            # Where retention deletes what a position points to, the oldest response left is the right one.
            auto_offset_reset="earliest",
            **options,
        )
        self._topic = topic
        self._positions = positions
        self.numbers: list[int] = []
        """The partitions that are read."""

    def partitions_of(self, topic: str) -> list[int]:
        """The numbers of its partitions.

        Raises:
            TopicMissingError: it does not exist.
        """
        numbers = sorted(self.opened().partitions_for_topic(topic) or ())
        if not numbers:
            self.close()
            raise TopicMissingError(topic)
        return numbers

    def begin(self, numbers: list[int]) -> None:
        """Read these partitions from their positions, and from now on where there is none."""
        for partition, end in self.opened().end_offsets(self._assign(numbers)).items():
            self.opened().seek(partition, self._positions.setdefault(partition.partition, end))

    def add_new_partitions(self) -> None:
        """Read new partitions from their beginning; those that are read already keep their positions."""
        numbers = sorted(self.opened().partitions_for_topic(self._topic) or ())
        if len(numbers) > len(self.numbers):
            self._assign(numbers)

    def poll(self, timeout_ms: int) -> Iterator[bytes]:
        """The values that have arrived; other clients' responses may be among them."""
        for partition, records in self.opened().poll(timeout_ms=timeout_ms).items():
            yield from (record.value for record in records if record.value is not None)
            self._positions[partition.partition] = records[-1].offset + 1

    def _assign(self, numbers: list[int]) -> list[TopicPartition]:
        partitions = [TopicPartition(self._topic, number) for number in numbers]
        self.opened().assign(partitions)
        self.numbers = numbers
        return partitions


def reply_partition_from_now(
    connection: Connection, events_topic: str, responses_topic: str, lot: int
) -> ResponseReader:
    """Reads one partition: where every response arrives to a request that names it and is sent from now on, and few others.

    `lot` is drawn by the client, from 0 up: clients with different lots share the partitions evenly.

    Raises:
        ChannelError: the cluster does not answer, does not let us in, or a topic is missing.
    """
    reader = ResponseReader(connection, responses_topic, {})
    with reader.failures_told():
        reader.partitions_of(events_topic)
        numbers = reader.partitions_of(responses_topic)
        reader.begin([numbers[lot % len(numbers)]])
    return reader


POLL_TIMEOUT_MS = 100
"""Also how late the channel may notice a timeout."""


class RequestChannel:
    """A connection to the coordinator that any number of threads, members and admin clients can share.

    It reads one partition of the responses topic, drawn by lot, from its end at the time when the channel opens, so that
    it finds answers without reading older ones; all its requests name that partition. A thread of its own takes the
    answers and lets late requests time out.
    """

    def __init__(
        self,
        connection: Connection,
        *,
        events_topic: str,
        responses_topic: str,
        request_timeout_ms: int,
        client_id: str = "group-coordinator-client",
        principal: str | None = None,
    ) -> None:
        """Connect, and fix the position in the responses topic. Without a principal it is the user who logs in.

        Raises:
            BrokerUnreachableError: the cluster does not answer.
            TopicMissingError: a topic does not exist: `group-coordinator init` has not been run.
        """
        self._events_topic = events_topic
        self._request_timeout_s = request_timeout_ms / 1000
        self._client_id = client_id
        self._principal = principal or connection.principal
        self._client_host = f"/{connection.local_address()}"
        instance = uuid.uuid4()
        self._pending = TimedReplies(instance.hex)
        self._replies = reply_partition_from_now(
            connection, events_topic, responses_topic, lot=instance.int
        )
        self._producer = LastingProducer(connection, allow_auto_create_topics=False)
        self._reader = Background(self._read, f"replies-{instance.hex}")
        self._reader.start()

    def send(self, request: Request, *, timeout_ms: int | None = None) -> Future[Body]:
        """Send a request; the future gives the response's body, or a ChannelError.

        A parked JoinGroup is answered only when its group has met: such a request needs a longer timeout.
        """
        timeout_s = self._request_timeout_s if timeout_ms is None else timeout_ms / 1000
        reply = PendingReply(request, timeout_s, time.monotonic())
        correlation_id = self._pending.put(reply)
        named = request._replace(client_id=request.client_id or self._client_id)
        [partition] = self._replies.numbers
        try:
            sending = self._producer.send(
                self._events_topic,
                key=request.group_id.encode(),
                value=named.event(correlation_id, partition, self._client_host, self._principal),
            )
        except (KafkaError, ChannelError) as error:
            self._pending.fail(correlation_id, _not_sent(request, error))
        else:
            sending.add_errback(
                lambda error: self._pending.fail(correlation_id, _not_sent(request, error))
            )
        return reply

    def close(self) -> None:
        """Stop reading; what is not answered yet fails with ChannelClosedError."""
        self._reader.end()
        self._producer.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def _read(self, ended: Event) -> None:
        failure = ChannelClosedError("the channel was closed before the answer came")
        try:
            while not ended.is_set():
                self._take(self._replies.poll(POLL_TIMEOUT_MS))
                self._pending.expire(time.monotonic())
        except KafkaError as error:
            failure = ChannelClosedError(f"the responses topic cannot be read: {error}")
        finally:
            self._pending.fail_all(failure)
            self._replies.close()

    def _take(self, values: Iterable[bytes]) -> None:
        name = self._pending.name
        marker = name.encode()
        for value in values:
            # Other clients' answers pass by here too; a search in the bytes is far cheaper than parsing them.
            if marker in value and (found := read(value, name)) is not None:
                response, body = found
                if response.correlation_id is not None and body is not None:
                    self._pending.answer(response.correlation_id, body)


def _not_sent(request: Request, error: Exception) -> ChannelError:
    return BrokerUnreachableError(f"{request} could not be sent: {error}")
