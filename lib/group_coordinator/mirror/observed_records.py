"""Records that a broker would have in __consumer_offsets for a group as its admin protocol shows it, and their changes.

The protocol does not show every field of a record: the times of commits and of states, the generation and the leader of a classic
group, timeouts of members, topics that a pattern matched. Times are 0 here, and become the time of the poll that finds a change.
"""

from __future__ import annotations

from base64 import b64decode
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from msgspec import json

from group_coordinator.clients.cluster.group_poll import (
    CLASSIC,
    CONSUMER,
    SHARE,
    STREAMS,
    Body,
    PolledGroup,
)
from group_coordinator.codecs.records import log_entry
from group_coordinator.codecs.records.group_metadata import GroupKeyData
from group_coordinator.codecs.records.record_types import (
    CURRENT_ASSIGNMENT,
    GROUP_EPOCH,
    GROUP_METADATA,
    OFFSET_COMMIT,
    REMOVAL_ORDER,
    SHARE_CURRENT_ASSIGNMENT,
    SHARE_GROUP_EPOCH,
    SHARE_MEMBER_METADATA,
    SHARE_TARGET_ASSIGNMENT,
    SHARE_TARGET_EPOCH,
    STREAMS_CURRENT_ASSIGNMENT,
    STREAMS_GROUP_EPOCH,
    STREAMS_MEMBER_METADATA,
    STREAMS_TARGET_ASSIGNMENT,
    STREAMS_TARGET_EPOCH,
    STREAMS_TOPOLOGY,
    TARGET_ASSIGNMENT,
    TARGET_EPOCH,
    Key,
    LogEntry,
    RecordValue,
)
from group_coordinator.core.model.classic_member import Protocol
from group_coordinator.core.model.consumer_member import (
    ClassicMetadata,
    CurrentAssignment,
    GroupEpoch,
    ReconciliationState,
    ResolvedRegex,
    SubscriptionMetadata,
    TargetEpoch,
)
from group_coordinator.core.model.records import (
    CurrentRecord,
    GroupEpochRecord,
    GroupMetadata,
    GroupRecord,
    MemberMetadata,
    MemberRecord,
    OffsetRecord,
    Reason,
    Record,
    RegexRecord,
    TargetEpochRecord,
    TargetRecord,
)
from group_coordinator.core.model.requests import Topic
from group_coordinator.core.model.topic_offsets import CommittedOffset

Records = dict[str, str]
"""Values of a group's records by their keys, both in JSON."""

_UNSETTLED = frozenset({"PreparingRebalance", "CompletingRebalance"})
_BY_CLASSIC_PROTOCOL = 0
"""The member type in ConsumerGroupDescribe of a member that joined by JoinGroup."""
_OF_STREAMS = (
    *("instanceId", "rackId", "clientId", "clientHost"),
    *("topologyEpoch", "processId", "userEndpoint", "clientTags"),
)
_KINDS_OF_TASKS = ("activeTasks", "standbyTasks", "warmupTasks")
_STREAMS_STABLE, _STREAMS_UNRELEASED = 1, 3
_BEHIND_MEMBERS = (
    (GROUP_EPOCH, SHARE_GROUP_EPOCH, STREAMS_GROUP_EPOCH),
    (TARGET_ASSIGNMENT, SHARE_TARGET_ASSIGNMENT, STREAMS_TARGET_ASSIGNMENT),
    (TARGET_EPOCH, SHARE_TARGET_EPOCH, STREAMS_TARGET_EPOCH),
    (CURRENT_ASSIGNMENT, SHARE_CURRENT_ASSIGNMENT, STREAMS_CURRENT_ASSIGNMENT),
)
_WRITING_RANKS = {kind: rank for rank, kinds in enumerate(_BEHIND_MEMBERS, 1) for kind in kinds}
"""Kafka's order of the records of a group epoch: those of members come first, with rank 0."""
_TIMES = ("commitTimestamp", "currentStateTimestamp")
_to_json = json.Encoder().encode


