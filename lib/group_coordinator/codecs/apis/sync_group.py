"""SyncGroup: the leader of a classic group sends the assignments, each member receives its own."""

from __future__ import annotations

from msgspec import UNSET, UnsetType

from group_coordinator.codecs.apis.api import Body, codec
from group_coordinator.codecs.fields import Int32, JsonObject, Text, check_unknown, or_default
from group_coordinator.core.model import requests, responses

_THROTTLE_SINCE = 1
_INSTANCE_ID_SINCE = 3
_PROTOCOL_SINCE = 5


class SyncGroupAssignment(Body):
    member_id: Text | UnsetType = UNSET
    assignment: bytes | UnsetType = UNSET


class SyncGroupBody(Body):
    group_id: Text | UnsetType = UNSET
    generation_id: Int32 | UnsetType = UNSET
    member_id: Text | UnsetType = UNSET
    group_instance_id: Text | UnsetType | None = UNSET
    protocol_type: Text | UnsetType | None = UNSET
    protocol_name: Text | UnsetType | None = UNSET
    assignments: list[SyncGroupAssignment] | UnsetType = UNSET


def _to_request(body: SyncGroupBody, version: int) -> requests.SyncGroup:
    if version < _INSTANCE_ID_SINCE:
        check_unknown("groupInstanceId", body.group_instance_id, None, version)
    names_protocol = version >= _PROTOCOL_SINCE
    return requests.SyncGroup(
        group_id=body.group_id or "",
        generation=body.generation_id or 0,
        member_id=body.member_id or "",
        group_instance_id=or_default(body.group_instance_id, None),
        # Older versions ignore the field in Kafka.
        protocol_type=or_default(body.protocol_type, None) if names_protocol else None,
        protocol=or_default(body.protocol_name, None) if names_protocol else None,
        assignments=tuple(
            [(entry.member_id or "", entry.assignment or b"") for entry in body.assignments or ()]
        ),
    )


def _to_body(response: responses.SyncGroupResponse, version: int) -> JsonObject:
    body: JsonObject = {"throttleTimeMs": 0} if version >= _THROTTLE_SINCE else {}
    body["errorCode"] = response.error
    if version >= _PROTOCOL_SINCE:
        body["protocolType"] = response.protocol_type
        body["protocolName"] = response.protocol
    body["assignment"] = response.assignment
    return body


CODEC = codec(range(6), SyncGroupBody, _to_request, responses.SyncGroupResponse, _to_body)
