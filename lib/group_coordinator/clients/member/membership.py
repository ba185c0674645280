"""What the members of both protocols have in common."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Collection
from functools import partial
from typing import NamedTuple

from kafka import TopicPartition

from group_coordinator.clients.channel.request import Body, Request
from group_coordinator.clients.member.conversation import Conversation
from group_coordinator.clients.member.options import MemberOptions, MemberState, SubscriptionPattern
from group_coordinator.clients.member_identity import MemberIdentity
from group_coordinator.clients.offset_messages import Offsets, commit_offsets, partition_results
from group_coordinator.clients.results import PartitionResults


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
