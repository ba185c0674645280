"""Request and reply over the two topics, matched by correlation id."""

from __future__ import annotations

import time
import uuid
from collections.abc import Iterable
from concurrent.futures import Future
from threading import Event
from typing import Self

from kafka.errors import KafkaError

from group_coordinator.background import Background
from group_coordinator.clients.channel.pending_replies import PendingReply, TimedReplies
from group_coordinator.clients.channel.request import Body, Request
from group_coordinator.clients.channel.response import read
from group_coordinator.clients.channel.response_reader import reply_partition_from_now
from group_coordinator.clients.channel_errors import (
    BrokerUnreachableError,
    ChannelClosedError,
    ChannelError,
)
from group_coordinator.clients.cluster.connection import Connection
from group_coordinator.clients.cluster.lasting_producer import LastingProducer

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
