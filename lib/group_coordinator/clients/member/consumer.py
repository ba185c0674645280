"""Member of the consumer protocol (KIP-848): it only heartbeats, and the coordinator assigns.

Source: ConsumerMembershipManager and ConsumerHeartbeatRequestManager of Kafka's Java client.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass, replace
from functools import partial
from uuid import uuid4

from kafka import TopicPartition

from group_coordinator.binary.notation import uuid_text
from group_coordinator.clients import offset_messages
from group_coordinator.clients.channel import Body, Request
from group_coordinator.clients.errors import error_for
from group_coordinator.clients.member.membership import (
    COORDINATOR_AWAY,
    Commit,
    Conversation,
    MemberOptions,
    Membership,
    MemberState,
    SubscriptionPattern,
)
from group_coordinator.clients.offset_messages import MemberIdentity, distinct_names
from group_coordinator.core.assignors.spec import Assignment
from group_coordinator.core.model.errors import ErrorCode

JOIN_EPOCH = 0
_LEFT_EPOCH, _STATIC_LEFT_EPOCH = -1, -2
_HEARTBEAT_VERSION = 1
_UNCHANGED: Body = {
    "rackId": None,
    "rebalanceTimeoutMs": -1,
    "subscribedTopicNames": None,
    "subscribedTopicRegex": None,
    "serverAssignor": None,
    "topicPartitions": None,
}


def new_member_id() -> str:
    """Random uuid as Kafka prints it, without a dash at the beginning, which would look like an option of a command."""
    member_id = "-"
    while member_id.startswith("-"):
        member_id = uuid_text(uuid4().bytes)
    return member_id


@dataclass(frozen=True, slots=True)
class Statement:
    """Fields that a member sends to its coordinator once; later heartbeats contain only changes."""

    subscription: frozenset[str] | SubscriptionPattern
    owned: Assignment


def heartbeat(
    identity: MemberIdentity, options: MemberOptions, statement: Statement, sent: Statement | None
) -> Request:
    """Request a heartbeat with the changes since the last sent statement; None: nothing was sent yet."""
    changes: Body = {}
    if sent is None:
        changes["rackId"] = options.client_rack
        changes["rebalanceTimeoutMs"] = options.rebalance_timeout_ms
        changes["serverAssignor"] = options.group_remote_assignor
    if sent is None or statement.subscription != sent.subscription:
        changes |= _subscription_fields(statement.subscription)
    if sent is None or statement.owned != sent.owned:
        changes["topicPartitions"] = [
            {"topicId": topic_id, "partitions": list(partitions)}
            for topic_id, partitions in statement.owned.items()
        ]
    return _heartbeat(identity, changes)


def _subscription_fields(subscription: frozenset[str] | SubscriptionPattern) -> Body:
    # Names and expression count together, so the unused field must be empty.
    if isinstance(subscription, SubscriptionPattern):
        return {"subscribedTopicNames": [], "subscribedTopicRegex": subscription.regex}
    return {"subscribedTopicNames": sorted(subscription), "subscribedTopicRegex": ""}


def leave_group(identity: MemberIdentity) -> Request:
    """Request the last heartbeat; a static member may come back."""
    # KIP-848: -1 ends the membership, -2 keeps a static member's place.
    epoch = _LEFT_EPOCH if identity.group_instance_id is None else _STATIC_LEFT_EPOCH
    return _heartbeat(replace(identity, generation_id=epoch), {})


def _heartbeat(identity: MemberIdentity, changes: Body) -> Request:
    body = {
        "groupId": identity.group_id,
        "memberId": identity.member_id,
        "memberEpoch": identity.generation_id,
        "instanceId": identity.group_instance_id,
        **_UNCHANGED,
        **changes,
    }
    return Request("ConsumerGroupHeartbeat", _HEARTBEAT_VERSION, identity.group_id, body)


def assigned_partitions(body: Body) -> Assignment | None:
    """Partitions in a heartbeat's response; None: they have not changed."""
    assignment = body["assignment"]
    if assignment is None:
        return None
    return {
        topic["topicId"]: tuple(sorted(topic["partitions"]))
        for topic in assignment["topicPartitions"]
        if topic["partitions"]
    }


_FENCED = frozenset(
    {ErrorCode.FENCED_MEMBER_EPOCH, ErrorCode.UNKNOWN_MEMBER_ID, ErrorCode.GROUP_ID_NOT_FOUND}
)
_TRY_LATER = COORDINATOR_AWAY | {ErrorCode.UNRELEASED_INSTANCE_ID}


