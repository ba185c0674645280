"""LeaveGroup as an administrator sends it (KIP-345): the request, and a result for each member."""

from __future__ import annotations

from collections.abc import Sequence

from group_coordinator.clients.admin.descriptions import GroupDescription
from group_coordinator.clients.channel.request import Body, Request
from group_coordinator.clients.errors import ClientError, UnknownError, error_for
from group_coordinator.clients.refusals import refusal
from group_coordinator.clients.results import MemberResults, MemberToRemove

_VERSION = 5
_DEFAULT_REASON = "member was removed by an admin"
"""As Kafka's own client says it."""
_REASON_LENGTH = 255
"""A broker takes no more; Kafka's own client cuts the text as well."""


def remove_members(group_id: str, members: Sequence[MemberToRemove], reason: str) -> Request:
    """A LeaveGroup of several members; an empty reason is replaced by Kafka's."""
    entries = [
        {
            "memberId": member.member_id,
            "groupInstanceId": member.group_instance_id,
            "reason": (reason or _DEFAULT_REASON)[:_REASON_LENGTH],
        }
        for member in members
    ]
    return Request("LeaveGroup", _VERSION, group_id, {"groupId": group_id, "members": entries})


def removal_results(body: Body, members: Sequence[MemberToRemove]) -> MemberResults:
    """The result in a LeaveGroup answer for each member of the request."""
    codes = {
        MemberToRemove(member["memberId"], member["groupInstanceId"]): member["errorCode"]
        for member in body.get("members", ())
    }
    return MemberResults({one: _member_error(codes.get(one)) for one in members}, refusal(body))


def members_of(group: GroupDescription) -> list[MemberToRemove]:
    """All members as Kafka's own client names them: static ones by instance id, which also fits who takes their place."""
    return [
        MemberToRemove(member.member_id)
        if member.group_instance_id is None
        else MemberToRemove(group_instance_id=member.group_instance_id)
        for member in group.members
    ]


def _member_error(code: int | None) -> ClientError | None:
    if code is None:
        return UnknownError("The answer does not mention the member.")
    return error_for(code) if code else None
