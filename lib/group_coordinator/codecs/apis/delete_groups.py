"""DeleteGroups: an administrator deletes a group; one event is about one."""

from __future__ import annotations

from msgspec import UNSET, UnsetType, json

from group_coordinator.codecs.apis.api import Api, Body, Encoder
from group_coordinator.codecs.apis.body_checks import only_entry
from group_coordinator.codecs.fields import Text
from group_coordinator.codecs.plain_json import JsonObject
from group_coordinator.core.model import requests, responses


class DeleteGroupsBody(Body):
    """A DeleteGroups."""

    groups_names: list[Text] | UnsetType = UNSET


def _to_request(body: DeleteGroupsBody, _version: int) -> requests.DeleteGroup:
    distinct = list(dict.fromkeys(body.groups_names or ()))
    return requests.DeleteGroup(only_entry("groupsNames", distinct))


def _to_body(response: responses.DeleteGroupResponse, _version: int) -> JsonObject:
    result = {"groupId": response.group_id, "errorCode": response.error}
    return {"throttleTimeMs": 0, "results": [result]}


API = Api(
    "DeleteGroups",
    range(3),
    json.Decoder(DeleteGroupsBody),
    _to_request,
    Encoder(responses.DeleteGroupResponse, _to_body),
)
