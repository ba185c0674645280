"""A member of a classic group, driven step by step: it has no thread and never blocks unless asked to."""

from __future__ import annotations

import time
from base64 import b64decode
from collections.abc import Callable, Collection, Mapping
from concurrent.futures import Future, wait
from dataclasses import replace
from typing import Protocol

from kafka import TopicPartition

from group_coordinator.clients import admin_messages, member_messages
from group_coordinator.clients.client_errors import ClientError, RequestTimedOutError
from group_coordinator.clients.errors import error_for
from group_coordinator.clients.member_messages import Identity
from group_coordinator.clients.member_options import MemberOptions, MemberState
from group_coordinator.clients.requests import Body, Request
from group_coordinator.clients.results import PartitionResults
from group_coordinator.core.errors import ErrorCode

JOIN_MARGIN_MS = 10_000
"""The answer to a JoinGroup comes when the group has met, at the latest after the rebalance timeout; then it travels."""
_WAIT_S = 0.25

_REJOIN = frozenset({ErrorCode.REBALANCE_IN_PROGRESS, ErrorCode.ILLEGAL_GENERATION})
_FORGOTTEN = frozenset({ErrorCode.UNKNOWN_MEMBER_ID, ErrorCode.GROUP_ID_NOT_FOUND})
_RETRY = frozenset(
    {
        ErrorCode.COORDINATOR_LOAD_IN_PROGRESS,
        ErrorCode.COORDINATOR_NOT_AVAILABLE,
        ErrorCode.NOT_COORDINATOR,
    }
)


class Channel(Protocol):
    """What a member needs of a RequestChannel."""

    def send(self, request: Request, *, timeout_ms: int | None = None) -> Future[Body]:
        """Send a request."""
        ...


