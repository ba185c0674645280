"""Hostile and good events of the consumer protocol (KIP-848), of settings and of topics; events.py mixes them in.

The groups in use only store offsets: to these a heartbeat that is refused must do nothing. Good members join groups of
their own.
"""

from __future__ import annotations

from copy import deepcopy
from random import Random
from typing import Any

from tests.hostile.sent import Fate, Sent, Tree, bad, encoded

HEARTBEAT_INTERVAL = "consumer.heartbeat.interval.ms"
LONGEST_REGEX = 32_767
MOST_PARTITIONS = 1_000_000
_TOPIC_ID = "4ksO1bcLSgCStYJnTlCVLg"


def request(api: str, version: int, correlation_id: str | None, body: Tree) -> Tree:
    return {"api": api, "version": version, "correlationId": correlation_id, "body": body}


def heartbeat(group: str, correlation_id: str | None, epoch: int = 0, **fields: Any) -> Tree:
    """A member that joins as it should, but for the fields given."""
    body = {
        "groupId": group,
        "memberId": "m",
        "memberEpoch": epoch,
        "rebalanceTimeoutMs": 60_000,
        "subscribedTopicNames": ["orders"],
        "topicPartitions": [],
    }
    return request("ConsumerGroupHeartbeat", 1, correlation_id, body | fields)


def topic_metadata(group: str, **fields: Any) -> Tree:
    topic = {"name": "orders", "topicId": _TOPIC_ID, "numPartitions": 3, "racks": [["r"]]}
    body = {"groupId": group, "topics": [topic | fields], "deletedTopics": []}
    return request("TopicMetadata", 0, None, body)


def describe_configs(group: str, correlation_id: str | None) -> Tree:
    resource = {"resourceType": 32, "resourceName": group}
    asked = {"resources": [resource | {"configurationKeys": [HEARTBEAT_INTERVAL]}]}
    return request("DescribeConfigs", 4, correlation_id, asked)


def alter_configs(group: str, correlation_id: str | None, value: object) -> Tree:
    change = {"name": HEARTBEAT_INTERVAL, "configOperation": 0, "value": value}
    resource = {"resourceType": 32, "resourceName": group, "configs": [change]}
    return request("IncrementalAlterConfigs", 1, correlation_id, {"resources": [resource]})


def consumer_group_describe(group: str, correlation_id: str | None) -> Tree:
    return request("ConsumerGroupDescribe", 1, correlation_id, {"groupIds": [group]})


# Good ones.


def joins(group: str, correlation_id: str) -> Sent:
    """A member that joins a group nobody else speaks of."""
    answer = {
        "throttleTimeMs": 0,
        "errorCode": 0,
        "errorMessage": None,
        "memberId": "m",
        "memberEpoch": 2,
        "heartbeatIntervalMs": 5_000,
        "assignment": {"topicPartitions": []},
    }
    value = encoded(heartbeat(group, correlation_id))
    return Sent("join", group.encode(), value, Fate.ANSWERED, answer)


def alters(group: str, correlation_id: str, interval_ms: int) -> Sent:
    """An administrator gives a group in use a setting."""
    result = {"errorCode": 0, "errorMessage": None, "resourceType": 32, "resourceName": group}
    answer = {"throttleTimeMs": 0, "responses": [result]}
    value = encoded(alter_configs(group, correlation_id, str(interval_ms)))
    return Sent("setting", group.encode(), value, Fate.ANSWERED, answer)


# The kinds of bad events. Each takes a group that is in use, and a correlation id.

_ANYTHING_BUT_TEXT: tuple[Any, ...] = (7, 1.5, True, [], {})
_TEXT = (*_ANYTHING_BUT_TEXT, "x" * 40_000)
_NUMBER = ("1", 1.5, 2**31, -(2**31) - 1, 10**400, None, [], {})
_LIST = (7, "orders", {}, True)
_ID = (7, "", "short", _TOPIC_ID + "x", "!" * 22, None, [])
_Place = tuple[str | int, ...]
_HEARTBEAT: tuple[tuple[_Place, tuple[Any, ...]], ...] = (
    (("memberId",), (*_TEXT, None)),
    (("memberEpoch",), _NUMBER),
    (("instanceId",), _TEXT),
    (("rackId",), _TEXT),
    (("rebalanceTimeoutMs",), _NUMBER),
    (("subscribedTopicNames",), (*_LIST, [7], [None], [[]], ["x" * 40_000])),
    (("subscribedTopicRegex",), _TEXT),
    (("serverAssignor",), _TEXT),
    (("topicPartitions",), (*_LIST, [7], [[]], [{"topicId": "short"}], [{"partitions": [2**31]}])),
    (("unknown",), (1,)),
)
_TOPICS: tuple[tuple[_Place, tuple[Any, ...]], ...] = (
    (("topics",), (*_LIST, [7], [[]], [None], [{}], None)),
    (("topics", 0, "name"), (*_TEXT, None)),
    (("topics", 0, "topicId"), (*_ID, "A" * 22)),
    (("topics", 0, "numPartitions"), (*_NUMBER, 0, -1, 2**31 - 1, MOST_PARTITIONS + 1)),
    (("topics", 0, "racks"), (7, "r", {}, ["r"], [[7]], [[None]])),
    (("deletedTopics",), (*_LIST, [7], [{}], [{"name": "orders"}])),
    (("version",), ("1", 1.5, -1, 2**63 - 1, 10**400, None)),
    (("complete",), (1, "true", None, [])),
)
_SETTINGS: tuple[tuple[_Place, tuple[Any, ...]], ...] = (
    (("resources",), (*_LIST, [], [7], [None], [{}], None)),
    (("resources", 0, "resourceType"), (*_NUMBER, 2, 128)),
    (("resources", 0, "resourceName"), (*_TEXT, None, "", "another group")),
    (("validateOnly",), (1, "true", [])),
    (("includeSynonyms",), (1, "true", [])),
)
_ALTERED: tuple[tuple[_Place, tuple[Any, ...]], ...] = (
    (("resources", 0, "configs"), (*_LIST, [7], [None], [[]])),
    (("resources", 0, "configs", 0, "name"), (*_TEXT, None)),
    (("resources", 0, "configs", 0, "configOperation"), (*_NUMBER, 128)),
    (("resources", 0, "configs", 0, "value"), _TEXT),
)
_DESCRIBED: tuple[tuple[_Place, tuple[Any, ...]], ...] = (
    (("groupIds",), (*_LIST, [], [7], [None], ["another group"], ["x" * 40_000], None)),
    (("includeAuthorizedOperations",), (1, "true", [])),
)


