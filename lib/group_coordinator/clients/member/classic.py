"""A member that speaks the classic protocol: it joins, syncs, and as the leader assigns partitions to all members."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from dataclasses import replace
from functools import partial

from group_coordinator.clients.channel.request import Body, Request
from group_coordinator.clients.errors import error_for
from group_coordinator.clients.member import classic_messages
from group_coordinator.clients.member.conversation import COORDINATOR_AWAY, Conversation
from group_coordinator.clients.member.leader import assignments, is_leader
from group_coordinator.clients.member.membership import Membership
from group_coordinator.clients.member.options import MemberOptions, MemberState, SubscriptionPattern
from group_coordinator.clients.member_identity import MemberIdentity
from group_coordinator.core.model.errors import ErrorCode

JOIN_MARGIN_MS = 10_000
"""How long an answer may travel: a JoinGroup is answered when all members have joined, or after the rebalance timeout."""

_REJOIN = frozenset({ErrorCode.REBALANCE_IN_PROGRESS, ErrorCode.ILLEGAL_GENERATION})
_FORGOTTEN = frozenset({ErrorCode.UNKNOWN_MEMBER_ID, ErrorCode.GROUP_ID_NOT_FOUND})


class ClassicMember(Membership):
    """Goes one step on with each poll; GroupMember documents the methods.

    Args:
        conversation: sends its requests.
        group_id: the group to join.
        topics: what to subscribe to.
        partition_counts: how many partitions each topic of the group has, for the leader.
        options: timeouts and names.

    Raises:
        ValueError: a pattern is given for topics.
    """

    def __init__(
        self,
        conversation: Conversation,
        group_id: str,
        topics: Collection[str] | SubscriptionPattern,
        partition_counts: Mapping[str, int],
        options: MemberOptions,
    ) -> None:
        identity = MemberIdentity(group_id, group_instance_id=options.group_instance_id)
        super().__init__(conversation, identity, options)
        self._topics = _names(topics)
        self._partition_counts = partition_counts
        self._joined_topics: frozenset[str] = frozenset()

    @property
    def topics(self) -> frozenset[str]:
        """The names that it subscribes to."""
        return self._topics

    @property
    def generation_id(self) -> int:
        """The generation that this member joined last; -1 before."""
        return self._identity.generation_id

    def poll(self) -> None:
        """Take the answer that has come, then send the request that is due: a join, a sync, or a heartbeat.

        A poll that gives up partitions leaves it to the next one to join, so that work on them can be finished first.
        """
        had = self.assignment
        if not self._conversation.settle():
            return
        if self.state is MemberState.STABLE and self.topics != self._joined_topics:
            self._start_over()
        if had and not self.assignment:
            return
        if self.state is MemberState.UNJOINED:
            self._join()
        elif self.state is MemberState.STABLE:
            self._heartbeat()

    def subscribe(self, topics: Collection[str] | SubscriptionPattern) -> None:
        """Change the subscription: the next poll joins again, and the group rebalances.

        Raises:
            ValueError: a pattern is given for topics.
        """
        self._topics = _names(topics)

    def leave(self, reason: str) -> Request | None:
        """Stop being a member; returns the request that tells the group, None: the group does not know this member."""
        self.state = MemberState.LEFT
        self.assignment = frozenset()
        self._conversation.forget()
        return classic_messages.leave_group(self._identity, reason) if self.member_id else None

    def _take(self, then: Callable[[Body], None], body: Body) -> None:
        if body["errorCode"]:
            self._refused(body)
        else:
            then(body)

    def _refused(self, body: Body) -> None:
        code = body["errorCode"]
        if code in COORDINATOR_AWAY:
            self._try_later()
            return
        if code == ErrorCode.MEMBER_ID_REQUIRED:
            self._identity = replace(self._identity, member_id=body["memberId"])
        elif code in _FORGOTTEN:
            self._identity = replace(self._identity, member_id="", generation_id=-1)
        elif code not in _REJOIN:
            self.state = MemberState.FAILED
            self._conversation.fail(error_for(code, body.get("errorMessage")))
        self._start_over()

    def _lost(self) -> None:
        """A lost heartbeat is followed by another one; after a lost join or sync the member starts over."""
        if self.state is not MemberState.STABLE:
            self._start_over()

    def _try_later(self) -> None:
        if self.state is not MemberState.STABLE:
            self._start_over()
        self._conversation.pause(self._options.retry_backoff_ms)

    def _start_over(self) -> None:
        self.state = MemberState.UNJOINED
        self.assignment = frozenset()
        self._conversation.go_on()

    def _join(self) -> None:
        options = self._options
        self._joined_topics = self.topics
        self.state = MemberState.JOINING
        request = classic_messages.join_group(
            self._identity, self.topics, options.session_timeout_ms, options.rebalance_timeout_ms
        )
        self._ask(request, self._joined, options.rebalance_timeout_ms + JOIN_MARGIN_MS)

    def _joined(self, body: Body) -> None:
        self._identity = replace(
            self._identity, member_id=body["memberId"], generation_id=body["generationId"]
        )
        decision = assignments(body, self._partition_counts) if is_leader(body) else {}
        self.state = MemberState.SYNCING
        request = classic_messages.sync_group(self._identity, decision)
        self._ask(request, self._synced, self._options.rebalance_timeout_ms + JOIN_MARGIN_MS)

    def _synced(self, body: Body) -> None:
        self.assignment = frozenset(classic_messages.assigned_partitions(body["assignment"]))
        self.state = MemberState.STABLE
        self.rebalances += 1
        self._conversation.pause(self._options.heartbeat_interval_ms)

    def _heartbeat(self) -> None:
        self._conversation.pause(self._options.heartbeat_interval_ms)
        self._ask(classic_messages.heartbeat(self._identity), lambda _: None)

    def _ask(
        self, request: Request, then: Callable[[Body], None], timeout_ms: int | None = None
    ) -> None:
        self._conversation.ask(request, partial(self._take, then), self._lost, timeout_ms)


def _names(topics: Collection[str] | SubscriptionPattern) -> frozenset[str]:
    if isinstance(topics, SubscriptionPattern):
        raise ValueError(  # noqa: TRY004 - right for the other protocol
            "a pattern needs the consumer protocol (MemberOptions.group_protocol)"
        )
    return frozenset(topics)