class GroupMember:
    """Joins a group, heartbeats, assigns partitions when it leads, commits, leaves.

    Call `poll` several times a second from one thread at a time; a few threads drive hundreds of members that
    share one channel. `join`, `commit` and `leave` block; `poll`, `commit_async` and `leave_async` do not.
    """

    def __init__(
        self,
        channel: Channel,
        group_id: str,
        topics: Collection[str],
        partition_counts: Mapping[str, int],
        *,
        options: MemberOptions | None = None,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        """Make a member that has not asked to join yet.

        Args:
            channel: shared with other members and admin clients.
            group_id: the group to join.
            topics: what to subscribe to.
            partition_counts: how many partitions each topic of the group has, for the member that leads;
                `Cluster.partition_counts` asks the brokers.
            options: timeouts and names.
            clock: seconds, never going back.
        """
        self.topics = frozenset(topics)
        self.state = MemberState.UNJOINED
        self.assignment: frozenset[TopicPartition] = frozenset()
        self.rebalances = 0
        """How often this member got an assignment."""
        self._channel = channel
        self._partition_counts = partition_counts
        self._options = options or MemberOptions()
        self._clock = clock
        self._identity = Identity(group_id, group_instance_id=self._options.group_instance_id)
        self._joined_topics: frozenset[str] = frozenset()
        self._awaited: tuple[Future[Body], Callable[[Body], None]] | None = None
        self._not_before_s = 0.0
        self._failure: ClientError | None = None

    @property
    def member_id(self) -> str:
        """The id that the coordinator gave; empty before."""
        return self._identity.member_id

    @property
    def generation_id(self) -> int:
        """The generation that this member joined last; -1 before."""
        return self._identity.generation_id

    def poll(self) -> None:
        """Take the answer that has come, then send what is due: a join, a sync, or a heartbeat.

        Raises:
            ClientError: the coordinator refuses this member for good, or the channel is closed.
        """
        if self._failure is not None:
            raise self._failure
        self._take_answer()
        if self._awaited is not None or self._clock() < self._not_before_s:
            return
        if self.state is MemberState.STABLE and self.topics != self._joined_topics:
            self._start_over()
        if self.state is MemberState.UNJOINED:
            self._join()
        elif self.state is MemberState.STABLE:
            self._heartbeat()

    def join(self, timeout_ms: int = 120_000) -> None:
        """Poll until this member has an assignment.

        Raises:
            TimeoutError: it took too long.
        """
        deadline_s = self._clock() + timeout_ms / 1000
        self.poll()
        while self.state is not MemberState.STABLE:
            if self._clock() >= deadline_s:
                raise TimeoutError(
                    f"{self._options.client_id} is still {self.state} in group {self._identity.group_id!r} "
                    f"after {timeout_ms} ms"
                )
            wait([self._awaited[0]] if self._awaited else [], timeout=_WAIT_S)
            self.poll()

    def subscribe(self, topics: Collection[str]) -> None:
        """Change the subscription: the next poll joins again, and the group rebalances."""
        self.topics = frozenset(topics)

    def commit_async(self, offsets: admin_messages.Offsets) -> Future[PartitionResults]:
        """Commit as this member; a member that is no longer one learns it from its next heartbeat."""
        identity = self._identity
        request = admin_messages.commit_offsets(
            identity.group_id, offsets, identity.commit_fields()
        )
        wanted = list(offsets)
        return _mapped(
            self._send(request), lambda body: admin_messages.partition_results(body, wanted)
        )

    def commit(self, offsets: admin_messages.Offsets) -> None:
        """Commit and wait; raises the first partition's error."""
        self.commit_async(offsets).result().all()

    def leave_async(self, reason: str = "the member is being closed") -> Future[Body]:
        """Say goodbye, so that the group need not wait for the session to lapse."""
        request = member_messages.leave_group(self._identity, reason)
        self.state = MemberState.LEFT
        self.assignment = frozenset()
        self._awaited = None
        if not self.member_id:
            nothing: Future[Body] = Future()
            nothing.set_result({})
            return nothing
        return self._send(request)

    def leave(self) -> None:
        """Leave and wait until the coordinator knows; it no longer matters if it knew already."""
        self.leave_async().result()

    def _take_answer(self) -> None:
        if self._awaited is None or not self._awaited[0].done():
            return
        reply, take = self._awaited
        self._awaited = None
        if isinstance(reply.exception(), RequestTimedOutError):
            # A lost heartbeat is followed by another one; a lost join or sync has to begin anew.
            if self.state is not MemberState.STABLE:
                self._start_over()
            return
        body = reply.result()
        if body["errorCode"]:
            self._refused(body)
        else:
            take(body)

    def _refused(self, body: Body) -> None:
        code = body["errorCode"]
        if code in _RETRY:
            self._try_later()
            return
        if code == ErrorCode.MEMBER_ID_REQUIRED:
            self._identity = replace(self._identity, member_id=body["memberId"])
        elif code in _FORGOTTEN:
            self._identity = replace(self._identity, member_id="", generation_id=-1)
        elif code not in _REJOIN:
            self.state = MemberState.FAILED
            self._failure = error_for(code, body.get("errorMessage"))
            raise self._failure
        self._start_over()

    def _try_later(self) -> None:
        if self.state is not MemberState.STABLE:
            self._start_over()
        self._not_before_s = self._clock() + self._options.retry_backoff_ms / 1000

    def _start_over(self) -> None:
        self.state = MemberState.UNJOINED
        self.assignment = frozenset()
        self._not_before_s = 0.0

    def _join(self) -> None:
        options = self._options
        self._joined_topics = self.topics
        self.state = MemberState.JOINING
        request = member_messages.join_group(
            self._identity, self.topics, options.session_timeout_ms, options.rebalance_timeout_ms
        )
        self._ask(request, self._joined, options.rebalance_timeout_ms + JOIN_MARGIN_MS)

    def _joined(self, body: Body) -> None:
        self._identity = replace(
            self._identity, member_id=body["memberId"], generation_id=body["generationId"]
        )
        decision: Mapping[str, bytes] = {}
        if member_messages.is_leader(body):
            wanted = member_messages.subscriptions(body)
            decision = member_messages.assignments(wanted, self._partition_counts)
        self.state = MemberState.SYNCING
        request = member_messages.sync_group(self._identity, decision)
        self._ask(request, self._synced, self._options.rebalance_timeout_ms + JOIN_MARGIN_MS)

    def _synced(self, body: Body) -> None:
        self.assignment = frozenset(
            admin_messages.assigned_partitions(b64decode(body["assignment"]))
        )
        self.state = MemberState.STABLE
        self.rebalances += 1
        self._await_next_heartbeat()

    def _heartbeat(self) -> None:
        self._await_next_heartbeat()
        self._ask(member_messages.heartbeat(self._identity), lambda _: None)

    def _await_next_heartbeat(self) -> None:
        self._not_before_s = self._clock() + self._options.heartbeat_interval_ms / 1000

    def _ask(
        self, request: Request, take: Callable[[Body], None], timeout_ms: int | None = None
    ) -> None:
        self._awaited = self._send(request, timeout_ms), take

    def _send(self, request: Request, timeout_ms: int | None = None) -> Future[Body]:
        request = request._replace(client_id=self._options.client_id)
        return self._channel.send(request, timeout_ms=timeout_ms)


def _mapped(
    source: Future[Body], convert: Callable[[Body], PartitionResults]
) -> Future[PartitionResults]:
    target: Future[PartitionResults] = Future()

    def finish(done: Future[Body]) -> None:
        error = done.exception()
        if error is not None:
            target.set_exception(error)
        else:
            target.set_result(convert(done.result()))

    source.add_done_callback(finish)
    return target
