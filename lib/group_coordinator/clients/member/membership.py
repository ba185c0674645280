"""Membership of either protocol: its options, its state, and its requests over the shared channel.

Each request is sent after the response to the last.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Collection
from concurrent.futures import Future, wait
from dataclasses import dataclass
from enum import StrEnum
from functools import partial
from typing import Literal, NamedTuple

from kafka import TopicPartition

from group_coordinator.clients.channel import Body, Channel, Request
from group_coordinator.clients.errors import ClientError, RequestTimedOutError
from group_coordinator.clients.offset_messages import (
    MemberIdentity,
    Offsets,
    commit_offsets,
    partition_results,
)
from group_coordinator.clients.results import PartitionResults
from group_coordinator.core.model.errors import ErrorCode


class MemberState(StrEnum):
    """States in the life of a member; a poll may change the state."""

    UNJOINED = "unjoined"
    """The next poll sends a join."""
    JOINING = "joining"
    """A join is pending. A JoinGroup of the classic protocol waits until all members have joined."""
    SYNCING = "syncing"
    """SyncGroup waits for the leader's assignment; in the classic protocol only."""
    STABLE = "stable"
    """Membership with an assignment; polls send heartbeats."""
    FAILED = "failed"
    """Rejected for good; polls raise the reason."""
    LEFT = "left"
    """Left the group; polls do nothing."""


class SubscriptionPattern(NamedTuple):
    """A regular expression (RE2) of topic names, resolved by the coordinator; in the consumer protocol only."""

    regex: str


@dataclass(frozen=True, slots=True)
class MemberOptions:
    """Kafka's consumer settings of the same names.

    A response takes about a second (the job works in batches), so the session must outlast several heartbeats. In the
    consumer protocol (KIP-848) the group's settings have the session timeout and the heartbeat interval.
    """

    client_id: str = "group-coordinator-member"
    group_instance_id: str | None = None
    group_protocol: Literal["classic", "consumer"] = "classic"
    session_timeout_ms: int = 45_000
    """Classic protocol only."""
    rebalance_timeout_ms: int = 60_000
    heartbeat_interval_ms: int = 3_000
    """Classic protocol only."""
    retry_backoff_ms: int = 500
    group_remote_assignor: str | None = None
    """uniform or range; None: the group's first. Consumer protocol only."""
    client_rack: str | None = None
    """Consumer protocol only."""


COORDINATOR_AWAY = frozenset(
    {
        ErrorCode.COORDINATOR_LOAD_IN_PROGRESS,
        ErrorCode.COORDINATOR_NOT_AVAILABLE,
        ErrorCode.NOT_COORDINATOR,
    }
)
"""Errors after which a valid request may be sent again."""


class _Awaited(NamedTuple):
    reply: Future[Body]
    take: Callable[[Body], None]
    lost: Callable[[], None]


class Conversation:
    """Sends a member's requests, and delivers the responses in `settle`."""

    def __init__(self, channel: Channel, client_id: str, clock: Callable[[], float]) -> None:
        self._channel = channel
        self._client_id = client_id
        self._clock = clock
        self._awaited: _Awaited | None = None
        self._not_before_s = 0.0
        self._failure: ClientError | None = None

    def settle(self) -> bool:
        """Deliver the response; return True if the next request may be sent now.

        ClientError: the error given to `fail`, or the channel is closed.
        """
        if self._failure is not None:
            raise self._failure
        awaited = self._awaited
        if awaited is not None and awaited.reply.done():
            self._awaited = None
            # After a timeout the request may have had its effect, so each protocol decides how to continue. `result`
            # below raises other errors.
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
        """Send a request: `settle` passes its response to `take`, or calls `lost` after the timeout."""
        self._awaited = _Awaited(self.send(request, timeout_ms), take, lost)

    def send(self, request: Request, timeout_ms: int | None = None) -> Future[Body]:
        """Send a request independently of the pending request."""
        # A channel is shared, and each member has a client id of its own.
        request = request._replace(client_id=self._client_id)
        return self._channel.send(request, timeout_ms=timeout_ms)

    def pause(self, milliseconds: int) -> None:
        """Delay the next request by milliseconds."""
        self._not_before_s = self._clock() + milliseconds / 1000

    def go_on(self) -> None:
        """Make the next request due at once."""
        self._not_before_s = 0.0

    def fail(self, error: ClientError) -> None:
        """Raise this error now and at every `settle`."""
        self._failure = error
        raise error

    def forget(self) -> None:
        """Ignore the response to the last request."""
        self._awaited = None

    def wait(self, seconds: float) -> None:
        """Return when the response is there, or after the timeout."""
        wait([self._awaited.reply] if self._awaited else [], timeout=seconds)


class Commit(NamedTuple):
    """OffsetCommit request, and the parser of its response."""

    request: Request
    results: Callable[[Body], PartitionResults]


class Membership(ABC):
    """Member that joins, heartbeats and gets partitions by either protocol."""

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
        """Topic names of the subscription."""

    @property
    def member_id(self) -> str:
        """Member id, empty until the coordinator has assigned it."""
        return self._identity.member_id

    @property
    @abstractmethod
    def generation_id(self) -> int:
        """Generation or member epoch; -1: it is not a member."""

    @abstractmethod
    def poll(self) -> None:
        """Handle the response, then send the request that is due."""

    @abstractmethod
    def subscribe(self, topics: Collection[str] | SubscriptionPattern) -> None:
        """Change the subscription of the member."""

    def commit(self, offsets: Offsets) -> Commit:
        """Commit as this member, by topic names."""
        request = commit_offsets(self._identity, offsets)
        return Commit(request, partial(partition_results, partitions=list(offsets)))

    @abstractmethod
    def leave(self, reason: str) -> Request | None:
        """End the membership; return the leave request, None: the group does not know this member."""
