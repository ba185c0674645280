"""ListGroups: the state tables, corrected by responses since then; at a node's port the groups of that node."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Awaitable, Iterable, Mapping
from dataclasses import dataclass
from heapq import nlargest

from group_coordinator.clients.channel import Body
from group_coordinator.core.model.errors import ErrorCode
from group_coordinator.gateway.cluster.addresses import Coordinators
from group_coordinator.gateway.group_part import GroupPart
from group_coordinator.gateway.groups.group_tables import FreshTables, TableOfGroups
from group_coordinator.gateway.job.delivery import RecentEntries
from group_coordinator.gateway.job.job_channel import ASKER, GroupRequest, JobClient, NoAnswerError
from group_coordinator.gateway.job.sightings import (
    CLASSIC,
    CONSUMERS,
    ListedGroup,
    Sighting,
    SightingKind,
)
from group_coordinator.gateway.login import Caller

_COMPACTED_AFTER_MS = 30_000
"""Age after which a change is in the tables when compaction writes."""
_BELIEVED_S = 10.0
"""Lifetime of a description outside of the tables, which would show that a group expired or lost a member."""
_MOST_BYTES = 32 * 1024 * 1024
"""Limit of the remembered groups, about 140,000; the tables must do for the groups that were seen longest ago."""
_QUESTIONS = 500
"""Limit of the groups that one listing describes, the newest first; the others keep their last description."""
_LASTING = ("Stable", "Empty")
"""States in which groups stay. Each listing describes the groups in other states again."""
_NEVER_MS = -1


@dataclass(slots=True)
class _Seen:
    at_ms: int = _NEVER_MS
    """Time of the group's clock, as in the tables."""
    seen_s: float = 0.0
    group: ListedGroup | None = None
    """None: the group is not described yet."""
    is_gone: bool = False
    is_in_doubt: bool = False
    epoch: int | None = None


class GroupsById:
    """Groups by id as the responses show them. The caller describes the groups in doubt, then calls `listed`."""

    def __init__(self) -> None:
        self._seen: RecentEntries[str, _Seen] = RecentEntries(_MOST_BYTES)

    def see(self, sighting: Sighting) -> None:
        """Apply a response to its group; a response older than the known state changes nothing."""
        seen = self._seen.get(sighting.group_id) or _Seen()
        if sighting.at_ms < seen.at_ms:
            return
        seen.at_ms, seen.seen_s = sighting.at_ms, time.monotonic()
        if sighting.kind is SightingKind.THERE:
            # A group that exists after its deletion, or whose epoch moved, must be described again.
            seen.is_in_doubt = seen.is_in_doubt or seen.is_gone or _has_moved(seen, sighting)
            seen.epoch = seen.epoch if sighting.epoch is None else sighting.epoch
        else:
            seen.is_in_doubt = sighting.kind is SightingKind.CHANGED
            seen.group = sighting.group or (seen.group if seen.is_in_doubt else None)
        seen.is_gone = sighting.kind is SightingKind.GONE
        self._seen[sighting.group_id] = seen

    def see_gone(self, group_id: str) -> None:
        """Note that the job does not know the group; newer responses keep it in doubt."""
        seen = self._seen.get(group_id)
        if seen is not None:
            self.see(Sighting(group_id, seen.at_ms, SightingKind.GONE))

    def is_classic(self, group_id: str) -> bool:
        """Return True if the last description was of a classic group. A member of KIP-848 since then would have been seen."""
        seen = self._seen.get(group_id)
        if seen is None or seen.group is None or seen.is_gone or seen.is_in_doubt:
            return False
        return seen.group.group_type == CLASSIC

    def in_doubt(self, table: TableOfGroups | None) -> list[str]:
        self._leave_to(table)
        doubtful = [
            (seen.at_ms, group_id)
            for group_id, seen in self._seen.items()
            if _is_doubtful(group_id, seen, table)
        ]
        # The newest changes matter most to the user who lists.
        return [group_id for _, group_id in nlargest(_QUESTIONS, doubtful)]

    def listed(self, table: TableOfGroups | None) -> Mapping[str, ListedGroup]:
        # The tables have all groups, the responses only those that were seen since the start.
        rows = {} if table is None else table.rows
        groups = {group_id: row.group for group_id, row in rows.items()}
        for group_id, seen in self._seen.items():
            row = rows.get(group_id)
            # The table is newer than the last response.
            if row is not None and row.updated_ms > seen.at_ms:
                continue
            if seen.is_gone:
                groups.pop(group_id, None)
            elif seen.group is not None:
                groups[group_id] = seen.group
        return groups

    def _leave_to(self, table: TableOfGroups | None) -> None:
        if table is None:
            return
        compacted = [
            group_id
            for group_id, seen in self._seen.items()
            # Otherwise a group that expired would stay in the list: expiration shows in no response.
            if seen.at_ms + _COMPACTED_AFTER_MS < table.compacted_ms
        ]
        for group_id in compacted:
            self._seen.pop(group_id)


