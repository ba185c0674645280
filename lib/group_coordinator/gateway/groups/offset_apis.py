"""APIs of offsets and heartbeats, whose topics are looked up first: the request to the job, or a local response.

Topics that are unknown get a local response. A heartbeat goes to the job with the topic metadata of its subscription. A look-up
takes time, so the requests of a group wait in a queue, in their order.
"""

from __future__ import annotations

import asyncio
import logging
from collections import deque
from collections.abc import Awaitable, Callable, Mapping
from functools import partial
from typing import NamedTuple, TypeAlias

from group_coordinator.clients.channel import Body
from group_coordinator.codecs.apis.topic_metadata import known_topic
from group_coordinator.core.model.errors import ErrorCode
from group_coordinator.gateway.groups import offset_topics
from group_coordinator.gateway.groups.error_responses import (
    OfOneGroup,
    at_once,
    error_response,
    no_offset,
)
from group_coordinator.gateway.groups.offset_topics import IDS_SINCE, Sorted, TopicCache
from group_coordinator.gateway.job.transaction_ends import NoEndError, TransactionEnds
from group_coordinator.gateway.login import Caller

HandOver: TypeAlias = Callable[[], Awaitable[Body]]
"""Sends the request to the job at once, and returns the response to come."""
LookUp: TypeAlias = Callable[[], Awaitable[None]]
"""Asks the brokers for data of the job's request. It raises no error."""

_log = logging.getLogger(__name__)


class _Turn(NamedTuple):
    look_up: LookUp | None
    hand_over: HandOver
    begun: asyncio.Future[Awaitable[Body]]


class GroupQueues:
    """Group queues. Requests wait for an earlier request of their group only during its look-up, which is rare."""

    def __init__(self) -> None:
        self._lines: dict[str, deque[_Turn]] = {}
        self._tasks: set[asyncio.Task[None]] = set()

    def take(
        self, group_id: str, hand_over: HandOver, look_up: LookUp | None = None
    ) -> Awaitable[Body]:
        """Hand over now, or after the earlier requests and the look-up."""
        line = self._lines.get(group_id)
        # The usual case needs no task.
        if line is None and look_up is None:
            return hand_over()
        turn = _Turn(look_up, hand_over, asyncio.get_running_loop().create_future())
        if line is None:
            self._lines[group_id] = deque([turn])
            task = asyncio.create_task(self._serve(group_id))
            self._tasks.add(task)
            task.add_done_callback(self._tasks.discard)
        else:
            line.append(turn)
        return _answer(turn)

    async def _serve(self, group_id: str) -> None:
        line = self._lines[group_id]
        while line:
            await _begin(line[0])
            # Removed after its look-up, so that later requests queue behind it.
            line.popleft()
        del self._lines[group_id]


async def _begin(turn: _Turn) -> None:
    # A defect ends only this request; the queue continues.
    try:
        if turn.look_up is not None:
            await turn.look_up()
        # The future of a client that is gone is cancelled.
        if not turn.begun.done():
            turn.begun.set_result(turn.hand_over())
    except Exception as defect:  # noqa: BLE001 - it is the answer to one request
        if turn.begun.done():
            _log.exception("Internal error in a request of a client that is disconnected")
        else:
            turn.begun.set_exception(defect)


async def _answer(turn: _Turn) -> Body:
    return await (await turn.begun)


Ask: TypeAlias = Callable[[str, int, str, Body, Caller], Awaitable[Body]]
"""Sends a request about one group to the job. An error for the whole request is in the fields of the API."""