def records_of(polled: PolledGroup) -> Records:
    """Return the records of a group without error. A rebalancing classic group has only its offsets here: see `changes`."""
    topics = _topics(polled.description or {})
    records = (*_group_records(polled), *_offset_records(polled))
    entries = [
        *(log_entry.encode(polled.group_id, record, topics) for record in records),
        *_entries_of_others(polled),
    ]
    return {_to_json(entry.key).decode(): _to_json(entry.value).decode() for entry in entries}


def is_settled(polled: PolledGroup) -> bool:
    """Return False while a classic group rebalances: its members have no assignments, and Kafka writes no record."""
    return polled.description is None or polled.description["groupState"] not in _UNSETTLED


def _group_records(polled: PolledGroup) -> Iterator[Record]:
    description = polled.description
    if description is None:
        return
    if polled.group_type == CONSUMER:
        yield from _consumer_group(description)
    # A group that only commits offsets has no record of its own.
    elif polled.group_type == CLASSIC and is_settled(polled) and description["protocolType"]:
        yield _classic_group(description)


def _classic_group(description: Body) -> GroupRecord:
    protocol = description["protocolData"]
    members = tuple(
        MemberMetadata(
            member_id=member["memberId"],
            group_instance_id=member.get("groupInstanceId"),
            client_id=member["clientId"],
            client_host=member["clientHost"],
            rebalance_timeout_ms=-1,
            session_timeout_ms=-1,
            subscription=Protocol(protocol, b64decode(member["memberMetadata"])),
            assignment=b64decode(member["memberAssignment"]),
        )
        for member in sorted(description["members"], key=_member_id)
    )
    group = GroupMetadata(
        protocol_type=description["protocolType"],
        # The number is not shown. In generation 0 a group would have had no members yet.
        generation=1,
        protocol=protocol or None,
        leader=None,
        state_timestamp_ms=0,
        members=members,
    )
    return GroupRecord(group, Reason.OBSERVED)


def _consumer_group(description: Body) -> Iterator[Record]:
    yield GroupEpochRecord(GroupEpoch(description["groupEpoch"]), Reason.OBSERVED)
    yield TargetEpochRecord(TargetEpoch(description["assignmentEpoch"]), Reason.OBSERVED)
    yield from _regexes(description["members"])
    for member in sorted(description["members"], key=_member_id):
        member_id = member["memberId"]
        yield MemberRecord(member_id, _subscription(member), Reason.OBSERVED)
        target = _assignment(member["targetAssignment"])
        yield TargetRecord(member_id, target, Reason.OBSERVED)
        owned = _assignment(member["assignment"])
        yield CurrentRecord(member_id, _current(member, owned), Reason.OBSERVED)


def _regexes(members: Sequence[Body]) -> Iterator[RegexRecord]:
    # The matched topics are not shown; without those of the assignments, live offsets would seem to expire.
    found: dict[str, set[str]] = {}
    for member in members:
        if member["subscribedTopicRegex"]:
            assigned = {topic.name for topic in _topics({"members": [member]}).values()}
            found.setdefault(member["subscribedTopicRegex"], set()).update(
                assigned.difference(member["subscribedTopicNames"])
            )
    for regex, topics in sorted(found.items()):
        yield RegexRecord(regex, ResolvedRegex(tuple(sorted(topics)), 0, 0), Reason.OBSERVED)


def _entries_of_others(polled: PolledGroup) -> Iterator[LogEntry]:
    """Yield the records of a share or streams group, of which core knows nothing."""
    described = {SHARE: _share_group, STREAMS: _streams_group}.get(polled.group_type)
    if described is None or polled.description is None:
        return
    for record_type, member_id, data in described(polled.description):
        key = {"groupId": polled.group_id} | ({"memberId": member_id} if member_id else {})
        value: RecordValue[Any] = RecordValue(data=data)
        yield LogEntry(Key(record_type, key), value, member_id=member_id)