def _has_moved(seen: _Seen, sighting: Sighting) -> bool:
    # A member's epoch that differs from the epoch before, or the first epoch of a classic group, means a change.
    if sighting.epoch is None:
        return False
    was_classic = seen.group is not None and seen.group.group_type != CONSUMERS
    return was_classic or seen.epoch not in (None, sighting.epoch)


def _is_doubtful(group_id: str, seen: _Seen, table: TableOfGroups | None) -> bool:
    if seen.is_gone or seen.is_in_doubt:
        return seen.is_in_doubt
    if seen.group is not None and seen.group.state not in _LASTING:
        return True
    if table is not None and group_id in table.rows:
        return False
    # No response shows that a group expired, and compaction may have nothing to write afterwards.
    return seen.group is None or time.monotonic() - seen.seen_s > _BELIEVED_S


class AllGroups:
    """List of all groups; NodeShares reduces it for a node's port."""

    def __init__(self, job: JobClient, tables: FreshTables | None, answer_timeout_ms: int) -> None:
        """Without tables, only groups with responses since the gateway's start are known."""
        self._job = job
        self._tables = tables
        self._timeout_s = answer_timeout_ms / 1000
        self._picture = GroupsById()
        self._asking: dict[str, asyncio.Task[None]] = {}

    def see(self, sighting: Sighting) -> None:
        self._picture.see(sighting)

    def is_classic(self, group_id: str) -> bool:
        return self._picture.is_classic(group_id)

    async def answer(self, body: Body) -> Body:
        """Response of ListGroups; filters ignore case."""
        table = await self._table()
        await self._ask_about(self._picture.in_doubt(table))
        # Filters apply at the end, as a description may change the state.
        states, types = _wanted(body, "statesFilter"), _wanted(body, "typesFilter")
        groups = [
            _entry(group_id, group)
            for group_id, group in self._picture.listed(table).items()
            if (not states or group.state.lower() in states)
            and (not types or group.group_type in types)
        ]
        return {"throttleTimeMs": 0, "errorCode": ErrorCode.NONE, "groups": groups}

    async def _table(self) -> TableOfGroups | None:
        if self._tables is None:
            return None
        await self._tables.refresh()
        return self._tables.groups

    async def _ask_about(self, group_ids: Iterable[str]) -> None:
        # Concurrent listings, one for each node, share the requests.
        tasks = [self._asking_about(group_id) for group_id in group_ids]
        if tasks:
            await asyncio.wait(tasks)

    def _asking_about(self, group_id: str) -> asyncio.Task[None]:
        task = self._asking.get(group_id)
        if task is None:
            task = self._asking[group_id] = asyncio.create_task(self._describe(group_id))
            task.add_done_callback(lambda _: self._asking.pop(group_id, None))
        return task

    async def _describe(self, group_id: str) -> None:
        # Each API answers only for its own type of groups. The responses reach `see` like all others.
        answers = await asyncio.gather(
            self._job.ask(self._question("DescribeGroups", 6, group_id, {"groups": [group_id]})),
            self._job.ask(
                self._question("ConsumerGroupDescribe", 1, group_id, {"groupIds": [group_id]})
            ),
            return_exceptions=True,
        )
        if all(map(_is_unknown, answers)):
            self._picture.see_gone(group_id)

    def _question(self, api: str, version: int, group_id: str, body: Body) -> GroupRequest:
        body = {**body, "includeAuthorizedOperations": False}
        return GroupRequest(api, version, group_id, body, ASKER, timeout_s=self._timeout_s)


def _is_unknown(response: Body | BaseException) -> bool:
    if isinstance(response, NoAnswerError):
        return False
    if isinstance(response, BaseException):
        raise response
    groups = response.get("groups", [])
    return bool(groups) and all(
        group["errorCode"] == ErrorCode.GROUP_ID_NOT_FOUND for group in groups
    )


def _wanted(body: Body, filter_name: str) -> frozenset[str]:
    return frozenset(word.strip().lower() for word in body.get(filter_name, ()))


def _entry(group_id: str, group: ListedGroup) -> Body:
    return {
        "groupId": group_id,
        "protocolType": group.protocol_type,
        "groupState": group.state,
        "groupType": group.group_type,
    }


class NodeShares:
    """Lists only a node's groups at its port: clients merge the lists of all nodes."""

    def __init__(self, groups: GroupPart, coordinators: Coordinators) -> None:
        self._groups = groups
        self._coordinators = coordinators

    def answer(self, api: str, version: int, body: Body, caller: Caller) -> Awaitable[Body]:
        response = self._groups.answer(api, version, body, caller)
        if api != "ListGroups" or caller.node_id is None:
            return response
        return self._share(response, caller.node_id)

    async def _share(self, response: Awaitable[Body], node_id: int) -> Body:
        found = await response
        share = self._coordinators.share_of(node_id, (each["groupId"] for each in found["groups"]))
        return {**found, "groups": [each for each in found["groups"] if each["groupId"] in share]}
