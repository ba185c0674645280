"""What the bodies of JoinGroup, SyncGroup, Heartbeat and LeaveGroup say in each version."""

from __future__ import annotations

from group_coordinator.codecs import versions
from group_coordinator.codecs.apis import api as bodies
from group_coordinator.codecs.field_errors import check_unknown
from group_coordinator.codecs.fields import ABSENT, given
from group_coordinator.core.embedded_protocol import parse_subscription
from group_coordinator.core.model import requests
from group_coordinator.core.model.classic_group import CONSUMER_PROTOCOL_TYPE
from group_coordinator.core.model.classic_member import Protocol


def join_group(body: bodies.JoinGroupBody, version: int) -> requests.JoinGroup:
    """JoinGroup 0-9; before version 1 the session timeout is the rebalance timeout too."""
    if version < versions.JOIN_INSTANCE_ID_SINCE:
        check_unknown("groupInstanceId", body.group_instance_id, None, version)
    session_timeout_ms = rebalance_timeout_ms = body.session_timeout_ms or 0
    if version >= versions.JOIN_REBALANCE_TIMEOUT_SINCE:
        rebalance_timeout_ms = given(body.rebalance_timeout_ms, ABSENT)
    protocol_type = body.protocol_type or ""
    return requests.JoinGroup(
        body.group_id or "",
        session_timeout_ms,
        rebalance_timeout_ms,
        body.member_id or "",
        given(body.group_instance_id, None),
        protocol_type,
        tuple([_protocol(entry, protocol_type) for entry in body.protocols or ()]),
    )


def _protocol(entry: bodies.JoinGroupProtocol, protocol_type: str) -> Protocol:
    metadata = entry.metadata or b""
    readable = protocol_type == CONSUMER_PROTOCOL_TYPE
    return Protocol(entry.name or "", metadata, parse_subscription(metadata) if readable else None)


def sync_group(body: bodies.SyncGroupBody, version: int) -> requests.SyncGroup:
    """SyncGroup 0-5."""
    if version < versions.SYNC_INSTANCE_ID_SINCE:
        check_unknown("groupInstanceId", body.group_instance_id, None, version)
    names_protocol = version >= versions.SYNC_PROTOCOL_SINCE
    return requests.SyncGroup(
        body.group_id or "",
        body.generation_id or 0,
        body.member_id or "",
        given(body.group_instance_id, None),
        given(body.protocol_type, None) if names_protocol else None,
        given(body.protocol_name, None) if names_protocol else None,
        tuple(
            [(entry.member_id or "", entry.assignment or b"") for entry in body.assignments or ()]
        ),
    )


def heartbeat(body: bodies.HeartbeatBody, version: int) -> requests.Heartbeat:
    """Heartbeat 0-4."""
    instance_id = given(body.group_instance_id, None)
    if version < versions.HEARTBEAT_INSTANCE_ID_SINCE:
        check_unknown("groupInstanceId", instance_id, None, version)
    return requests.Heartbeat(
        body.group_id or "", body.generation_id or 0, body.member_id or "", instance_id
    )


def leave_group(body: bodies.LeaveGroupBody, version: int) -> requests.LeaveGroup:
    """LeaveGroup 0-5; before version 3 for one member."""
    if version < versions.LEAVE_MEMBERS_SINCE:
        check_unknown("members", body.members, [], version)
        members = [requests.MemberIdentity(body.member_id or "", None)]
    else:
        check_unknown("memberId", body.member_id, "", version)
        members = [
            requests.MemberIdentity(entry.member_id or "", given(entry.group_instance_id, None))
            for entry in body.members or ()
        ]
    return requests.LeaveGroup(body.group_id or "", tuple(members))
