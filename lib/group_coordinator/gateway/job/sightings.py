"""Groups in the responses of the job: they show changes of groups before the tables do."""

from __future__ import annotations

from collections.abc import Callable
from enum import Enum, auto
from typing import NamedTuple

from msgspec import Raw, Struct, json

from group_coordinator.clients.channel import Response
from group_coordinator.core.acls import Operation
from group_coordinator.core.model.errors import ErrorCode
from group_coordinator.gateway.api_versions import GROUP_APIS

CLASSIC = "classic"
CONSUMERS = "consumer"
"""Protocol type of consumers' groups, and group type of KIP-848."""
_DEAD = "Dead"

_MAY_MAKE_A_GROUP = (
    ErrorCode.NONE,
    ErrorCode.MEMBER_ID_REQUIRED,
    ErrorCode.INCONSISTENT_GROUP_PROTOCOL,
)


class ListedGroup(NamedTuple):
    group_type: str
    state: str
    protocol_type: str


class SightingKind(Enum):
    """Kind of information about a group in a response."""

    AS_IT_IS = auto()
    GONE = auto()
    CHANGED = auto()
    """The group may be new or in another state: describe it."""
    THERE = auto()
    SETTINGS = auto()
    """The group's settings may have changed."""


class Sighting(NamedTuple):
    """Group of a response, with the time of the group's clock in milliseconds."""

    group_id: str
    at_ms: int
    kind: SightingKind
    group: ListedGroup | None = None
    epoch: int | None = None
    """Epoch of the member whose heartbeat was answered. The group changes while epochs of members differ."""


# Only the fields that decide are decoded: every response of the job passes here.
class _Error(Struct, rename="camel", gc=False):
    error_code: int = 0


class _Heartbeat(Struct, rename="camel", gc=False):
    error_code: int = 0
    member_epoch: int = 0
    assignment: Raw = Raw(b"null")


class _Classic(Struct, rename="camel", gc=False):
    group_id: str
    error_code: int = 0
    group_state: str = ""
    protocol_type: str = ""


class _Classics(Struct, gc=False):
    groups: list[_Classic] = []


class _Results(Struct, gc=False):
    results: list[_Error] = []


class _Responses(Struct, gc=False):
    responses: list[_Error] = []


class _Partitions(Struct, gc=False):
    partitions: list[_Error] = []


class _Topics(Struct, gc=False):
    topics: list[_Partitions] = []


def sighted(response: Response) -> Sighting | None:
    """Information about the group in a response; None: there is none. Raises DecodeError: it is no response of the coordinator."""
    read = _READERS.get(response.api or "")
    return None if read is None else read(response)


def _joined(response: Response) -> Sighting | None:
    code = json.decode(response.body, type=_Error).error_code
    # A JoinGroup with an error for its protocols still creates the group.
    return _sighting(response, SightingKind.CHANGED) if code in _MAY_MAKE_A_GROUP else None


def _changed(response: Response) -> Sighting | None:
    code = json.decode(response.body, type=_Error).error_code
    return _sighting(response, SightingKind.CHANGED) if code == ErrorCode.NONE else None


def _beat(response: Response) -> Sighting | None:
    code = json.decode(response.body, type=_Error).error_code
    # A classic group that waits for its members to join again shows it in no other response.
    if code == ErrorCode.REBALANCE_IN_PROGRESS:
        return _sighting(response, SightingKind.CHANGED)
    return _sighting(response, SightingKind.THERE) if code == ErrorCode.NONE else None


def _consumer_beat(response: Response) -> Sighting | None:
    body = json.decode(response.body, type=_Heartbeat)
    if body.error_code != ErrorCode.NONE:
        return None
    # A new assignment or the end of a membership changes the group.
    if body.member_epoch < 0 or bytes(body.assignment) != b"null":
        return _sighting(response, SightingKind.CHANGED)
    return Sighting(response.group_id, response.at, SightingKind.THERE, epoch=body.member_epoch)


def _committed(response: Response) -> Sighting | None:
    topics = json.decode(response.body, type=_Topics).topics
    codes = {partition.error_code for topic in topics for partition in topic.partitions}
    # A commit with too much metadata still creates the group.
    is_there = {ErrorCode.NONE, ErrorCode.OFFSET_METADATA_TOO_LARGE} & codes
    return _sighting(response, SightingKind.THERE) if is_there else None


def _deleted(response: Response) -> Sighting | None:
    results = json.decode(response.body, type=_Results).results
    # A missing group is as good as deleted: lists must not show it any longer.
    gone = (ErrorCode.NONE, ErrorCode.GROUP_ID_NOT_FOUND)
    if any(result.error_code in gone for result in results):
        return _sighting(response, SightingKind.GONE)
    return None


def _described(response: Response) -> Sighting | None:
    for group in json.decode(response.body, type=_Classics).groups:
        # DescribeGroups responds with Dead for a group that does not exist, and for a consumer group.
        if group.error_code == ErrorCode.NONE and group.group_state not in ("", _DEAD):
            found = ListedGroup(CLASSIC, group.group_state, group.protocol_type)
            return Sighting(response.group_id, response.at, SightingKind.AS_IT_IS, found)
    return None


def _consumers_described(response: Response) -> Sighting | None:
    for group in json.decode(response.body, type=_Classics).groups:
        if group.error_code == ErrorCode.NONE:
            found = ListedGroup(CONSUMERS, group.group_state, CONSUMERS)
            return Sighting(response.group_id, response.at, SightingKind.AS_IT_IS, found)
    return None


def _configured(response: Response) -> Sighting | None:
    responses = json.decode(response.body, type=_Responses).responses
    if any(each.error_code == ErrorCode.NONE for each in responses):
        return _sighting(response, SightingKind.SETTINGS)
    return None


def _sighting(response: Response, kind: SightingKind) -> Sighting:
    return Sighting(response.group_id, response.at, kind)


_READERS: dict[str, Callable[[Response], Sighting | None]] = {
    **{name: _changed for name, rights in GROUP_APIS.items() if rights.on_group is Operation.READ},
    "JoinGroup": _joined,
    "Heartbeat": _beat,
    "ConsumerGroupHeartbeat": _consumer_beat,
    "OffsetCommit": _committed,
    "TxnOffsetCommit": _committed,
    "DeleteGroups": _deleted,
    "DescribeGroups": _described,
    "ConsumerGroupDescribe": _consumers_described,
    "IncrementalAlterConfigs": _configured,
}
