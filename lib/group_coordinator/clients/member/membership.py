"""The membership of either protocol: its state, and its requests over the shared channel, one at a time."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Collection
from concurrent.futures import Future, wait
from functools import partial
from typing import NamedTuple

from kafka import TopicPartition

from group_coordinator.clients.channel.channel import Body, Channel, Request
from group_coordinator.clients.channel_errors import RequestTimedOutError
from group_coordinator.clients.errors import ClientError
from group_coordinator.clients.member.options import MemberOptions, MemberState, SubscriptionPattern
from group_coordinator.clients.member_identity import MemberIdentity
from group_coordinator.clients.offset_messages import Offsets, commit_offsets, partition_results
from group_coordinator.clients.results import PartitionResults
from group_coordinator.core.model.errors import ErrorCode

COORDINATOR_AWAY = frozenset(
    {
        ErrorCode.COORDINATOR_LOAD_IN_PROGRESS,
        ErrorCode.COORDINATOR_NOT_AVAILABLE,
        ErrorCode.NOT_COORDINATOR,
    }
)
"""The request is valid and may be sent again."""


class _Awaited(NamedTuple):
    reply: Future[Body]
    take: Callable[[Body], None]
    lost: Callable[[], None]


class Conversation:
    """Sends a member's requests, and hands over the answers when the member asks.

    Args:
        channel: shared with other members.
        client_id: the name of the member's client.
        clock: seconds, never going back.
    """

    def __init__(self, channel: Channel, client_id: str, clock: Callable[[], float]) -> None:
        self._channel = channel
        self._client_id = client_id
        self._clock = clock
        self._awaited: _Awaited | None = None
        self._not_before_s = 0.0
        self._failure: ClientError | None = None

    def settle(self) -> bool:
        """Hand over the answer that has come; returns whether the next request may be sent now.

        Raises:
            ClientError: the error given to `fail`, or the channel is closed.
        """
        if self._failure is not None:
            raise self._failure
        awaited = self._awaited
        if awaited is not None and awaited.reply.done():
            self._awaited = None
            if isinstance(awaited.reply.exception(), RequestTimedOutError):
                awaited.lost()
            else:
                awaited.take(awaited.reply.result())
        return self._awaited is None and self._clock() >= self._not_before_s

    def ask(
        self,
        request: Request,
        take: Callable[[Body], None],
        lost: Callable[[], None],
        timeout_ms: int | None = None,
    ) -> None:
        """Send a request: `settle` gives its answer to `take`, or calls `lost` if no answer came in time."""
        self._awaited = _Awaited(self.send(request, timeout_ms), take, lost)

    def send(self, request: Request, timeout_ms: int | None = None) -> Future[Body]:
        """Send a request without waiting for another answer."""
        request = request._replace(client_id=self._client_id)
        return self._channel.send(request, timeout_ms=timeout_ms)

    def pause(self, milliseconds: int) -> None:
        """The next request is due after so long."""
        self._not_before_s = self._clock() + milliseconds / 1000

    def go_on(self) -> None:
        """The next request is due at once."""
        self._not_before_s = 0.0

    def fail(self, error: ClientError) -> None:
        """Raise this error now and at every `settle`."""
        self._failure = error
        raise error

    def forget(self) -> None:
        """Ignore the answer to the request that was sent last."""
        self._awaited = None

    def wait(self, seconds: float) -> None:
        """Return when the answer is there, or after so long."""
        wait([self._awaited.reply] if self._awaited else [], timeout=seconds)


class Commit(NamedTuple):
    """An OffsetCommit, and how its answer is read."""

    request: Request
    results: Callable[[Body], PartitionResults]


class Membership(ABC):
    """A member that joins, heartbeats and is assigned partitions by one of the two protocols."""

    def __init__(
        self, conversation: Conversation, identity: MemberIdentity, options: MemberOptions
    ) -> None:
        self.state = MemberState.UNJOINED
        self.assignment: frozenset[TopicPartition] = frozenset()
        self.rebalances = 0
        self._conversation = conversation
        self._identity = identity
        self._options = options

    @property
    @abstractmethod
    def topics(self) -> frozenset[str]:
        """The names that it subscribes to."""

    @property
    def member_id(self) -> str:
        """Empty: the coordinator has not assigned one yet."""
        return self._identity.member_id

    @property
    @abstractmethod
    def generation_id(self) -> int:
        """The generation, or the member epoch; -1: it is not a member."""

    @abstractmethod
    def poll(self) -> None:
        """Take the answer that has come, then send the request that is due."""

    @abstractmethod
    def subscribe(self, topics: Collection[str] | SubscriptionPattern) -> None:
        """Change the subscription."""

    def commit(self, offsets: Offsets) -> Commit:
        """The commit of this member."""
        request = commit_offsets(self._identity, offsets)
        return Commit(request, partial(partition_results, partitions=list(offsets)))

    @abstractmethod
    def leave(self, reason: str) -> Request | None:
        """Stop being a member; returns the request that tells the group, None: the group does not know this member."""