class OffsetApis:
    """Commits and fetches of one group each. Requests with a look-up keep their place in the order."""

    def __init__(self, ask: Ask, topics: TopicCache, ends: TransactionEnds) -> None:
        self._ask = ask
        self._topics = topics
        self._ends = ends
        self._queues = GroupQueues()

    def write(self, api: str, version: int, body: Body, caller: Caller) -> Awaitable[Body]:
        """Answer an OffsetCommit or OffsetDelete. Topics that exist after a look-up go to the job, the others get errors."""
        grown = offset_topics.grown(body["topics"], self._topics)
        look_up = partial(self._topics.look_for, grown) if grown else None

        def hand_over() -> Awaitable[Body]:
            return self._hand_over(api, version, body, caller)

        return self._queues.take(body["groupId"], hand_over, look_up)

    def _hand_over(self, api: str, version: int, body: Body, caller: Caller) -> Awaitable[Body]:
        found = self._sorted(body)
        # An OffsetDelete goes to the job even without topics, as the group may not exist.
        if not found.present and api != "OffsetDelete":
            topics = offset_topics.merged(found.errors, ())
            return at_once({"throttleTimeMs": 0, "topics": topics})
        ids = offset_topics.ids_of(body["topics"])
        asked = {**body, "topics": found.present}
        response = self._ask(api, IDS_SINCE - 1 if ids else version, body["groupId"], asked, caller)
        return self._completed(response, found, ids)

    async def _completed(
        self, asked: Awaitable[Body], found: Sorted, ids: Mapping[str, str]
    ) -> Body:
        response = await asked
        if response.get("errorCode"):
            return response
        topics = response["topics"]
        if ids:
            topics = offset_topics.with_ids(topics, ids.get)
        return {**response, "topics": offset_topics.merged(found.errors, topics)}

    def _sorted(self, body: Body) -> Sorted:
        return offset_topics.sort(body["topics"], self._topics)

    def commit_in_transaction(self, version: int, body: Body, caller: Caller) -> Awaitable[Body]:
        """Answer a TxnOffsetCommit. Its event contains the end offset behind which the transaction's marker will be."""
        end: list[int] = []
        error_code: int = ErrorCode.COORDINATOR_NOT_AVAILABLE

        def found() -> Sorted:
            return self._sorted(body)

        async def look_up() -> None:
            nonlocal error_code
            grown = offset_topics.grown(body["topics"], self._topics)
            if grown:
                await self._topics.look_for(grown)
            # Without existing topics there is no commit, and no marker is needed.
            if found().present:
                try:
                    end.append(await self._ends.end_for(body, version))
                except NoEndError as error:
                    error_code = error.code

        def hand_over() -> Awaitable[Body]:
            present = found().present
            if present and not end:
                response = error_response(
                    "TxnOffsetCommit", version, {"topics": present}, error_code
                )
                return self._completed(at_once(response), found(), {})
            marked = {**body, "markersEndOffset": end[0]} if end else body
            return self._hand_over("TxnOffsetCommit", version, marked, caller)

        return self._queues.take(body["groupId"], hand_over, look_up)

    def fetch(self, version: int, one: OfOneGroup, caller: Caller) -> Awaitable[Body]:
        if version < IDS_SINCE:
            return self._queues.take(
                one.group_id,
                lambda: self._ask("OffsetFetch", version, one.group_id, one.body, caller),
            )
        # From this version on topics have ids, and the job gets names.
        [group] = one.body["groups"]
        return self._queues.take(one.group_id, lambda: self._fetch_by_id(one.body, group, caller))

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
        response = self._ask("OffsetFetch", version, group["groupId"], asked, caller)
        id_of = self._topics.id_of if named is None else offset_topics.ids_of(group["topics"]).get
        return self._fetched(response, unknown, id_of)

    async def _fetched(
        self, asked: Awaitable[Body], unknown: list[Body], id_of: Callable[[str], str | None]
    ) -> Body:
        response = await asked
        [group] = response["groups"]
        topics = [*offset_topics.with_ids(group["topics"], id_of), *unknown]
        return {**response, "groups": [{**group, "topics": topics}]}


def _unknown(topic: Body) -> Body:
    code = ErrorCode.UNKNOWN_TOPIC_ID
    partitions = [no_offset(number, code) for number in topic["partitionIndexes"]]
    return {"topicId": topic["topicId"], "partitions": partitions}


_API = "ConsumerGroupHeartbeat"


class Subscriptions:
    """Forwards heartbeats with topic metadata.

    The job sends topic metadata to a new group after its first heartbeat, so the first member would get its partitions
    with the next heartbeat, five seconds later. A broker knows the topics, and so does the gateway.
    """

    def __init__(self, ask: Ask, topics: TopicCache) -> None:
        self._ask = ask
        self._topics = topics
        self._queues = GroupQueues()

    def heartbeat(self, version: int, body: Body, caller: Caller) -> Awaitable[Body]:
        """Answer a ConsumerGroupHeartbeat. An unknown topic may be new, so it is looked up once."""
        names = dict.fromkeys(body["subscribedTopicNames"] or ())
        unknown = [name for name in names if self._topics.topic(name) is None]

        def hand_over() -> Awaitable[Body]:
            # Read again after the look-up.
            found = [topic for name in names if (topic := self._topics.topic(name))]
            known = {"knownTopics": [known_topic(topic) for topic in found]} if found else {}
            return self._ask(_API, version, body["groupId"], body | known, caller)

        look_up = partial(self._topics.look_for, unknown) if unknown else None
        return self._queues.take(body["groupId"], hand_over, look_up)