class ConsumerMembership(Membership):
    """Member with a step for each poll; GroupMember documents the methods.

    `topic_ids` is read at every assignment; partitions of an id without a name are not adopted.
    """

    def __init__(
        self,
        conversation: Conversation,
        group_id: str,
        topics: Collection[str] | SubscriptionPattern,
        topic_ids: Mapping[str, str],
        options: MemberOptions,
    ) -> None:
        identity = MemberIdentity(group_id, new_member_id(), JOIN_EPOCH, options.group_instance_id)
        super().__init__(conversation, identity, options)
        self._topic_ids = topic_ids
        self._subscription = _subscription(topics)
        self._assigned: Assignment = {}
        self._owned: Assignment | None = None
        """None: the coordinator has not sent an assignment yet, not even an empty one."""
        self._sent: Statement | None = None

    @property
    def topics(self) -> frozenset[str]:
        """Topic names of the subscription; none with a pattern."""
        is_pattern = isinstance(self._subscription, SubscriptionPattern)
        return frozenset() if is_pattern else frozenset(self._subscription)

    @property
    def generation_id(self) -> int:
        """Member epoch; -1 outside a membership."""
        return self._identity.generation_id if self.state is MemberState.STABLE else -1

    def poll(self) -> None:
        """Handle the response, then send a heartbeat if it is due.

        The next poll acknowledges a changed assignment, so that work on revoked partitions can be finished first.
        """
        rebalances = self.rebalances
        is_free = self._conversation.settle()
        # Names of new topics may have become known since the last heartbeat.
        if self.state is MemberState.STABLE and self._assigned != self._owned:
            self._adopt()
        if self.rebalances != rebalances or not is_free:
            return
        if self.state is MemberState.UNJOINED:
            self.state = MemberState.JOINING
            self._heartbeat()
        elif self.state is MemberState.STABLE:
            self._heartbeat()

    def subscribe(self, topics: Collection[str] | SubscriptionPattern) -> None:
        """Change the subscription: the next heartbeat contains it, and is sent at once."""
        self._subscription = _subscription(topics)
        self._conversation.go_on()

    def commit(self, offsets: offset_messages.Offsets) -> Commit:
        """Commit of this member; with topic ids if all topics are assigned to it."""
        owned = {
            name: topic_id
            for name, topic_id in self._topic_ids.items()
            if topic_id in (self._owned or {})
        }
        # Only the ids of assigned topics are from the coordinator.
        if not owned.keys() >= {partition.topic for partition in offsets}:
            return super().commit(offsets)
        request = offset_messages.commit_by_id(self._identity, offsets, owned)
        results = partial(offset_messages.results_by_id, offsets=offsets, topic_ids=owned)
        return Commit(request, results)

    def leave(self, reason: str) -> Request | None:  # noqa: ARG002 - this protocol sends no reason
        """End the membership; return the leave request, None: the group does not know this member."""
        is_known = self.state in (MemberState.JOINING, MemberState.STABLE)
        self.state = MemberState.LEFT
        self._let_go()
        self._conversation.forget()
        return leave_group(self._identity) if is_known else None

    def _heartbeat(self) -> None:
        statement = self._statement()
        request = heartbeat(self._identity, self._options, statement, self._sent)
        # Later heartbeats contain only the difference to this one.
        self._sent = statement
        self._conversation.ask(request, self._take, self._lost)

    def _statement(self) -> Statement:
        return Statement(self._subscription, self._owned or {})

    def _take(self, body: Body) -> None:
        if body["errorCode"]:
            self._failed(body)
            return
        self.state = MemberState.STABLE
        self._identity = replace(self._identity, generation_id=body["memberEpoch"])
        assigned = assigned_partitions(body)
        if assigned is not None:
            self._assigned = assigned
            self._adopt()
        # A changed assignment is acknowledged at once; otherwise the interval applies.
        if self._statement() == self._sent:
            self._conversation.pause(body["heartbeatIntervalMs"])
        else:
            self._conversation.go_on()

    def _adopt(self) -> None:
        """Adopt the assigned partitions of the topics whose names are known."""
        names = {topic_id: name for name, topic_id in self._topic_ids.items()}
        owned = {
            topic_id: numbers for topic_id, numbers in self._assigned.items() if topic_id in names
        }
        if owned == self._owned:
            return
        self._owned = owned
        self.assignment = frozenset(
            TopicPartition(names[topic_id], number)
            for topic_id, numbers in owned.items()
            for number in numbers
        )
        self.rebalances += 1
        self._conversation.go_on()

    def _failed(self, body: Body) -> None:
        code = body["errorCode"]
        # The coordinator may have lost the member's fields, so the next heartbeat contains them all.
        self._sent = None
        if code in _FENCED:
            self._rejoin()
        elif code in _TRY_LATER:
            self._ask_again()
            self._conversation.pause(self._options.retry_backoff_ms)
        else:
            self.state = MemberState.FAILED
            self._conversation.fail(error_for(code, body.get("errorMessage")))

    def _lost(self) -> None:
        self._sent = None
        self._ask_again()

    def _ask_again(self) -> None:
        if self.state is MemberState.JOINING:
            self.state = MemberState.UNJOINED
        self._conversation.go_on()

    def _rejoin(self) -> None:
        # The partitions belong to other members now. The member id stays.
        self.state = MemberState.UNJOINED
        self._identity = replace(self._identity, generation_id=JOIN_EPOCH)
        self._let_go()
        self._conversation.go_on()

    def _let_go(self) -> None:
        self._assigned, self._owned = {}, None
        self.assignment = frozenset()


def _subscription(
    topics: Collection[str] | SubscriptionPattern,
) -> frozenset[str] | SubscriptionPattern:
    return topics if isinstance(topics, SubscriptionPattern) else frozenset(distinct_names(topics))
