"""APIs of offsets: the part of a request that goes to the job, and the local responses for unknown topics."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from functools import partial
from typing import TypeAlias

from group_coordinator.clients.channel.channel import Body
from group_coordinator.core.model.errors import ErrorCode
from group_coordinator.gateway.groups import offset_topics
from group_coordinator.gateway.groups.error_responses import OfOneGroup, no_offset, refused
from group_coordinator.gateway.groups.offset_topics import IDS_SINCE, KnownTopics, Sorted
from group_coordinator.gateway.groups.turns import Turns
from group_coordinator.gateway.job.transaction_ends import NoEndError, TransactionEnds
from group_coordinator.gateway.login.caller import Caller

Ask: TypeAlias = Callable[[str, int, str, Body, Caller], Awaitable[Body]]
"""Sends a request about one group to the job. An error for the whole request is in the fields of the API."""


class OffsetApis:
    """Commits and fetches of one group each. Requests with a look-up keep their place in the order."""

    def __init__(self, ask: Ask, topics: KnownTopics, ends: TransactionEnds) -> None:
        self._ask = ask
        self._topics = topics
        self._ends = ends
        self._turns = Turns()

    def write(self, api: str, version: int, body: Body, caller: Caller) -> Awaitable[Body]:
        """Answer an OffsetCommit or OffsetDelete. Topics that exist after a look-up go to the job, the others get errors."""
        grown = offset_topics.grown(body["topics"], self._topics)
        look_up = partial(self._topics.look_for, grown) if grown else None

        def hand_over() -> Awaitable[Body]:
            return self._hand_over(api, version, body, caller)

        return self._turns.take(body["groupId"], hand_over, look_up)

    def _hand_over(self, api: str, version: int, body: Body, caller: Caller) -> Awaitable[Body]:
        found = self._sorted(body)
        # An OffsetDelete goes to the job even without topics, as the group may not exist.
        if not found.present and api != "OffsetDelete":
            return _at_once(
                {"throttleTimeMs": 0, "topics": offset_topics.merged(found.refused, ())}
            )
        ids = offset_topics.ids_of(body["topics"])
        asked = {**body, "topics": found.present}
        answer = self._ask(api, IDS_SINCE - 1 if ids else version, body["groupId"], asked, caller)
        return self._completed(answer, found, ids)

    async def _completed(
        self, asked: Awaitable[Body], found: Sorted, ids: Mapping[str, str]
    ) -> Body:
        answer = await asked
        if answer.get("errorCode"):
            return answer
        topics = answer["topics"]
        if ids:
            topics = offset_topics.with_ids(topics, ids.get)
        return {**answer, "topics": offset_topics.merged(found.refused, topics)}

    def _sorted(self, body: Body) -> Sorted:
        return offset_topics.sort(body["topics"], self._topics)

    def commit_in_transaction(self, version: int, body: Body, caller: Caller) -> Awaitable[Body]:
        """Answer a TxnOffsetCommit. Its event contains the end offset behind which the transaction's marker will be."""
        end: list[int] = []
        refusal: int = ErrorCode.COORDINATOR_NOT_AVAILABLE

        def found() -> Sorted:
            return self._sorted(body)

        async def look_up() -> None:
            nonlocal refusal
            grown = offset_topics.grown(body["topics"], self._topics)
            if grown:
                await self._topics.look_for(grown)
            # Without existing topics there is no commit, and no marker is needed.
            if found().present:
                try:
                    end.append(await self._ends.end_for(body, version))
                except NoEndError as error:
                    refusal = error.code

        def hand_over() -> Awaitable[Body]:
            present = found().present
            if present and not end:
                answer = refused("TxnOffsetCommit", version, {"topics": present}, refusal)
                return self._completed(_at_once(answer), found(), {})
            marked = {**body, "markersEndOffset": end[0]} if end else body
            return self._hand_over("TxnOffsetCommit", version, marked, caller)

        return self._turns.take(body["groupId"], hand_over, look_up)

    def fetch(self, version: int, one: OfOneGroup, caller: Caller) -> Awaitable[Body]:
        """Answer an OffsetFetch of a group."""
        if version < IDS_SINCE:
            return self._turns.take(
                one.group_id,
                lambda: self._ask("OffsetFetch", version, one.group_id, one.body, caller),
            )
        # From this version on topics have ids, and the job gets names.
        [group] = one.body["groups"]
        return self._turns.take(one.group_id, lambda: self._fetch_by_id(one.body, group, caller))

    def _fetch_by_id(self, body: Body, group: Body, caller: Caller) -> Awaitable[Body]:
        named: list[Body] | None = None
        unknown: list[Body] = []
        if group["topics"] is not None:
            named = []
            for topic in group["topics"]:
                if "name" in topic:
                    partitions = topic["partitionIndexes"]
                    named.append({"name": topic["name"], "partitionIndexes": partitions})
                else:
                    unknown.append(_unknown(topic))
        asked = {**body, "groups": [{**group, "topics": named}]}
        version = IDS_SINCE - 1
        answer = self._ask("OffsetFetch", version, group["groupId"], asked, caller)
        id_of = self._topics.id_of if named is None else offset_topics.ids_of(group["topics"]).get
        return self._fetched(answer, unknown, id_of)

    async def _fetched(
        self,
        asked: Awaitable[Body],
        unknown: list[Body],
        id_of: Callable[[str], str | None],
    ) -> Body:
        answer = await asked
        [group] = answer["groups"]
        topics = [*offset_topics.with_ids(group["topics"], id_of), *unknown]
        return {**answer, "groups": [{**group, "topics": topics}]}


def _unknown(topic: Body) -> Body:
    code = ErrorCode.UNKNOWN_TOPIC_ID
    partitions = [no_offset(number, code) for number in topic["partitionIndexes"]]
    return {"topicId": topic["topicId"], "partitions": partitions}


async def _at_once(body: Body) -> Body:
    return body
