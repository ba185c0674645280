"""Channel of requests and responses over the two topics, matched by correlation id."""

from __future__ import annotations

import asyncio
import logging
import os
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
from group_coordinator.clients.cluster.connection import Connection
from group_coordinator.clients.cluster.lasting_client import LastingClient, LastingProducer
from group_coordinator.clients.errors import (
    BrokerUnreachableError,
    ChannelClosedError,
    ChannelError,
    RequestTimedOutError,
    TopicMissingError,
)

Body: TypeAlias = dict[str, Any]
"""Body of an event or of a response, with Kafka's own field names."""


class Request(NamedTuple):
    """API call for a group; `body` has Kafka's request fields of that version."""

    api: str
    version: int
    group_id: str
    body: Mapping[str, Any]
    client_id: str | None = None
    """None: the channel's client id."""

    def event(
        self, correlation_id: str, reply_partition: int | None, client_host: str, principal: str
    ) -> bytes:
        """Value of the event's record; the key is the group id."""
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
    """Interface of RequestChannel for members and admin clients."""

    def send(self, request: Request, *, timeout_ms: int | None = None) -> Future[Body]:
        """Send a request; return the future response."""


_log = logging.getLogger(__name__)


class Response(Struct, rename="camel", gc=False):
    """Response in the form that the job writes."""

    api: str | None = None
    group_id: str = ""
    at: int = 0
    correlation_id: str | None = None
    body: Raw = Raw(b"{}")


def read(value: bytes, name: str) -> tuple[Response, Body | None] | None:
    """Parse a response, and its body if its correlation id begins with `name`. None: the value is no response, which is logged."""
    try:
        response = json.decode(value, type=Response)
        # Bodies of other clients' responses are not parsed.
        is_ours = (response.correlation_id or "").startswith(name)
        return response, json.decode(response.body, type=Body) if is_ours else None
    except (ValueError, RecursionError):  # the last: nested too deep
        _log.warning("not a response of the coordinator: %r", value[:200])
        return None


_DONE = (InvalidStateError, asyncio.InvalidStateError)
"""Errors of a future that its owner has cancelled."""


class PendingReply(Future[Body]):
    """Future response to a request, with its deadline."""

    def __init__(self, request: Request, timeout_s: float, now_s: float) -> None:
        super().__init__()
        self.request = request
        self.timeout_s = timeout_s
        self.deadline_s = now_s + timeout_s


_Reply = TypeVar("_Reply", PendingReply, "asyncio.Future[Body]")


class PendingReplies(Generic[_Reply]):
    """Pending requests by correlation id. For PendingReply it is thread-safe; asyncio's futures belong to their loop.

    A response completes its future once. A repeated response, or a response to another client, finds no future and is
    dropped.
    """

    def __init__(self, name: str) -> None:
        """Take the beginning of all correlation ids, which separates the responses from those to other clients."""
        self.name = name
        self._numbers = count(1)
        self._pending: dict[str, _Reply] = {}
        self._broken: ChannelError | None = None

    def __len__(self) -> int:
        return len(self._pending)

    def __contains__(self, correlation_id: str) -> bool:
        return correlation_id in self._pending

    def put(self, reply: _Reply) -> str:
        """Add a request before it is sent; return its correlation id. Raises ChannelError: the channel is broken."""
        correlation_id = f"{self.name}-{next(self._numbers)}"
        self._pending[correlation_id] = reply
        # Checked after the request is added: `fail_all` in another thread sees this request, or this line sees its error.
        if self._broken is not None:
            self._pending.pop(correlation_id, None)
            raise self._broken
        return correlation_id

    def answer(self, correlation_id: str, body: Body) -> None:
        """Complete the request's future, if it is pending."""
        reply = self._pending.pop(correlation_id, None)
        if reply is not None:
            with suppress(*_DONE):
                reply.set_result(body)

    def fail(self, correlation_id: str, error: Exception) -> None:
        """Fail a request that gets no response."""
        reply = self._pending.pop(correlation_id, None)
        if reply is not None:
            with suppress(*_DONE):
                reply.set_exception(error)

    def fail_all(self, error: ChannelError) -> None:
        """Fail all pending and all later requests."""
        self._broken = error
        for correlation_id in list(self._pending):
            self.fail(correlation_id, error)


class TimedReplies(PendingReplies[PendingReply]):
    """Pending requests that fail after their deadlines."""

    def expire(self, now_s: float) -> None:
        """Fail the requests after their deadlines."""
        # A copy, as other threads add and remove requests meanwhile.
        for correlation_id, reply in self._pending.copy().items():
            if reply.deadline_s <= now_s:
                self.fail(correlation_id, _timed_out(correlation_id, reply))


def _timed_out(correlation_id: str, reply: PendingReply) -> RequestTimedOutError:
    return RequestTimedOutError(
        f"no response to {reply.request} (correlation id {correlation_id}) in {reply.timeout_s:g} s: check that "
        "the job runs (`group-coordinator run`) and is not older than this client"
    )


