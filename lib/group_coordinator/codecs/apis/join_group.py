"""JoinGroup: a classic member joins its group, or joins again."""

from __future__ import annotations

from msgspec import UNSET, UnsetType

from group_coordinator.codecs.apis.api import Body, codec
from group_coordinator.codecs.fields import (
    ABSENT,
    Int32,
    JsonObject,
    Text,
    check_unknown,
    number_on_wire,
    or_default,
)
from group_coordinator.core.model import requests, responses
from group_coordinator.core.model.classic_member import Protocol

_REBALANCE_TIMEOUT_SINCE = 1
"""In older versions the session timeout is the rebalance timeout too."""
_THROTTLE_SINCE = 2
_INSTANCE_ID_SINCE = 5
_PROTOCOL_TYPE_SINCE = 7
_SKIP_ASSIGNMENT_SINCE = 9


class JoinGroupProtocol(Body):
    name: Text | UnsetType = UNSET
    metadata: bytes | UnsetType = UNSET


class JoinGroupBody(Body):
    group_id: Text | UnsetType = UNSET
    session_timeout_ms: Int32 | UnsetType = UNSET
    rebalance_timeout_ms: Int32 | UnsetType = UNSET
    member_id: Text | UnsetType = UNSET
    group_instance_id: Text | UnsetType | None = UNSET
    protocol_type: Text | UnsetType = UNSET
    protocols: list[JoinGroupProtocol] | UnsetType = UNSET
    reason: Text | UnsetType | None = UNSET


def _to_request(body: JoinGroupBody, version: int) -> requests.JoinGroup:
    if version < _INSTANCE_ID_SINCE:
        check_unknown("groupInstanceId", body.group_instance_id, None, version)
    session_timeout_ms = rebalance_timeout_ms = body.session_timeout_ms or 0
    if version >= _REBALANCE_TIMEOUT_SINCE:
        rebalance_timeout_ms = or_default(body.rebalance_timeout_ms, ABSENT)
    protocol_type = body.protocol_type or ""
    return requests.JoinGroup(
        group_id=body.group_id or "",
        session_timeout_ms=session_timeout_ms,
        rebalance_timeout_ms=rebalance_timeout_ms,
        member_id=body.member_id or "",
        group_instance_id=or_default(body.group_instance_id, None),
        protocol_type=protocol_type,
        protocols=tuple(
            [Protocol(entry.name or "", entry.metadata or b"") for entry in body.protocols or ()]
        ),
    )


def _to_body(response: responses.JoinGroupResponse, version: int) -> JsonObject:
    body: JsonObject = {"throttleTimeMs": 0} if version >= _THROTTLE_SINCE else {}
    body["errorCode"] = response.error
    body["generationId"] = number_on_wire(response.generation)
    if version >= _PROTOCOL_TYPE_SINCE:
        body["protocolType"] = response.protocol_type
        # As in Kafka, an empty name is null in versions that allow null.
        body["protocolName"] = response.protocol or None
    else:
        body["protocolName"] = response.protocol or ""
    body["leader"] = response.leader
    if version >= _SKIP_ASSIGNMENT_SINCE:
        body["skipAssignment"] = response.skip_assignment
    body["memberId"] = response.member_id
    body["members"] = [_joined_member(member, version) for member in response.members]
    return body


def _joined_member(member: responses.JoinedMember, version: int) -> JsonObject:
    if version < _INSTANCE_ID_SINCE:
        return {"memberId": member.member_id, "metadata": member.metadata}
    return {
        "memberId": member.member_id,
        "groupInstanceId": member.group_instance_id,
        "metadata": member.metadata,
    }


CODEC = codec(range(10), JoinGroupBody, _to_request, responses.JoinGroupResponse, _to_body)
