"""ListGroups: no event can ask for all groups, so the gateway knows them from tables and from what passes by."""

from __future__ import annotations

import asyncio
from collections.abc import Iterable

from group_coordinator.clients.channel.channel import Body
from group_coordinator.core.model.errors import ErrorCode
from group_coordinator.gateway.groups.fresh_tables import FreshTables
from group_coordinator.gateway.groups.group_picture import GroupPicture
from group_coordinator.gateway.groups.group_tables import TableOfGroups
from group_coordinator.gateway.job.requests import ASKER, Job, NoAnswerError, Question
from group_coordinator.gateway.job.sightings import ListedGroup, Sighting


class GroupListing:
    """Every group there is; which node's port shows which of them: node_shares.py."""

    def __init__(self, job: Job, tables: FreshTables | None, answer_timeout_ms: int) -> None:
        """Without tables, groups that nobody has spoken of since the gateway started are not known."""
        self._job = job
        self._tables = tables
        self._timeout_s = answer_timeout_ms / 1000
        self._picture = GroupPicture()
        self._asking: dict[str, asyncio.Task[None]] = {}

    def see(self, sighting: Sighting) -> None:
        """Take in what an answer that passed by says of its group."""
        self._picture.see(sighting)

    def is_classic(self, group_id: str) -> bool:
        """Whether the group is known to be classic; false: it may be all the same."""
        return self._picture.is_classic(group_id)

    async def answer(self, body: Body) -> Body:
        """A ListGroups; filters ignore case."""
        table = await self._table()
        await self._ask_about(self._picture.in_doubt(table))
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
        """Several listings at once, one of each node, share the questions."""
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
        """Either kind of group knows only the question of its kind; the answers pass by, so `see` hears them."""
        answers = await asyncio.gather(
            self._job.ask(self._question("DescribeGroups", 6, group_id, {"groups": [group_id]})),
            self._job.ask(
                self._question("ConsumerGroupDescribe", 1, group_id, {"groupIds": [group_id]})
            ),
            return_exceptions=True,
        )
        if all(map(_is_unknown, answers)):
            self._picture.see_gone(group_id)

    def _question(self, api: str, version: int, group_id: str, body: Body) -> Question:
        body = {**body, "includeAuthorizedOperations": False}
        return Question(api, version, group_id, body, ASKER, self._timeout_s)


def _is_unknown(answer: Body | BaseException) -> bool:
    if isinstance(answer, NoAnswerError):
        return False
    if isinstance(answer, BaseException):
        raise answer
    groups = answer.get("groups", [])
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
