"""Requests about several groups, which become a job request for each group; error responses in the form of each API and version.

Source: getErrorResponse of Kafka's request classes.
"""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Awaitable, Callable, Iterable, Iterator, Sequence
from functools import cache
from typing import NamedTuple, TypeAlias, TypeVar

from group_coordinator.clients.channel import Body
from group_coordinator.codecs import wire
from group_coordinator.gateway.api_versions import GROUP_APIS
from group_coordinator.gateway.groups.offset_topics import results

MOST_GROUPS = 2_500
"""Groups of one request that are handled, as many as a client may have in the producer's queue. A request may name 30,000."""
AT_ONCE = 100
_Entry = TypeVar("_Entry")


class ListFields(NamedTuple):
    asked: str
    given: str


@cache
def fields_of(api: str, version: int) -> ListFields | None:
    """Fields of a request that lists its groups; None: a request of this version names a single group."""
    request, response = f"{api}Request", f"{api}Response"
    if api not in GROUP_APIS or any(f.name == "groupId" for f in wire.fields(request, version)):
        return None
    return ListFields(_array(request, version), _array(response, version))


def _array(message: str, version: int) -> str:
    [name] = [field.name for field in wire.fields(message, version) if field.is_array]
    return name


def named_twice(body: Body) -> frozenset[str]:
    names = Counter(resource["resourceName"] for resource in body["resources"])
    return frozenset(name for name, count in names.items() if count > 1)


class OfOneGroup(NamedTuple):
    group_id: str
    body: Body


def split(fields: ListFields, body: Body) -> Iterator[OfOneGroup]:
    """Yield a request for each group."""
    for entry in body[fields.asked]:
        yield OfOneGroup(group_of(entry), {**body, fields.asked: [entry]})


def slices(entries: Sequence[_Entry]) -> Iterator[Sequence[_Entry]]:
    return (entries[at : at + AT_ONCE] for at in range(0, len(entries), AT_ONCE))


async def together(fields: ListFields, parts: Iterable[Awaitable[Body]]) -> Body:
    """Merge the responses to come, in the order of the request."""
    answers = await asyncio.gather(*parts)
    whole = {"throttleTimeMs": 0, **(answers[0] if answers else {})}
    return {
        **whole,
        fields.given: [entry for response in answers for entry in response[fields.given]],
    }


async def at_once(body: Body) -> Body:
    """Response that is there already, for a caller that awaits the job's."""
    return body


def group_of(entry: str | Body) -> str:
    """Group id of an entry, or of a request for a group."""
    if isinstance(entry, str):
        return entry
    group_id: str = entry["groupId"] if "groupId" in entry else entry["resourceName"]
    return group_id


_NOTHING = -1
_TOP_LEVEL_SINCE, _GROUPS_SINCE = 2, 8
"""Versions of OffsetFetch."""
_NULL_PROTOCOL_SINCE = 7
"""Version of JoinGroup."""

_Refuse: TypeAlias = Callable[[Body, int, int, "str | None"], Body]


def error_response(
    api: str, version: int, body: Body, code: int, message: str | None = None
) -> Body:
    """Error response to `body` with `code` in each entry, and the message where the version has a field for it."""
    build = _RESPONSES.get(api)
    if build is not None:
        return build(body, version, code, message)
    fields = fields_of(api, version)
    if fields is not None:
        return _listed(fields, body, code, message)
    build = _at_the_top if _has_one_error(api, version) else _at_partitions
    return build(body, version, code, message)


def error_response_unread(api: str, version: int, code: int) -> Body | None:
    """Error response to a request that was not read; None: its errors stand next to names of the request."""
    if api in GROUP_APIS and _has_one_error(api, version):
        return error_response(api, version, {}, code)
    return None


def _has_one_error(api: str, version: int) -> bool:
    # By the definitions, so that a new version of an API needs no line here.
    return any(field.name == "errorCode" for field in wire.fields(f"{api}Response", version))


def _at_the_top(_body: Body, _version: int, code: int, message: str | None) -> Body:
    return {"throttleTimeMs": 0, "errorCode": code, "errorMessage": message}


def _join(_body: Body, version: int, code: int, _message: str | None) -> Body:
    # KIP-559 made the field nullable; an older client fails to read null.
    protocol = None if version >= _NULL_PROTOCOL_SINCE else ""
    return {"throttleTimeMs": 0, "errorCode": code, "protocolName": protocol}


# Commits have no other place for an error.
def _at_partitions(body: Body, _version: int, code: int, _message: str | None) -> Body:
    topics = [
        {
            **{key: topic[key] for key in ("name", "topicId") if key in topic},
            "partitions": results(topic["partitions"], code),
        }
        for topic in body["topics"]
    ]
    return {"throttleTimeMs": 0, "topics": topics}


def _fetch(body: Body, version: int, code: int, _message: str | None) -> Body:
    # Three shapes in ten versions: errors of partitions, then a common error, then an error for each group.
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


def _of_topics(field: str) -> _Refuse:
    return lambda body, _version, code, message: {
        field: _of_names((topic["name"] for topic in body["topics"]), code, message)
    }


def _deleted_topics(body: Body, _version: int, code: int, message: str | None) -> Body:
    # From version 6 topics are named by name or by id.
    if "topicNames" in body:
        return {"responses": _of_names(body["topicNames"], code, message)}
    responses = [{**t, "errorCode": code, "errorMessage": message} for t in body["topics"]]
    return {"responses": responses}


def _of_names(names: Iterable[str], code: int, message: str | None) -> list[Body]:
    return [{"name": each, "errorCode": code, "errorMessage": message} for each in names]


_RESPONSES: dict[str, _Refuse] = {
    "JoinGroup": _join,
    "OffsetFetch": _fetch,
    "CreateTopics": _of_topics("topics"),
    "CreatePartitions": _of_topics("results"),
    "DeleteTopics": _deleted_topics,
    "AlterConfigs": _altered,
}
