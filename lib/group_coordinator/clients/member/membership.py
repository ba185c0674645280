"""What a member of either protocol is to the GroupMember that drives it."""

from __future__ import annotations

from collections.abc import Callable, Collection
from typing import NamedTuple, Protocol

from kafka import TopicPartition

from group_coordinator.clients.admin.messages import Offsets
from group_coordinator.clients.results import PartitionResults
from group_coordinator.clients.channel.request import Body, Request
from group_coordinator.clients.member.options import MemberState, SubscriptionPattern


class Commit(NamedTuple):
    """An OffsetCommit, and how its answer is read."""

    request: Request
    results: Callable[[Body], PartitionResults]


class Membership(Protocol):
    """A member that joins, heartbeats and is given partitions by one of the two protocols."""

    state: MemberState
    assignment: frozenset[TopicPartition]
    rebalances: int

    @property
    def topics(self) -> frozenset[str]:
        """The names that it subscribes to."""
        ...

    @property
    def member_id(self) -> str:
        """Who it is to its group; empty: nobody yet."""
        ...

    @property
    def generation_id(self) -> int:
        """The generation, or the member epoch, that it knows of; -1: none yet."""
        ...

    def poll(self) -> None:
        """Take the answer that has come, then send what is due."""
        ...

    def subscribe(self, topics: Collection[str] | SubscriptionPattern) -> None:
        """Change the subscription."""
        ...

    def commit(self, offsets: Offsets) -> Commit:
        """What to send to commit as this member."""
        ...

    def leave(self, reason: str) -> Request | None:
        """Be a member no more; what to send so that the group learns it, None: it never knew."""
        ...
