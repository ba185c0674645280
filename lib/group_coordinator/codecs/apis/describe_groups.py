"""DescribeGroups: the state and the members of a classic group. An event has a single group."""

from __future__ import annotations

from msgspec import UNSET, UnsetType

from group_coordinator.codecs.apis.api import Body, codec
from group_coordinator.codecs.fields import (
    JsonObject,
    Text,
    check_unknown,
    only_entry,
    operations_on_wire,
)
from group_coordinator.core.model import requests, responses

_THROTTLE_SINCE = 1
_OPERATIONS_SINCE = 3
_INSTANCE_ID_SINCE = 4
_ERROR_MESSAGE_SINCE = 6


class DescribeGroupsBody(Body):
    groups: list[Text] | UnsetType = UNSET
    include_authorized_operations: bool | UnsetType = UNSET


def _to_request(body: DescribeGroupsBody, version: int) -> requests.DescribeGroup:
    if version < _OPERATIONS_SINCE:
        asked = body.include_authorized_operations
        check_unknown("includeAuthorizedOperations", asked, default=False, version=version)
    group_id = only_entry("groups", body.groups or [])
    return requests.DescribeGroup(group_id, body.include_authorized_operations or False)


def _to_body(response: responses.DescribeGroupResponse, version: int) -> JsonObject:
    group: JsonObject = {"errorCode": response.error}
    if version >= _ERROR_MESSAGE_SINCE:
        group["errorMessage"] = response.error_message
    group["groupId"] = response.group_id
    group["groupState"] = response.state
    group["protocolType"] = response.protocol_type
    group["protocolData"] = response.protocol
    group["members"] = [_member(member, version) for member in response.members]
    if version >= _OPERATIONS_SINCE:
        group["authorizedOperations"] = operations_on_wire(response.operations)
    # There are no quotas here, so no request is ever throttled.
    body: JsonObject = {"throttleTimeMs": 0} if version >= _THROTTLE_SINCE else {}
    body["groups"] = [group]
    return body


def _member(member: responses.DescribedMember, version: int) -> JsonObject:
    described: JsonObject = {"memberId": member.member_id}
    if version >= _INSTANCE_ID_SINCE:
        described["groupInstanceId"] = member.group_instance_id
    described["clientId"] = member.client_id
    described["clientHost"] = member.client_host
    described["memberMetadata"] = member.metadata
    described["memberAssignment"] = member.assignment
    return described


CODEC = codec(range(7), DescribeGroupsBody, _to_request, responses.DescribeGroupResponse, _to_body)
