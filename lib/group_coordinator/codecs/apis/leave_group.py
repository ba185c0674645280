"""LeaveGroup: members leave, or are removed by an administrator."""

from __future__ import annotations

from msgspec import UNSET, UnsetType

from group_coordinator.codecs.apis.api import Body, codec
from group_coordinator.codecs.fields import JsonObject, Text, check_unknown, or_default
from group_coordinator.core.model import requests, responses
from group_coordinator.core.model.errors import ErrorCode

_THROTTLE_SINCE = 1
_MEMBERS_SINCE = 3
"""In older versions a request has one member, whose error is that of the response."""


class LeaveGroupMember(Body):
    member_id: Text | UnsetType = UNSET
    group_instance_id: Text | UnsetType | None = UNSET
    reason: Text | UnsetType | None = UNSET


class LeaveGroupBody(Body):
    group_id: Text | UnsetType = UNSET
    member_id: Text | UnsetType = UNSET
    members: list[LeaveGroupMember] | UnsetType = UNSET


def _to_request(body: LeaveGroupBody, version: int) -> requests.LeaveGroup:
    if version < _MEMBERS_SINCE:
        check_unknown("members", body.members, [], version)
        members = [requests.LeavingMember(body.member_id or "", None)]
    else:
        check_unknown("memberId", body.member_id, "", version)
        members = [
            requests.LeavingMember(entry.member_id or "", or_default(entry.group_instance_id, None))
            for entry in body.members or ()
        ]
    return requests.LeaveGroup(body.group_id or "", tuple(members))


def _to_body(response: responses.LeaveGroupResponse, version: int) -> JsonObject:
    body: JsonObject = {"throttleTimeMs": 0} if version >= _THROTTLE_SINCE else {}
    if version < _MEMBERS_SINCE:
        # The only member's error is the response's, as KafkaApis does for these versions.
        errors = [response.error, *(member.error for member in response.members)]
        body["errorCode"] = next(filter(None, errors), ErrorCode.NONE)
        return body
    body["errorCode"] = response.error
    body["members"] = [
        {
            "memberId": member.member_id,
            "groupInstanceId": member.group_instance_id,
            "errorCode": member.error,
        }
        for member in response.members
    ]
    return body


CODEC = codec(range(6), LeaveGroupBody, _to_request, responses.LeaveGroupResponse, _to_body)
