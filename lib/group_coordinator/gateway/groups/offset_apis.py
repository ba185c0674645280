"""The APIs about offsets: what of a request the job is asked, and what is refused or named by id here."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import TypeAlias

from group_coordinator.core.model.errors import ErrorCode
from group_coordinator.gateway.groups import offset_topics
from group_coordinator.gateway.groups.known_topics import KnownTopics
from group_coordinator.gateway.groups.lists import OfOneGroup
from group_coordinator.gateway.groups.offset_topics import Sorted
from group_coordinator.gateway.groups.refusals import no_offset, refused
from group_coordinator.gateway.groups.turns import Turns
from group_coordinator.gateway.job.questions import Body
from group_coordinator.gateway.job.transaction_ends import NoEndError, TransactionEnds
from group_coordinator.gateway.login.caller import Caller

_IDS_SINCE = 10
"""Of OffsetCommit and OffsetFetch: topics go by id. The job is asked by name, in the version before."""

Ask: TypeAlias = Callable[[str, int, str, Body, Caller], Awaitable[Body]]
"""Asks the job about one group; a refusal of the whole stands where the API has errors."""


class OffsetApis:
    """Commits and fetches of one group each; those that must look something up first keep their place in the order."""

    def __init__(self, ask: Ask, topics: KnownTopics, ends: TransactionEnds) -> None:
        self._ask = ask
        self._topics = topics
        self._ends = ends
        self._turns = Turns()

    def write(self, api: str, version: int, body: Body, caller: Caller) -> Awaitable[Body]:
        """An OffsetCommit or an OffsetDelete. What exists at the second look is asked of the job, the rest is refused."""
        look_up = self._topics.look_again if self._sorted(api, version, body).refused else None

        def hand_over() -> Awaitable[Body]:
            return self._hand_over(api, version, body, caller)

        return self._turns.take(body["groupId"], hand_over, look_up)

    def _hand_over(self, api: str, version: int, body: Body, caller: Caller) -> Awaitable[Body]:
        found = self._sorted(api, version, body)
        if not found.present and api != "OffsetDelete":
            return _at_once(
                {"throttleTimeMs": 0, "topics": offset_topics.merged(found.refused, ())}
            )
        by_id = _goes_by_id(api, version)
        asked = {**body, "topics": found.present}
        answer = self._ask(
            api, _IDS_SINCE - 1 if by_id else version, body["groupId"], asked, caller
        )
        return self._completed(answer, found, by_id=by_id)

    async def _completed(self, asked: Awaitable[Body], found: Sorted, *, by_id: bool) -> Body:
        answer = await asked
        if answer.get("errorCode"):
            return answer
        topics = answer["topics"]
        if by_id:
            topics = offset_topics.with_ids(topics, self._topics)
        return {**answer, "topics": offset_topics.merged(found.refused, topics)}

    def _sorted(self, api: str, version: int, body: Body) -> Sorted:
        sort = offset_topics.sort_by_id if _goes_by_id(api, version) else offset_topics.sort_by_name
        return sort(body["topics"], self._topics)

    def commit_in_transaction(self, version: int, body: Body, caller: Caller) -> Awaitable[Body]:
        """A TxnOffsetCommit: with the end of the partition in which the marker of its transaction will stand."""
        end: list[int] = []
        refusal: int = ErrorCode.COORDINATOR_NOT_AVAILABLE

        def found() -> Sorted:
            return self._sorted("TxnOffsetCommit", version, body)

        async def look_up() -> None:
            nonlocal refusal
            if found().refused:
                await self._topics.look_again()
            if found().present:
                try:
                    end.append(await self._ends.end_for(body, version))
                except NoEndError as error:
                    refusal = error.code

        def hand_over() -> Awaitable[Body]:
            present = found().present
            if present and not end:
                answer = refused("TxnOffsetCommit", version, {"topics": present}, refusal)
                return self._completed(_at_once(answer), found(), by_id=False)
            marked = {**body, "markersEndOffset": end[0]} if end else body
            return self._hand_over("TxnOffsetCommit", version, marked, caller)

        return self._turns.take(body["groupId"], hand_over, look_up)

    def fetch(self, version: int, one: OfOneGroup, caller: Caller) -> Awaitable[Body]:
        """An OffsetFetch of one group."""
        if version < _IDS_SINCE:
            return self._turns.take(
                one.group_id,
                lambda: self._ask("OffsetFetch", version, one.group_id, one.body, caller),
            )
        [group] = one.body["groups"]
        unknown = any(self._topics.name_of(t["topicId"]) is None for t in group["topics"] or ())
        return self._turns.take(
            one.group_id,
            lambda: self._fetch_by_id(one.body, group, caller),
            self._topics.look_again if unknown else None,
        )

    def _fetch_by_id(self, body: Body, group: Body, caller: Caller) -> Awaitable[Body]:
        named, unknown = None, []
        if group["topics"] is not None:
            named = []
            for topic in group["topics"]:
                name = self._topics.name_of(topic["topicId"])
                if name is None:
                    unknown.append(_unknown(topic))
                else:
                    named.append({"name": name, "partitionIndexes": topic["partitionIndexes"]})
        asked = {**body, "groups": [{**group, "topics": named}]}
        version = _IDS_SINCE - 1
        answer = self._ask("OffsetFetch", version, group["groupId"], asked, caller)
        return self._fetched(answer, unknown)

    async def _fetched(self, asked: Awaitable[Body], unknown: list[Body]) -> Body:
        answer = await asked
        [group] = answer["groups"]
        topics = [*offset_topics.with_ids(group["topics"], self._topics), *unknown]
        return {**answer, "groups": [{**group, "topics": topics}]}


def _goes_by_id(api: str, version: int) -> bool:
    return api == "OffsetCommit" and version >= _IDS_SINCE


def _unknown(topic: Body) -> Body:
    code = ErrorCode.UNKNOWN_TOPIC_ID
    partitions = [no_offset(number, code) for number in topic["partitionIndexes"]]
    return {"topicId": topic["topicId"], "partitions": partitions}


async def _at_once(body: Body) -> Body:
    return body
