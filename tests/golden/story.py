"""The events behind the golden files: a group of every kind, told once.

Times are milliseconds of a day long ago: nothing happens by itself, only events make time pass (a hold window).
"""

from __future__ import annotations

import json
from base64 import b64encode
from pathlib import Path
from typing import Any

from group_coordinator.core.embedded_protocol import encode_subscription
from group_coordinator.runtime.event_handling import fresh_id
from group_coordinator.runtime.outputs import EVENT, HEADER

FILES = Path(__file__).parent
"""Where the golden files are."""

TOPIC = "group-events"
START_MS = 1_700_000_000_000
HOUR_MS = 3_600_000
TIMEOUT_MS = 1_200_000
ORDERS_ID = "4ksO1bcLSgCStYJnTlCVLg"
Body = dict[str, Any]
PackedEvent = tuple[str, bytes]


class Story:
    """Packed events, each at its place in partition 0 of the events topic."""

    def __init__(self, first_offset: int = 0) -> None:
        self.events: list[PackedEvent] = []
        self._offset = first_offset

    def say(
        self,
        group: str,
        at_ms: int,
        api: str,
        version: int,
        *,
        reply: str | None = None,
        **body: Any,
    ) -> str:
        """Add an event of a time after the start; the id of a member that it may have made."""
        event = {
            "api": api,
            "version": version,
            "correlationId": reply,
            "clientId": "client",
            "body": body
            if api in {"DescribeGroups", "DeleteGroups", "ConsumerGroupDescribe"}
            else {"groupId": group} | body,
        }
        value = json.dumps(event).encode()
        header = HEADER.pack(0, self._offset, START_MS + at_ms, EVENT, len(value))
        self.events.append((group, header + value))
        made = fresh_id(f"{TOPIC}-0-{self._offset}")
        self._offset += 1
        return f"client-{made}"

    def join(
        self, group: str, at_ms: int, member_id: str = "", *, version: int = 3, **more: Any
    ) -> str:
        """JoinGroup of a consumer of `orders`; its member id."""
        subscription = b64encode(encode_subscription(["orders"])).decode()
        made = self.say(
            group,
            at_ms,
            "JoinGroup",
            version,
            sessionTimeoutMs=TIMEOUT_MS,
            rebalanceTimeoutMs=TIMEOUT_MS,
            memberId=member_id,
            protocolType="consumer",
            protocols=[{"name": "range", "metadata": subscription}],
            **more,
        )
        return member_id or made

    def sync(
        self,
        group: str,
        at_ms: int,
        member_id: str,
        generation: int,
        *,
        reply: str | None = None,
        **more: Any,
    ) -> None:
        """SyncGroup; `members` are those that a leader gives an assignment."""
        assignments = [
            {"memberId": member, "assignment": "AAE="} for member in more.pop("members", ())
        ]
        identity = {"memberId": member_id, "generationId": generation, "assignments": assignments}
        self.say(group, at_ms, "SyncGroup", 3, reply=reply, **identity, **more)

    def beat(self, group: str, at_ms: int, member_id: str, **more: Any) -> None:
        """ConsumerGroupHeartbeat."""
        self.say(group, at_ms, "ConsumerGroupHeartbeat", 1, memberId=member_id, **more)

    def commit(self, group: str, at_ms: int, offset: int, *, version: int = 8, **more: Any) -> None:
        """OffsetCommit for partition 0 of `orders`."""
        self.say(group, at_ms, "OffsetCommit", version, topics=orders(offset), **more)


def orders(offset: int) -> list[Body]:
    return [{"name": "orders", "partitions": [{"partitionIndex": 0, "committedOffset": offset}]}]


def told() -> list[PackedEvent]:
    """What has happened when the golden files are made."""
    story = Story()
    story.commit("simple", 0, 42)
    story.commit("expiring", 0, 43, version=4, retentionTimeMs=HOUR_MS)
    story.commit("in-transaction", 0, 44)
    story.say(
        "in-transaction",
        1,
        "TxnOffsetCommit",
        3,
        transactionalId="t",
        producerId=17,
        producerEpoch=0,
        topics=orders(45),
    )
    _stable(story)
    _left(story)
    _rebalancing(story)
    _syncing(story)
    story.say("told-of-topics", 0, "TopicMetadata", 0, topics=[known_orders(3)], deletedTopics=[])
    _of_consumers(story)
    return story.events


def known_orders(partitions: int) -> Body:
    return {"name": "orders", "topicId": ORDERS_ID, "numPartitions": partitions}


def _of_consumers(story: Story) -> None:
    """Of the consumer protocol: a static member has to give a partition back, one with a pattern waits for it."""
    group = "of-consumers"
    story.say(group, 0, "TopicMetadata", 0, topics=[known_orders(2)], deletedTopics=[])
    joining = {"memberEpoch": 0, "rebalanceTimeoutMs": TIMEOUT_MS, "topicPartitions": []}
    names = {"subscribedTopicNames": ["orders"]}
    story.beat(group, 1, "m1", instanceId="i", **joining, **names)
    story.beat(group, 2_001, "m2", subscribedTopicRegex="o.*", **joining, **names)
    owned = [{"topicId": ORDERS_ID, "partitions": [0, 1]}]
    story.beat(group, 3_001, "m1", instanceId="i", memberEpoch=2, topicPartitions=owned)


def _stable(story: Story) -> None:
    """A leader and a static member, in generation 1."""
    leader = story.join("stable", 0)
    static = story.join("stable", 1, version=5, groupInstanceId="i").replace("client", "i")
    story.sync("stable", 7_000, leader, 1, members=[leader, static])
    story.sync("stable", 7_001, static, 1, groupInstanceId="i")
    story.commit("stable", 8_000, 46, generationIdOrMemberEpoch=1, memberId=leader)


def _left(story: Story) -> None:
    """Empty since its one member left; its offset is kept."""
    member = story.join("left", 0)
    story.sync("left", 4_000, member, 1, members=[member])
    story.commit("left", 5_000, 47, generationIdOrMemberEpoch=1, memberId=member)
    story.say("left", 6_000, "LeaveGroup", 2, memberId=member)


def _rebalancing(story: Story) -> None:
    """Waits for its first member to join again; the second one's JoinGroup is parked, a third id is pending."""
    first = story.join("rebalancing", 0)
    story.sync("rebalancing", 4_000, first, 1, members=[first])
    story.join("rebalancing", 5_000, reply="join")
    story.join("rebalancing", 6_000, version=4)


def _syncing(story: Story) -> None:
    """Waits for its leader's assignment; the follower's SyncGroup is parked."""
    story.join("syncing", 0)
    follower = story.join("syncing", 1)
    story.sync("syncing", 7_000, follower, 1, reply="sync")
