"""Member of the classic protocol: it joins, syncs, and as the leader assigns partitions to all members."""

from __future__ import annotations

from base64 import b64decode, b64encode
from collections import defaultdict
from collections.abc import Callable, Collection, Mapping
from dataclasses import replace
from functools import partial

from kafka import TopicPartition

from group_coordinator.clients.channel import Body, Request
from group_coordinator.clients.errors import error_for
from group_coordinator.clients.member.membership import (
    COORDINATOR_AWAY,
    Conversation,
    MemberOptions,
    Membership,
    MemberState,
    SubscriptionPattern,
)
from group_coordinator.clients.offset_messages import MemberIdentity, distinct_names
from group_coordinator.core.assignors.range import ranges, seniority
from group_coordinator.core.embedded_protocol import (
    encode_assignment,
    encode_subscription,
    parse_assignment,
    parse_subscription,
)
from group_coordinator.core.model.errors import ErrorCode

PROTOCOL_TYPE = "consumer"
PROTOCOL = "range"
_MAX_REASON_CHARACTERS = 255


def join_group(
    identity: MemberIdentity,
    topics: Collection[str],
    session_timeout_ms: int,
    rebalance_timeout_ms: int,
) -> Request:
    """Request a JoinGroup with the range protocol."""
    subscription = encode_subscription(sorted(topics))
    body = {
        "groupId": identity.group_id,
        "sessionTimeoutMs": session_timeout_ms,
        "rebalanceTimeoutMs": rebalance_timeout_ms,
        "memberId": identity.member_id,
        "groupInstanceId": identity.group_instance_id,
        "protocolType": PROTOCOL_TYPE,
        "protocols": [{"name": PROTOCOL, "metadata": _base64(subscription)}],
        "reason": None,
    }
    return Request("JoinGroup", 9, identity.group_id, body)


def sync_group(identity: MemberIdentity, assignments: Mapping[str, bytes]) -> Request:
    """Request a SyncGroup; only the leader sends assignments."""
    body = {
        **_identity_fields(identity),
        "protocolType": PROTOCOL_TYPE,
        "protocolName": PROTOCOL,
        "assignments": [
            {"memberId": member, "assignment": _base64(assignment)}
            for member, assignment in assignments.items()
        ],
    }
    return Request("SyncGroup", 5, identity.group_id, body)


def assigned_partitions(assignment: str) -> tuple[TopicPartition, ...]:
    """Partitions of a leader's assignment in base64; unreadable bytes give no partitions."""
    return tuple(
        TopicPartition(topic, number)
        for topic, numbers in parse_assignment(b64decode(assignment)) or ()
        for number in numbers
    )


def heartbeat(identity: MemberIdentity) -> Request:
    """Request a Heartbeat of the member."""
    return Request("Heartbeat", 4, identity.group_id, _identity_fields(identity))


def leave_group(identity: MemberIdentity, reason: str) -> Request:
    """Request a LeaveGroup of this member only."""
    member = {
        "memberId": identity.member_id,
        "groupInstanceId": identity.group_instance_id,
        "reason": reason[:_MAX_REASON_CHARACTERS],
    }
    return Request(
        "LeaveGroup", 5, identity.group_id, {"groupId": identity.group_id, "members": [member]}
    )


def _identity_fields(identity: MemberIdentity) -> Body:
    return {
        "groupId": identity.group_id,
        "generationId": identity.generation_id,
        "memberId": identity.member_id,
        "groupInstanceId": identity.group_instance_id,
    }


def _base64(value: bytes) -> str:
    return b64encode(value).decode()


def is_leader(joined: Body) -> bool:
    """Return True if the joined member must assign partitions to all members."""
    return bool(joined["leader"] == joined["memberId"] and not joined["skipAssignment"])


def assignments(joined: Body, partition_counts: Mapping[str, int]) -> dict[str, bytes]:
    """Assignment of each member in the leader's JoinGroup response; a member with an unreadable subscription gets no partitions."""
    members = sorted(
        joined["members"],
        # As in Kafka's assignors, static members come first, so that their partitions are stable.
        key=lambda member: seniority(member["memberId"], member.get("groupInstanceId")),
    )
    subscriptions = {
        member["memberId"]: parse_subscription(b64decode(member["metadata"])) or ()
        for member in members
    }
    return {
        member: encode_assignment(partitions)
        for member, partitions in partitions_by_range(subscriptions, partition_counts).items()
    }


def partitions_by_range(
    subscriptions: Mapping[str, Collection[str]], partition_counts: Mapping[str, int]
) -> dict[str, dict[str, list[int]]]:
    """Partitions of each member by topic; the first members get the remaining partitions.

    Members are in the order of `subscriptions`. Topics without a partition count are not assigned.
    """
    subscribers = defaultdict[str, list[str]](list)
    for member, topics in subscriptions.items():
        for topic in sorted(set(topics)):
            subscribers[topic].append(member)
    found: dict[str, dict[str, list[int]]] = {member: {} for member in subscriptions}
    for topic, members in subscribers.items():
        numbers = ranges(partition_counts.get(topic, 0), len(members))
        # With more members than partitions the last members get none.
        for member, partitions in zip(members, numbers, strict=False):
            found[member][topic] = list(partitions)
    return found


