"""Heartbeat: a classic member extends its session."""

from __future__ import annotations

from msgspec import UNSET, UnsetType

from group_coordinator.codecs.apis.api import Body, codec
from group_coordinator.codecs.fields import Int32, JsonObject, Text, check_unknown, or_default
from group_coordinator.core.model import requests, responses

_THROTTLE_SINCE = 1
_INSTANCE_ID_SINCE = 3


class HeartbeatBody(Body):
    group_id: Text | UnsetType = UNSET
    generation_id: Int32 | UnsetType = UNSET
    member_id: Text | UnsetType = UNSET
    group_instance_id: Text | UnsetType | None = UNSET


def _to_request(body: HeartbeatBody, version: int) -> requests.Heartbeat:
    instance_id = or_default(body.group_instance_id, None)
    if version < _INSTANCE_ID_SINCE:
        check_unknown("groupInstanceId", instance_id, None, version)
    return requests.Heartbeat(
        body.group_id or "", body.generation_id or 0, body.member_id or "", instance_id
    )


def _to_body(response: responses.HeartbeatResponse, version: int) -> JsonObject:
    body: JsonObject = {"throttleTimeMs": 0} if version >= _THROTTLE_SINCE else {}
    body["errorCode"] = response.error
    return body


CODEC = codec(range(5), HeartbeatBody, _to_request, responses.HeartbeatResponse, _to_body)
