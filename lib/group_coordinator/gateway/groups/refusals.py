"""An error of a whole request, in the places where its API and version have errors.

Source: getErrorResponse of Kafka's request classes.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import TypeAlias

from group_coordinator.gateway.job.questions import Body

_NOTHING = -1
_TOP_LEVEL_SINCE = 2
"""Of OffsetFetch."""
_GROUPS_SINCE = 8
"""Of OffsetFetch."""
_NULL_PROTOCOL_SINCE = 7
"""Of JoinGroup."""

_ABOUT_ONE_GROUP = frozenset(
    {"JoinGroup", "SyncGroup", "Heartbeat", "LeaveGroup", "OffsetDelete", "ConsumerGroupHeartbeat"}
)
"""With one error for the whole, in all versions."""

_Refuse: TypeAlias = Callable[[Body, int, int, "str | None"], Body]


def refused(api: str, version: int, body: Body, code: int, message: str | None = None) -> Body:
    """The answer to `body` that says nothing but `code`; the message stands where the version has a field for it."""
    return _REFUSE.get(api, _at_the_top)(body, version, code, message)


def refused_unread(api: str, version: int, code: int) -> Body | None:
    """The answer to a request that was not read; None: its errors stand beside names that the request has."""
    is_at_the_top = api == "OffsetFetch" and _TOP_LEVEL_SINCE <= version < _GROUPS_SINCE
    if api in _ABOUT_ONE_GROUP or is_at_the_top:
        return refused(api, version, {}, code)
    return None


def _at_the_top(_body: Body, _version: int, code: int, message: str | None) -> Body:
    return {"throttleTimeMs": 0, "errorCode": code, "errorMessage": message}


def _join(_body: Body, version: int, code: int, _message: str | None) -> Body:
    protocol = None if version >= _NULL_PROTOCOL_SINCE else ""
    return {
        "throttleTimeMs": 0,
        "errorCode": code,
        "generationId": _NOTHING,
        "protocolName": protocol,
        "leader": "",
        "memberId": "",
        "members": [],
    }


def _at_partitions(body: Body, _version: int, code: int, _message: str | None) -> Body:
    topics = [
        {
            **_named_as(topic),
            "partitions": [
                {"partitionIndex": partition["partitionIndex"], "errorCode": code}
                for partition in topic["partitions"]
            ],
        }
        for topic in body["topics"]
    ]
    return {"throttleTimeMs": 0, "topics": topics}


def _fetch(body: Body, version: int, code: int, _message: str | None) -> Body:
    if version >= _GROUPS_SINCE:
        groups = [
            {"groupId": group["groupId"], "topics": [], "errorCode": code}
            for group in body["groups"]
        ]
        return {"throttleTimeMs": 0, "groups": groups}
    if version >= _TOP_LEVEL_SINCE:
        return {"throttleTimeMs": 0, "topics": [], "errorCode": code}
    topics = [
        {
            "name": topic["name"],
            "partitions": [no_offset(number, code) for number in topic["partitionIndexes"]],
        }
        for topic in body["topics"]
    ]
    return {"topics": topics}


def no_offset(partition: int, code: int) -> Body:
    """A partition of an OffsetFetch without an offset."""
    return {
        "partitionIndex": partition,
        "committedOffset": _NOTHING,
        "committedLeaderEpoch": _NOTHING,
        "metadata": "",
        "errorCode": code,
    }


def _at_groups(body: Body, _version: int, code: int, message: str | None) -> Body:
    ids = body["groups"] if "groups" in body else body["groupIds"]
    groups = [{"groupId": each, "errorCode": code, "errorMessage": message} for each in ids]
    return {"throttleTimeMs": 0, "groups": groups}


def _at_results(body: Body, _version: int, code: int, message: str | None) -> Body:
    results = [
        {"groupId": each, "errorCode": code, "errorMessage": message}
        for each in body["groupsNames"]
    ]
    return {"throttleTimeMs": 0, "results": results}


def _described(body: Body, _version: int, code: int, message: str | None) -> Body:
    results = [{**each, "configs": []} for each in _of_resources(body, code, message)]
    return {"throttleTimeMs": 0, "results": results}


def _altered(body: Body, _version: int, code: int, message: str | None) -> Body:
    return {"throttleTimeMs": 0, "responses": _of_resources(body, code, message)}


def _of_resources(body: Body, code: int, message: str | None) -> list[Body]:
    return [
        {
            "errorCode": code,
            "errorMessage": message,
            "resourceType": resource["resourceType"],
            "resourceName": resource["resourceName"],
        }
        for resource in body["resources"]
    ]


def _created_topics(body: Body, _version: int, code: int, message: str | None) -> Body:
    return {"topics": _of_names((topic["name"] for topic in body["topics"]), code, message)}


def _created_partitions(body: Body, _version: int, code: int, message: str | None) -> Body:
    return {"results": _of_names((topic["name"] for topic in body["topics"]), code, message)}


def _deleted_topics(body: Body, _version: int, code: int, message: str | None) -> Body:
    if "topicNames" in body:
        return {"responses": _of_names(body["topicNames"], code, message)}
    responses = [{**t, "errorCode": code, "errorMessage": message} for t in body["topics"]]
    return {"responses": responses}


def _of_names(names: Iterable[str], code: int, message: str | None) -> list[Body]:
    return [{"name": each, "errorCode": code, "errorMessage": message} for each in names]


def _named_as(topic: Body) -> Body:
    return {key: topic[key] for key in ("name", "topicId") if key in topic}


_REFUSE: dict[str, _Refuse] = {
    "JoinGroup": _join,
    "OffsetCommit": _at_partitions,
    "TxnOffsetCommit": _at_partitions,
    "OffsetFetch": _fetch,
    "DescribeGroups": _at_groups,
    "ConsumerGroupDescribe": _at_groups,
    "DeleteGroups": _at_results,
    "CreateTopics": _created_topics,
    "CreatePartitions": _created_partitions,
    "DeleteTopics": _deleted_topics,
    "DescribeConfigs": _described,
    "AlterConfigs": _altered,
    "IncrementalAlterConfigs": _altered,
}