def consumer_misfit(random: Random, group: str, correlation_id: str) -> Sent:
    """Valid JSON, wrong type, or a number beyond its bounds."""
    tree, misfits = random.choice(
        [
            (heartbeat(group, correlation_id), _HEARTBEAT),
            (topic_metadata(group), _TOPICS),
            (describe_configs(group, correlation_id), _SETTINGS),
            (alter_configs(group, correlation_id, "5000"), (*_SETTINGS, *_ALTERED)),
            (consumer_group_describe(group, correlation_id), _DESCRIBED),
        ]
    )
    place, values = random.choice(misfits)
    node: Any = tree["body"]
    for step in place[:-1]:
        node = node[step]
    node[place[-1]] = deepcopy(random.choice(values))
    return bad("wrong types, consumer groups", group, encoded(tree))


def cut_consumer_event(random: Random, group: str, correlation_id: str) -> Sent:
    """Not even JSON."""
    value = encoded(heartbeat(group, correlation_id))
    cut = random.randrange(1, len(value))
    return bad("not JSON, consumer groups", group, value[:cut])


_REFUSED: tuple[tuple[int, Tree], ...] = (
    (42, {"memberId": ""}),
    (42, {"memberId": " \t"}),
    (42, {"instanceId": ""}),
    (42, {"rackId": ""}),
    (42, {"rebalanceTimeoutMs": -1}),
    (42, {"topicPartitions": None}),
    (42, {"topicPartitions": [{"topicId": _TOPIC_ID, "partitions": [0, 0, -1, 2**31 - 1]}]}),
    (42, {"subscribedTopicNames": None}),
    (42, {"memberEpoch": -3}),
    (42, {"memberEpoch": -(2**31)}),
    (42, {"memberEpoch": -2}),
    (69, {"memberEpoch": -1}),
    (69, {"memberEpoch": 1}),
    (69, {"memberEpoch": 2**31 - 1}),
    (112, {"serverAssignor": ""}),
    (112, {"serverAssignor": "Uniform"}),
    (112, {"serverAssignor": "x" * 30_000}),
    (128, {"subscribedTopicRegex": "("}),
    (128, {"subscribedTopicRegex": "*"}),
    (128, {"subscribedTopicRegex": "a{1001}"}),
    (128, {"subscribedTopicRegex": "((x{100}){100}){100}"}),
    (128, {"subscribedTopicRegex": "(" * LONGEST_REGEX}),
    (128, {"subscribedTopicRegex": "[" * LONGEST_REGEX}),
    (128, {"subscribedTopicRegex": "(?<a>x)" * 4_000}),
    (128, {"subscribedTopicRegex": r"\pL{1000}"}),
)


def refused_heartbeat(random: Random, group: str, correlation_id: str) -> Sent:
    """It can be read, and Kafka would refuse it, whatever the group is like."""
    code, fields = random.choice(_REFUSED)
    value = encoded(heartbeat(group, correlation_id, **fields))
    return Sent("refused heartbeat", group.encode(), value, Fate.REFUSED, {"errorCode": code})


def many_names(random: Random, group: str, correlation_id: str) -> Sent:
    """As much as an event may hold, of a member whose group is not a consumer group."""
    names = random.choice([["x" * 32_000] * 30, [f"{n}" for n in range(100_000)]])
    owned = [{"topicId": _TOPIC_ID, "partitions": list(range(1_000))}]
    fields = random.choice([{"subscribedTopicNames": names}, {"topicPartitions": owned * 150}])
    value = encoded(heartbeat(group, correlation_id, 3, **fields))
    return Sent("1 MB heartbeats", group.encode(), value, Fate.REFUSED, {"errorCode": 69})


def many_partitions(random: Random, group: str, _: str) -> Sent:
    """A few bytes that stand for gigabytes."""
    most = random.choice([MOST_PARTITIONS + 1, 2**31 - 1])
    return bad("huge topics", group, encoded(topic_metadata(group, numPartitions=most)))


def bad_setting(random: Random, group: str, correlation_id: str) -> Sent:
    """A group's setting that Kafka would refuse."""
    value = random.choice(["", "x", "4999", "15001", "1e4", "9" * 4_000, "-1", "5 000", "0x1388"])
    tree = encoded(alter_configs(group, correlation_id, value))
    return Sent("refused setting", group.encode(), tree, Fate.REFUSED, {"errorCode": 40})