JOIN_MARGIN_MS = 10_000
"""Time for the response: a JoinGroup is answered when all members have joined, or after the rebalance timeout."""

_REJOIN = frozenset({ErrorCode.REBALANCE_IN_PROGRESS, ErrorCode.ILLEGAL_GENERATION})
_FORGOTTEN = frozenset({ErrorCode.UNKNOWN_MEMBER_ID, ErrorCode.GROUP_ID_NOT_FOUND})


class ClassicMembership(Membership):
    """Member with a step for each poll; GroupMember documents the methods. Raises ValueError: a pattern is given for topics."""

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
        """Topic names of the subscription."""
        return self._topics

    @property
    def generation_id(self) -> int:
        """Last generation that this member joined; -1 before."""
        return self._identity.generation_id

    def poll(self) -> None:
        """Handle the response, then send the due request: a join, a sync, or a heartbeat.

        A poll that revokes partitions does not join: the next poll does, so that work on them can be finished first.
        """
        had = self.assignment
        if not self._conversation.settle():
            return
        # A changed subscription needs a new JoinGroup.
        if self.state is MemberState.STABLE and self.topics != self._joined_topics:
            self._start_over()
        # The caller can finish its work on the revoked partitions first.
        if had and not self.assignment:
            return
        if self.state is MemberState.UNJOINED:
            self._join()
        elif self.state is MemberState.STABLE:
            self._heartbeat()

    def subscribe(self, topics: Collection[str] | SubscriptionPattern) -> None:
        """Change the subscription: the next poll joins again, and the group rebalances. Raises ValueError: a pattern is given."""
        self._topics = _names(topics)

    def leave(self, reason: str) -> Request | None:
        """End the membership; return the LeaveGroup request, None: the group does not know this member."""
        self.state = MemberState.LEFT
        self.assignment = frozenset()
        self._conversation.forget()
        return leave_group(self._identity, reason) if self.member_id else None

    def _take(self, then: Callable[[Body], None], body: Body) -> None:
        if body["errorCode"]:
            self._failed(body)
        else:
            then(body)

    def _failed(self, body: Body) -> None:
        code = body["errorCode"]
        if code in COORDINATOR_AWAY:
            self._lost()
            self._conversation.pause(self._options.retry_backoff_ms)
            return
        # KIP-394: the first JoinGroup returns the id for the second.
        if code == ErrorCode.MEMBER_ID_REQUIRED:
            self._identity = replace(self._identity, member_id=body["memberId"])
        elif code in _FORGOTTEN:
            self._identity = replace(self._identity, member_id="", generation_id=-1)
        elif code not in _REJOIN:
            self.state = MemberState.FAILED
            self._conversation.fail(error_for(code, body.get("errorMessage")))
        self._start_over()

    def _lost(self) -> None:
        # The next heartbeat replaces a lost heartbeat, but a lost join or sync may have had an effect.
        if self.state is not MemberState.STABLE:
            self._start_over()

    def _start_over(self) -> None:
        self.state = MemberState.UNJOINED
        self.assignment = frozenset()
        self._conversation.go_on()

    def _join(self) -> None:
        options = self._options
        self._joined_topics = self.topics
        self.state = MemberState.JOINING
        request = join_group(
            self._identity, self.topics, options.session_timeout_ms, options.rebalance_timeout_ms
        )
        self._ask(request, self._joined, options.rebalance_timeout_ms + JOIN_MARGIN_MS)

    def _joined(self, body: Body) -> None:
        self._identity = replace(
            self._identity, member_id=body["memberId"], generation_id=body["generationId"]
        )
        # Only the leader gets the members' subscriptions.
        decision = assignments(body, self._partition_counts) if is_leader(body) else {}
        self.state = MemberState.SYNCING
        request = sync_group(self._identity, decision)
        self._ask(request, self._synced, self._options.rebalance_timeout_ms + JOIN_MARGIN_MS)

    def _synced(self, body: Body) -> None:
        self.assignment = frozenset(assigned_partitions(body["assignment"]))
        self.state = MemberState.STABLE
        self.rebalances += 1
        self._conversation.pause(self._options.heartbeat_interval_ms)

    def _heartbeat(self) -> None:
        # The interval begins now, so that a slow response does not delay the next heartbeat.
        self._conversation.pause(self._options.heartbeat_interval_ms)
        self._ask(heartbeat(self._identity), lambda _: None)

    def _ask(
        self, request: Request, then: Callable[[Body], None], timeout_ms: int | None = None
    ) -> None:
        self._conversation.ask(request, partial(self._take, then), self._lost, timeout_ms)


def _names(topics: Collection[str] | SubscriptionPattern) -> frozenset[str]:
    if isinstance(topics, SubscriptionPattern):
        raise ValueError(  # noqa: TRY004 - right for the other protocol
            "a pattern needs the consumer protocol (MemberOptions.group_protocol)"
        )
    return frozenset(distinct_names(topics))