class ResponseReader(LastingClient[KafkaConsumer]):
    """Single-threaded reader of the responses topic; its methods raise a KafkaError if the topic cannot be read.

    `positions` has the offsets of partitions that were read before, by number, and is kept up to date. The other options are
    those of KafkaConsumer.
    """

    def __init__(
        self, connection: Connection, topic: str, positions: dict[int, int], **options: Any
    ) -> None:
        super().__init__(
            connection,
            KafkaConsumer,
            # A missing topic is an error of the set-up, which must not create it.
            allow_auto_create_topics=False,
            enable_auto_commit=False,
            # Nobody reads them, and they take an eighth of the reader's processor time.
            metrics_enabled=False,
            # If retention has deleted the position, reading continues at the oldest response.
            auto_offset_reset="earliest",
            **options,
        )
        self._topic = topic
        self._positions = positions
        self.numbers: list[int] = []
        """Numbers of the assigned partitions."""

    def partitions_of(self, topic: str) -> list[int]:
        """Partition numbers of a topic. Raises TopicMissingError: it does not exist."""
        # Without partitions the client is closed, so that a later call reads the metadata again.
        numbers = sorted(self.opened().partitions_for_topic(topic) or ())
        if not numbers:
            self.close()
            raise TopicMissingError(topic)
        return numbers

    def begin(self, numbers: list[int]) -> None:
        """Read these partitions from their positions; a partition without a position is read from now on."""
        for partition, end in self.opened().end_offsets(self._assign(numbers)).items():
            # The position is kept at once, so that a reader that connects again misses nothing.
            self.opened().seek(partition, self._positions.setdefault(partition.partition, end))

    def add_new_partitions(self) -> None:
        """Read new partitions from their beginning; assigned partitions keep their positions."""
        numbers = sorted(self.opened().partitions_for_topic(self._topic) or ())
        if len(numbers) > len(self.numbers):
            self._assign(numbers)

    def poll(self, timeout_ms: int) -> Iterator[bytes]:
        """Yield the values that have arrived; other clients' responses may be among them."""
        records = self.poll_records(timeout_ms)
        return (record.value for record in records if record.value is not None)

    def poll_records(self, timeout_ms: int) -> Iterator[Any]:
        """Yield the records that have arrived."""
        for partition, records in self.opened().poll(timeout_ms=timeout_ms).items():
            yield from records
            self._positions[partition.partition] = records[-1].offset + 1

    def _assign(self, numbers: list[int]) -> list[TopicPartition]:
        partitions = [TopicPartition(self._topic, number) for number in numbers]
        self.opened().assign(partitions)
        self.numbers = numbers
        return partitions


def reply_partition_from_now(
    connection: Connection, events_topic: str, responses_topic: str, lot: int
) -> ResponseReader:
    """Open a reader of a single partition, which requests name as their reply partition. Few other responses arrive there.

    `lot` is a random number of the client, from 0 up: clients with different lots share the partitions evenly. Raises ChannelError: the
    cluster does not answer, rejects the login, or a topic is missing.
    """
    reader = ResponseReader(connection, responses_topic, {})
    with reader.reported_failures():
        reader.partitions_of(events_topic)
        numbers = reader.partitions_of(responses_topic)
        reader.begin([numbers[lot % len(numbers)]])
    return reader


POLL_TIMEOUT_MS = 100
"""Longest delay of a timeout."""


class RequestChannel:
    """Channel to the coordinator that any number of threads, members and admin clients can share.

    It reads one random partition of the responses topic, from its end at the time when the channel opens, so that it
    reads no older responses; all its requests name that partition. A thread reads the responses and fails late
    requests.
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
        self._process_id = os.getpid()
        self._events_topic = events_topic
        self._request_timeout_s = request_timeout_ms / 1000
        self._client_id = client_id
        self._principal = principal or connection.principal
        # Kafka's form of a host begins with a slash.
        self._client_host = f"/{connection.local_address()}"
        # A random name separates the responses of all clients.
        instance = uuid.uuid4()
        self._pending = TimedReplies(instance.hex)
        self._replies = reply_partition_from_now(
            connection, events_topic, responses_topic, lot=instance.int
        )
        self._producer = LastingProducer(connection, allow_auto_create_topics=False)
        self._reader = Background(self._read, f"replies-{instance.hex}")
        self._reader.start()

    def send(self, request: Request, *, timeout_ms: int | None = None) -> Future[Body]:
        """Send a request; the future returns the response's body, or raises a ChannelError.

        A JoinGroup waits for the other members: such a request needs a longer timeout. Raises ChannelClosedError: the channel is closed,
        or another process's.
        """
        # A fork has no thread of the channel: its requests would wait forever.
        if os.getpid() != self._process_id:
            raise ChannelClosedError(
                "the channel is another process's: open a channel after a fork"
            )
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
            # The producer reports a failed delivery in its own thread.
            sending.add_errback(
                lambda error: self._pending.fail(correlation_id, _not_sent(request, error))
            )
        return reply

    def close(self) -> None:
        """Stop reading; pending requests fail with ChannelClosedError."""
        self._reader.end()
        self._producer.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def _read(self, ended: Event) -> None:
        failure = ChannelClosedError("the channel was closed before the response arrived")
        try:
            while not ended.is_set():
                self._take(self._replies.poll(POLL_TIMEOUT_MS))
                # The reading thread also watches the deadlines.
                self._pending.expire(time.monotonic())
        except KafkaError as error:
            failure = ChannelClosedError(f"the responses topic cannot be read: {error}")
        finally:
            # No pending request may wait for its timeout after the end.
            self._pending.fail_all(failure)
            self._replies.close()

    def _take(self, values: Iterable[bytes]) -> None:
        name = self._pending.name
        marker = name.encode()
        for value in values:
            # Other clients' responses arrive here too; a search in the bytes is far cheaper than parsing them.
            if marker in value and (found := read(value, name)) is not None:
                response, body = found
                if response.correlation_id is not None and body is not None:
                    self._pending.answer(response.correlation_id, body)


def _not_sent(request: Request, error: Exception) -> ChannelError:
    return BrokerUnreachableError(f"{request} could not be sent: {error}")
