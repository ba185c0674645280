"""DeleteGroups: an administrator deletes a group. An event has a single group."""

from __future__ import annotations

from msgspec import UNSET, UnsetType

from group_coordinator.codecs.apis.api import Body, codec
from group_coordinator.codecs.fields import JsonObject, Text, only_entry
from group_coordinator.core.model import requests, responses

_MESSAGE_SINCE = 3
"""errorMessage is null for these groups: Kafka writes a text only for streams groups, and for its own internal errors."""


class DeleteGroupsBody(Body):
    groups_names: list[Text] | UnsetType = UNSET


def _to_request(body: DeleteGroupsBody, _version: int) -> requests.DeleteGroup:
    # A repeated group id is no second group.
    distinct = list(dict.fromkeys(body.groups_names or ()))
    return requests.DeleteGroup(only_entry("groupsNames", distinct))


def _to_body(response: responses.DeleteGroupResponse, version: int) -> JsonObject:
    result: JsonObject = {"groupId": response.group_id, "errorCode": response.error}
    if version >= _MESSAGE_SINCE:
        result["errorMessage"] = None
    return {"throttleTimeMs": 0, "results": [result]}


CODEC = codec(range(4), DeleteGroupsBody, _to_request, responses.DeleteGroupResponse, _to_body)
