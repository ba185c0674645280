"""Requests of every group API and version, good and bad: what both a broker and the gateway are asked.

A text with a dollar stands for what an earlier answer gave: `$member` is the last member id that was given out, `$orders` the
id of the topic.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from tests.broker.gateway.ask import Ask, Body
from tests.broker.gateway.settings_of_groups import configs

UNKNOWN_ID = "AAAAAAAAAAAAAAAAAAAAEQ"
SUBSCRIPTION = "AAAAAAABAAZvcmRlcnP/////"  # version 0: the topic orders, no user data
ASSIGNMENT = "AAAAAAABAAZvcmRlcnMAAAABAAAAAP////8="  # version 0: partition 0 of orders


_ORDERS_0 = {"name": "orders", "partitions": [{"partitionIndex": 0}]}


def join(version: int, group: str, **more: Any) -> Ask:
    protocols = [{"name": "range", "metadata": SUBSCRIPTION}]
    body = {
        "groupId": group,
        "sessionTimeoutMs": 30_000,
        "rebalanceTimeoutMs": 30_000,
        "memberId": "",
        "protocolType": "consumer",
        "protocols": protocols,
    }
    return Ask("JoinGroup", version, body | more)


def sync(version: int, group: str, **more: Any) -> Ask:
    body = {
        "groupId": group,
        "generationId": 1,
        "memberId": "$member",
        "protocolType": "consumer",
        "protocolName": "range",
        "assignments": [{"memberId": "$member", "assignment": ASSIGNMENT}],
    }
    return Ask("SyncGroup", version, body | more)


def heartbeat(version: int, group: str, **more: Any) -> Ask:
    body = {"groupId": group, "generationId": 1, "memberId": "$member"}
    return Ask("Heartbeat", version, body | more)


def commit(version: int, group: str, topics: list[Body], **more: Any) -> Ask:
    body = {
        "groupId": group,
        "generationIdOrMemberEpoch": 1,
        "memberId": "$member",
        "topics": topics,
    }
    return Ask("OffsetCommit", version, body | more)


def committed(version: int, *partitions: int, topic: str = "orders", **more: Any) -> Body:
    entry = {"committedOffset": 7, "committedMetadata": "m", **more}
    entries = [{"partitionIndex": number, **entry} for number in partitions]
    return named(version, topic) | {"partitions": entries}


def named(version: int, topic: str) -> Body:
    """The topic as the version names it."""
    if version < 10:
        return {"name": topic}
    return {"topicId": "$orders" if topic == "orders" else UNKNOWN_ID}


def fetch(version: int, group: str, topics: list[Body] | None, **more: Any) -> Ask:
    if version < 8:
        return Ask("OffsetFetch", version, {"groupId": group, "topics": topics})
    entry = {"groupId": group, "topics": topics} | more
    return Ask("OffsetFetch", version, {"groups": [entry]})


def fetched(version: int, *partitions: int, topic: str = "orders") -> Body:
    return named(version, topic) | {"partitionIndexes": list(partitions)}


def describe(version: int, *groups: str) -> Ask:
    body: Body = {"groups": list(groups)}
    if version >= 3:
        body["includeAuthorizedOperations"] = version % 2 == 0
    return Ask("DescribeGroups", version, body)


def leave(version: int, group: str, member: str = "$member") -> Ask:
    if version < 3:
        return Ask("LeaveGroup", version, {"groupId": group, "memberId": member})
    return Ask("LeaveGroup", version, {"groupId": group, "members": [{"memberId": member}]})


def delete_offsets(group: str, **topics: list[int]) -> Ask:
    entries = [
        {"name": name, "partitions": [{"partitionIndex": number} for number in numbers]}
        for name, numbers in topics.items()
    ]
    return Ask("OffsetDelete", 0, {"groupId": group, "topics": entries})


def delete(version: int, *groups: str) -> Ask:
    return Ask("DeleteGroups", version, {"groupsNames": list(groups)})


def listing(version: int, states: list[str] | None = None, types: list[str] | None = None) -> Ask:
    body: Body = {}
    if states is not None:
        body["statesFilter"] = states
    if types is not None:
        body["typesFilter"] = types
    return Ask("ListGroups", version, body)


def classic_life(round_number: int) -> Iterator[Ask]:
    """A member joins, commits and leaves, all in one version or the highest below."""
    number = round_number
    group = f"classic-{number}"
    commits, fetches = max(2, number), max(1, number)
    joins, syncs, beats = min(number, 9), min(number, 5), min(number, 4)
    yield join(joins, group)
    if joins >= 4:
        yield join(joins, group, memberId="$member")
    yield sync(syncs, group)
    yield sync(syncs, group, generationId=5)
    yield sync(syncs, group, memberId="nobody")
    yield heartbeat(beats, group)
    yield heartbeat(beats, group, generationId=7)
    yield heartbeat(beats, group, memberId="nobody")
    yield from classic_offsets(commits, fetches, group)
    yield describe(min(number, 6), group, "nothing", group)
    yield listing(min(number, 5))
    yield delete(min(number, 3), group, "nothing", group)
    yield delete_offsets(group, orders=[0, 99], payments=[0], nowhere=[0])
    yield from classic_end(number, group)


def classic_end(number: int, group: str) -> Iterator[Ask]:
    commits, fetches = max(2, number), max(1, number)
    yield leave(min(number, 5), group, "nobody")
    yield leave(min(number, 5), group)
    yield leave(min(number, 5), "nothing")
    yield describe(min(number, 6), group)
    yield commit(commits, group, [committed(commits, 1)])
    yield commit(commits, group, [committed(commits, 1)], generationIdOrMemberEpoch=-1, memberId="")
    yield fetch(fetches, group, [fetched(fetches, 0, 1)])
    yield delete_offsets(group, orders=[0, 2], payments=[0])
    yield delete(min(number, 3), group)
    yield delete(min(number, 3), group)


def classic_offsets(commits: int, fetches: int, group: str) -> Iterator[Ask]:
    long_text = {"committedMetadata": "x" * 5000}
    yield commit(commits, group, [committed(commits, 0, 2)])
    yield commit(commits, group, [])
    yield commit(commits, group, [committed(commits, 0, 99, -1)])
    yield commit(commits, group, [committed(commits, 98, 99)])
    yield commit(commits, group, [committed(commits, 0, topic="nowhere"), committed(commits, 1)])
    yield commit(commits, group, [committed(commits, 0, topic="nowhere")])
    yield commit(commits, group, [committed(commits, 2, **long_text), committed(commits, 99)])
    yield commit(commits, group, [committed(commits, 0, committedMetadata=None)])
    yield commit(commits, group, [committed(commits, 0), committed(commits, 0)])
    yield commit(commits, group, [committed(commits, 0, 99), committed(commits, 0)])
    yield commit(commits, group, [committed(commits), committed(commits, topic="nowhere")])
    yield commit(commits, group, [committed(commits, 0)], generationIdOrMemberEpoch=9)
    yield commit(commits, group, [committed(commits, 0)], memberId="nobody")
    yield commit(
        commits, group, [committed(commits, 0, 1)], generationIdOrMemberEpoch=-1, memberId=""
    )
    yield fetch(fetches, group, [fetched(fetches, 0, 1, 2, 99)])
    yield fetch(fetches, group, [])
    yield fetch(fetches, group, [fetched(fetches, 0, topic="nowhere"), fetched(fetches, 0)])
    yield fetch(fetches, group, [fetched(fetches, 0, 1, topic="nowhere")])
    yield fetch(fetches, "nothing", [fetched(fetches, 0)])
    if fetches >= 2:
        yield fetch(fetches, group, None)
        yield fetch(fetches, "nothing", None)
    if fetches >= 9:
        yield fetch(fetches, group, [fetched(fetches, 0)], memberId="nobody", memberEpoch=3)


def refused_by_classic_groups(version: int) -> Iterator[Ask]:
    """Requests that no group takes."""
    joins, syncs, beats = min(version, 9), min(version, 5), min(version, 4)
    yield join(joins, "")
    yield join(joins, "bad", sessionTimeoutMs=1)
    yield join(joins, "bad", memberId="nobody")
    yield join(joins, "bad", protocols=[])
    yield join(joins, "bad", protocolType="")
    yield sync(syncs, "")
    yield sync(syncs, "nothing")
    if syncs == 5:
        yield sync(syncs, "nothing", protocolType=None)
        yield sync(syncs, "nothing", protocolName=None)
    yield heartbeat(beats, "")
    yield heartbeat(beats, "nothing")
    yield leave(syncs, "")
    if syncs >= 3:
        yield Ask("LeaveGroup", syncs, {"groupId": "nothing", "members": []})
    yield commit(max(2, version), "nothing", [committed(max(2, version), 0)])
    yield commit(max(2, version), "", [committed(max(2, version), 0)], generationIdOrMemberEpoch=-1)
    yield fetch(max(1, version), "", [fetched(max(1, version), 0)])
    yield describe(min(version, 6), "")
    yield describe(min(version, 6))
    yield delete(min(version, 3), "")
    yield delete(min(version, 3))


def lists() -> Iterator[Ask]:
    """Requests about several groups, and filters."""
    yield commit(9, "simple", [committed(9, 0)], generationIdOrMemberEpoch=-1, memberId="")
    for version in (8, 9, 10):
        entries = [
            {"groupId": "simple", "topics": [fetched(version, 0)]},
            {"groupId": "nothing", "topics": [fetched(version, 0)]},
            {"groupId": "simple", "topics": None},
        ]
        yield Ask("OffsetFetch", version, {"groups": entries})
        yield Ask("OffsetFetch", version, {"groups": entries, "requireStable": True})
        yield Ask("OffsetFetch", version, {"groups": []})
    yield describe(5, "simple", "nothing")
    yield describe(6, "simple", "nothing")
    yield from (listing(version) for version in range(6))
    yield listing(4, ["STABLE", "empty"])
    yield listing(4, ["nonsense"])
    yield listing(5, [], ["CLASSIC"])
    yield listing(5, [" Empty "], ["classic", "nonsense"])
    yield listing(5, [], ["consumer"])
    yield delete_offsets("")
    yield delete_offsets("nothing", orders=[0])
    yield delete_offsets("nothing", nowhere=[0])
    yield delete_offsets("simple")
    yield delete_offsets("simple", nowhere=[0, 1])
    yield delete_offsets("simple", orders=[0, 99], nowhere=[1])
    yield delete_offsets("simple", orders=[], nowhere=[])
    yield Ask("OffsetDelete", 0, {"groupId": "simple", "topics": [_ORDERS_0, _ORDERS_0]})


def beat(version: int, group: str, **more: Any) -> Ask:
    body = {
        "groupId": group,
        "memberId": "a-member",
        "memberEpoch": 0,
        "rebalanceTimeoutMs": 30_000,
        "subscribedTopicNames": ["orders"],
        "topicPartitions": [],
    }
    return Ask("ConsumerGroupHeartbeat", version, body | more)


def consumer_life(version: int) -> Iterator[Ask]:
    """A member of the new protocol; versions of the other APIs are the highest and one before."""
    group = f"consumer-{version}"
    kept = {"rebalanceTimeoutMs": -1, "subscribedTopicNames": None, "topicPartitions": None}
    yield beat(version, group)
    yield beat(version, group, memberEpoch=2, **kept)
    yield beat(version, group, memberEpoch=9, **kept)
    yield beat(version, group, memberId="nobody", memberEpoch=2, **kept)
    yield describe_consumers(version, group, "nothing", "simple")
    yield describe(5 + version, group)
    yield listing(4 + version)
    yield listing(5, ["stable"], ["Consumer"])
    yield from consumer_offsets(group)
    yield join(9, group, protocolType="connect")
    yield sync(5, group)
    yield heartbeat(4, group)
    yield delete(2 + version, group)
    yield delete_offsets(group, orders=[0], payments=[0])
    yield beat(version, group, memberEpoch=-1, **kept)
    yield describe_consumers(version, group)
    yield delete(2 + version, group)
    yield describe_consumers(version, group, "", group)
    yield describe_consumers(version)


def consumer_offsets(group: str) -> Iterator[Ask]:
    for commits in (8, 9, 10):
        for epoch in (2, 3):
            topics = [committed(commits, 0), committed(commits, 0, topic="nowhere")]
            yield commit(
                commits, group, topics, memberId="a-member", generationIdOrMemberEpoch=epoch
            )
        yield fetch(commits, group, [fetched(commits, 0)], memberId="a-member", memberEpoch=2)
        yield fetch(commits, group, [fetched(commits, 0)], memberId="nobody", memberEpoch=2)
        yield fetch(commits, group, [fetched(commits, 0)], memberId="a-member", memberEpoch=5)
        yield fetch(commits, group, [], memberId="nobody", memberEpoch=2)
        yield fetch(commits, group, None)


def describe_consumers(version: int, *groups: str) -> Ask:
    body = {"groupIds": list(groups), "includeAuthorizedOperations": version == 1}
    return Ask("ConsumerGroupDescribe", version, body)


def refused_by_consumer_groups(version: int) -> Iterator[Ask]:
    yield beat(version, "")
    yield beat(version, "bad", memberId="")
    yield beat(version, "bad", memberEpoch=4)
    yield beat(version, "bad", memberEpoch=-1)
    yield beat(version, "bad", memberEpoch=-7)
    yield beat(version, "bad", rebalanceTimeoutMs=-1)
    yield beat(version, "bad", topicPartitions=None)
    yield beat(version, "bad", subscribedTopicNames=None)
    yield beat(version, "bad", instanceId="")
    yield beat(version, "bad", serverAssignor="nonsense")
    if version >= 1:
        yield beat(version, "bad", subscribedTopicNames=None, subscribedTopicRegex="(")


def transactions() -> Iterator[Ask]:
    """Offsets that are refused before any transaction is asked for."""
    for version in range(5):
        body = {
            "transactionalId": "t",
            "groupId": "txn",
            "producerId": 1,
            "producerEpoch": 0,
        }
        nowhere = {"name": "nowhere", "partitions": [{"partitionIndex": 0, "committedOffset": 1}]}
        missing = {"name": "orders", "partitions": [{"partitionIndex": 99, "committedOffset": 1}]}
        yield Ask("TxnOffsetCommit", version, body | {"topics": [nowhere]})
        yield Ask("TxnOffsetCommit", version, body | {"topics": [missing, nowhere]})
        yield Ask("TxnOffsetCommit", version, body | {"topics": []})
        empty = [{"name": name, "partitions": []} for name in ("orders", "nowhere")]
        yield Ask("TxnOffsetCommit", version, body | {"topics": empty[1:]})


def everything() -> Iterator[Ask]:
    """All of it, in an order that makes sense to the groups."""
    for number in range(11):
        yield from classic_life(number)
        yield from refused_by_classic_groups(number)
    yield from lists()
    for version in (0, 1):
        yield from consumer_life(version)
        yield from refused_by_consumer_groups(version)
    yield from configs()
    yield from transactions()
