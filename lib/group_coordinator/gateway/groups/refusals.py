"""An error of a whole request, in the places where its API and version have errors.

Source: getErrorResponse of Kafka's request classes.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import TypeAlias

from group_coordinator.clients.channel.channel import Body
from group_coordinator.codecs import wire
from group_coordinator.gateway.groups import lists
from group_coordinator.gateway.groups.lists import ListFields
from group_coordinator.gateway.served import GROUP_APIS

_NOTHING = -1
_TOP_LEVEL_SINCE = 2
"""Of OffsetFetch."""
_GROUPS_SINCE = 8
"""Of OffsetFetch."""
_NULL_PROTOCOL_SINCE = 7
"""Of JoinGroup."""

_Refuse: TypeAlias = Callable[[Body, int, int, "str | None"], Body]


def refused(api: str, version: int, body: Body, code: int, message: str | None = None) -> Body:
    """The answer to `body` that says nothing but `code`; the message stands where the version has a field for it."""
    refuse = _REFUSE.get(api)
    if refuse is not None:
        return refuse(body, version, code, message)
    fields = lists.fields_of(api, version)
    if fields is not None:
        return _listed(fields, body, code, message)
    refuse = _at_the_top if _has_one_error(api, version) else _at_partitions
    return refuse(body, version, code, message)


def refused_unread(api: str, version: int, code: int) -> Body | None:
    """The answer to a request that was not read; None: its errors stand beside names that the request has."""
    if api in GROUP_APIS and _has_one_error(api, version):
        return refused(api, version, {}, code)
    return None


def _has_one_error(api: str, version: int) -> bool:
    return any(field.name == "errorCode" for field in wire.fields(f"{api}Response", version))


def _at_the_top(_body: Body, _version: int, code: int, message: str | None) -> Body:
    return {"throttleTimeMs": 0, "errorCode": code, "errorMessage": message}


def _join(_body: Body, version: int, code: int, _message: str | None) -> Body:
    protocol = None if version >= _NULL_PROTOCOL_SINCE else ""
    return {"throttleTimeMs": 0, "errorCode": code, "protocolName": protocol}


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


def _listed(fields: ListFields, body: Body, code: int, message: str | None) -> Body:
    entries = [
        {**_group(entry), "errorCode": code, "errorMessage": message}
        for entry in body[fields.asked]
    ]
    return {"throttleTimeMs": 0, fields.given: entries}


def _group(entry: str | Body) -> Body:
    if isinstance(entry, str):
        return {"groupId": entry}
    return {"resourceType": entry["resourceType"], "resourceName": entry["resourceName"]}


def _altered(body: Body, _version: int, code: int, message: str | None) -> Body:
    return _listed(ListFields("resources", "responses"), body, code, message)


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
    "OffsetFetch": _fetch,
    "CreateTopics": _created_topics,
    "CreatePartitions": _created_partitions,
    "DeleteTopics": _deleted_topics,
    "AlterConfigs": _altered,
}