def _share_group(description: Body) -> Iterator[tuple[int, str | None, dict[str, Any]]]:
    yield SHARE_GROUP_EPOCH, None, {"epoch": description["groupEpoch"], "metadataHash": 0}
    yield SHARE_TARGET_EPOCH, None, _target_epoch(description)
    for member in sorted(description["members"], key=_member_id):
        member_id, epoch = member["memberId"], member["memberEpoch"]
        fields = ("rackId", "clientId", "clientHost", "subscribedTopicNames")
        assigned = [
            {"topicId": topic_id, "partitions": list(numbers)}
            for topic_id, numbers in sorted(_assignment(member["assignment"]).items())
        ]
        yield SHARE_MEMBER_METADATA, member_id, {name: member[name] for name in fields}
        # The protocol shows one assignment, which is target and present at once (KIP-932).
        yield SHARE_TARGET_ASSIGNMENT, member_id, {"topicPartitions": assigned}
        current = {**_epochs(epoch), "state": 0, "assignedPartitions": assigned}
        yield SHARE_CURRENT_ASSIGNMENT, member_id, current


def _target_epoch(description: Body) -> dict[str, Any]:
    return {"assignmentEpoch": description["assignmentEpoch"]}


def _epochs(epoch: int) -> dict[str, Any]:
    return {"memberEpoch": epoch, "previousMemberEpoch": epoch}


def _streams_group(description: Body) -> Iterator[tuple[int, str | None, dict[str, Any]]]:
    topology = description["topology"]
    is_ready = topology is not None and description["groupState"] != "NotReady"
    validated = {"validatedTopologyEpoch": topology["epoch"] if is_ready else -1}
    epoch = {"epoch": description["groupEpoch"], "metadataHash": 0}
    yield STREAMS_GROUP_EPOCH, None, epoch | validated
    yield STREAMS_TARGET_EPOCH, None, _target_epoch(description)
    if topology is not None:
        parts = [_subtopology(part) for part in topology["subtopologies"] or ()]
        yield STREAMS_TOPOLOGY, None, {"epoch": topology["epoch"], "subtopologies": parts}
    for member in sorted(description["members"], key=_member_id):
        member_id = member["memberId"]
        metadata = {name: member[name] for name in _OF_STREAMS}
        yield STREAMS_MEMBER_METADATA, member_id, {**metadata, "rebalanceTimeoutMs": -1}
        yield STREAMS_TARGET_ASSIGNMENT, member_id, _tasks(member["targetAssignment"])
        yield STREAMS_CURRENT_ASSIGNMENT, member_id, _current_tasks(member)


def _subtopology(part: Body) -> dict[str, Any]:
    # Topics of patterns, and groups of topics with equal partitions, are not shown.
    return {**part, "sourceTopicRegex": [], "copartitionGroups": []}


def _tasks(assignment: Body) -> dict[str, Any]:
    return {kind: assignment[kind] for kind in _KINDS_OF_TASKS}


def _current_tasks(member: Body) -> dict[str, Any]:
    is_stable = member["assignment"] == member["targetAssignment"]
    state = {"state": _STREAMS_STABLE if is_stable else _STREAMS_UNRELEASED}
    revoked: dict[str, Any] = {f"{kind}PendingRevocation": [] for kind in _KINDS_OF_TASKS}
    return _epochs(member["memberEpoch"]) | state | _tasks(member["assignment"]) | revoked


def _member_id(member: Body) -> str:
    return str(member["memberId"])


def _subscription(member: Body) -> SubscriptionMetadata:
    is_classic = member.get("memberType") == _BY_CLASSIC_PROTOCOL
    return SubscriptionMetadata(
        group_instance_id=member["instanceId"],
        rack_id=member["rackId"],
        client_id=member["clientId"],
        client_host=member["clientHost"],
        topic_names=tuple(sorted(set(member["subscribedTopicNames"]))),
        topic_regex=member["subscribedTopicRegex"] or None,
        rebalance_timeout_ms=-1,
        server_assignor=None,
        classic=ClassicMetadata(-1, ()) if is_classic else None,
    )


def _assignment(assignment: Body) -> dict[str, tuple[int, ...]]:
    return {
        topic["topicId"]: tuple(sorted(topic["partitions"]))
        for topic in assignment["topicPartitions"]
        if topic["partitions"]
    }


def _current(member: Body, owned: Mapping[str, Sequence[int]]) -> CurrentAssignment:
    epoch = member["memberEpoch"]
    # The epoch of each partition's assignment is not shown: the member's own is the latest that it may be.
    assigned = {
        topic_id: dict.fromkeys(numbers, max(epoch, 0)) for topic_id, numbers in owned.items()
    }
    return CurrentAssignment(epoch, epoch, ReconciliationState.STABLE, assigned, {})


