"""Member of a group, driven step by step: it has no thread, and only blocks in `join`, `commit` and `leave`."""

from __future__ import annotations

import time
from collections.abc import Callable, Collection, Mapping
from concurrent.futures import Future, InvalidStateError
from contextlib import suppress
from typing import TypeVar

from kafka import TopicPartition

from group_coordinator.clients.channel import Body, Channel
from group_coordinator.clients.member.classic import ClassicMembership
from group_coordinator.clients.member.consumer import ConsumerMembership
from group_coordinator.clients.member.membership import (
    Conversation,
    MemberOptions,
    Membership,
    MemberState,
    SubscriptionPattern,
)
from group_coordinator.clients.offset_messages import Offsets
from group_coordinator.clients.results import PartitionResults

_WAIT_S = 0.25

_Result = TypeVar("_Result")


class GroupMember:
    """Joins a group, heartbeats, gets partitions, commits and leaves, by the protocol of its options.

    Call `poll` several times a second from a single thread at a time; a few threads drive hundreds of members that
    share a channel. `join`, `commit` and `leave` block; `poll`, `commit_async` and `leave_async` do not.

    A classic member gives up all its partitions while its group rebalances, and assigns partitions to all members if it
    is the leader. A member of the consumer protocol (KIP-848) keeps its other partitions. After a poll that has removed
    partitions from its `assignment`, the next poll acknowledges that they are free for other members: the last work on
    them, such as a commit, belongs between the two polls.
    """

    def __init__(  # noqa: PLR0913 - each protocol needs other facts of the cluster
        self,
        channel: Channel,
        group_id: str,
        topics: Collection[str] | SubscriptionPattern,
        partition_counts: Mapping[str, int] | None = None,
        *,
        topic_ids: Mapping[str, str] | None = None,
        options: MemberOptions | None = None,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        """Make a member that has not asked to join yet.

        Args:
            channel: shared with other members and admin clients.
            group_id: the group to join.
            topics: the subscription: names, or in the consumer protocol a SubscriptionPattern too.
            partition_counts: partition counts of the group's topics, for the leader of a classic group;
                `Cluster.partition_counts` asks the brokers.
            topic_ids: topic ids by name, as the consumer protocol assigns topics by id; it may grow while the
                member lives. `Cluster.topic_ids` asks the brokers.
            options: the protocol, timeouts and names.
            clock: seconds, never going back.

        Raises:
            ValueError: an argument that the protocol needs is missing, or it has no patterns.
        """
        self._options = options or MemberOptions()
        self._group_id = group_id
        self._clock = clock
        self._conversation = Conversation(channel, self._options.client_id, clock)
        self._membership: Membership
        if self._options.group_protocol == "consumer":
            ids = _needed("topic_ids", topic_ids)
            self._membership = ConsumerMembership(
                self._conversation, group_id, topics, ids, self._options
            )
        else:
            counts = _needed("partition_counts", partition_counts)
            self._membership = ClassicMembership(
                self._conversation, group_id, topics, counts, self._options
            )

    @property
    def topics(self) -> frozenset[str]:
        """Topic names of the subscription; none with a pattern."""
        return self._membership.topics

    @property
    def state(self) -> MemberState:
        """State in the life of a member."""
        return self._membership.state

    @property
    def assignment(self) -> frozenset[TopicPartition]:
        """Partitions that the member owns now."""
        return self._membership.assignment

    @property
    def rebalances(self) -> int:
        """Number of assignments since the member's start."""
        return self._membership.rebalances

    @property
    def member_id(self) -> str:
        """Classic: the id that the coordinator assigned, empty before. Consumer: the id that the member made itself."""
        return self._membership.member_id

    @property
    def generation_id(self) -> int:
        """Last generation that this member joined, or its member epoch; -1 before."""
        return self._membership.generation_id

    def poll(self) -> None:
        """Handle the response, then send the request that is due.

        Raises:
            ClientError: the coordinator rejects this member for good, or the channel is closed.
        """
        self._membership.poll()

    def join(self, timeout_ms: int = 120_000) -> None:
        """Poll until this member has an assignment; in the consumer protocol it may be empty until other members give up partitions.

        Raises:
            TimeoutError: the timeout is over.
        """
        deadline_s = self._clock() + timeout_ms / 1000
        self.poll()
        while self.state is not MemberState.STABLE:
            if self._clock() >= deadline_s:
                raise TimeoutError(
                    f"{self._options.client_id} is still {self.state} in group {self._group_id!r} "
                    f"after {timeout_ms} ms"
                )
            # Returns early when the response arrives.
            self._conversation.wait(_WAIT_S)
            self.poll()

    def subscribe(self, topics: Collection[str] | SubscriptionPattern) -> None:
        """Change the subscription: the next poll sends it to the coordinator, and the group rebalances.

        Raises:
            ValueError: a classic member cannot subscribe to a pattern.
        """
        self._membership.subscribe(topics)

    def commit_async(self, offsets: Offsets) -> Future[PartitionResults]:
        """Commit as this member; after its removal from the group, its next heartbeat gets the error.

        `offsets` has an offset, or an OffsetAndMetadata, for each partition.
        """
        commit = self._membership.commit(offsets)
        return _mapped(self._conversation.send(commit.request), commit.results)

    def commit(self, offsets: Offsets) -> None:
        """Commit `offsets` as commit_async does, and wait.

        Raises:
            ClientError: the first error of a partition, or the response is missing.
        """
        self.commit_async(offsets).result().all()

    def leave_async(self, reason: str = "the member is being closed") -> Future[Body]:
        """Leave, so that the group need not wait until the session expires.

        A static member of the consumer protocol keeps its place until its session ends.
        """
        request = self._membership.leave(reason)
        if request is None:
            # A member without an id has no membership to end.
            nothing: Future[Body] = Future()
            nothing.set_result({})
            return nothing
        return self._conversation.send(request)

    def leave(self) -> None:
        """Leave and wait for the response, whose error is ignored."""
        self.leave_async().result()


def _needed(name: str, given: Mapping[str, _Result] | None) -> Mapping[str, _Result]:
    if given is None:
        raise ValueError(f"this protocol needs {name} (MemberOptions.group_protocol)")
    return given


def _mapped(source: Future[Body], convert: Callable[[Body], _Result]) -> Future[_Result]:
    target: Future[_Result] = Future()

    def finish(done: Future[Body]) -> None:
        # Called by the channel's thread, also for a future that its owner has cancelled.
        with suppress(InvalidStateError):
            try:
                target.set_result(convert(done.result()))
            except Exception as error:  # noqa: BLE001 - of any kind: a pending future waits forever
                target.set_exception(error)

    source.add_done_callback(finish)
    return target