def _topics(description: Body) -> dict[str, Topic]:
    return {
        topic["topicName"]: Topic(topic["topicName"], topic["topicId"], 0)
        for member in description.get("members", ())
        for assignment in (member.get("assignment"), member.get("targetAssignment"))
        for topic in (assignment or {}).get("topicPartitions", ())
    }


def _offset_records(polled: PolledGroup) -> Iterator[OffsetRecord]:
    for topic in polled.topics:
        for partition in topic["partitions"]:
            # No offset, or a partition that its broker may not show.
            if partition["errorCode"] or partition["committedOffset"] < 0:
                continue
            leader_epoch = partition.get("committedLeaderEpoch", -1)
            offset = CommittedOffset(
                offset=partition["committedOffset"],
                leader_epoch=None if leader_epoch < 0 else leader_epoch,
                metadata=partition["metadata"] or "",
                commit_timestamp_ms=0,
                expire_timestamp_ms=None,
                topic_id=None,
            )
            yield OffsetRecord(topic["name"], partition["partitionIndex"], offset, Reason.OBSERVED)


class RecordChange(NamedTuple):
    """A record whose value changed between two polls; `value` None: it is gone."""

    key: str
    value: str | None


def changes(before: Records, now: Records, *, is_settled: bool = True) -> list[RecordChange]:
    """Return the changed records in a likely order. The record of a group that is not settled stays as it is.

    Members commit forward, before they leave or after they have joined; an administrator moves offsets of a group without members.
    """
    # Each key is read once, as a first poll has a million of them.
    types = {key: log_entry.type_of(key) for key in now}
    changed = [RecordChange(key, value) for key, value in now.items() if before.get(key) != value]
    offsets = [change for change in changed if types[change.key] == OFFSET_COMMIT]
    by_group = [change for change in changed if types[change.key] != OFFSET_COMMIT]
    by_group.sort(key=lambda change: _WRITING_RANKS.get(types[change.key], 0))
    has_members = any(
        _names_members(key, now[key]) for key, kind in types.items() if kind != OFFSET_COMMIT
    )
    late = [each for each in offsets if _is_forward(each, before) == has_members]
    early = [each for each in offsets if _is_forward(each, before) != has_members]
    return [*early, *_gone(before, now, is_settled=is_settled), *by_group, *late]


def _is_forward(change: RecordChange, before: Records) -> bool:
    old = before.get(change.key)
    return old is None or _offset(old) <= _offset(change.value or "")


def _offset(value: str) -> int:
    return int(json.decode(value)["data"]["offset"])


def _names_members(key: str, value: str) -> bool:
    if log_entry.type_of(key) == GROUP_METADATA:
        return bool(json.decode(value)["data"]["members"])
    return "memberId" in json.decode(key)["data"]


def _gone(before: Records, now: Records, *, is_settled: bool) -> list[RecordChange]:
    gone = [
        RecordChange(key, None)
        for key in before.keys() - now.keys()
        if is_settled or log_entry.type_of(key) != GROUP_METADATA
    ]
    # Kafka's coordinator removes the record of a group that has only committed offsets, although it has written none.
    has_ended = bool(gone) and is_settled and not now
    if has_ended and all(log_entry.type_of(change.key) == OFFSET_COMMIT for change in gone):
        gone.append(RecordChange(_end_of_group(gone[0].key), None))
    return sorted(gone, key=_order_of_removal)


def _end_of_group(key: str) -> str:
    """Return the key of the group that has an offset with this key."""
    group_id = json.decode(key)["data"]["group"]
    return _to_json(Key(GROUP_METADATA, GroupKeyData(group_id))).decode()


def _order_of_removal(change: RecordChange) -> tuple[int, str]:
    return REMOVAL_ORDER.index(log_entry.type_of(change.key)), change.key


def at_time(value: str, time_ms: int) -> str:
    """Return a value with this time in place of the times that the protocol does not show."""
    for name in _TIMES:
        value = value.replace(f'"{name}":0', f'"{name}":{time_ms}')
    return value
