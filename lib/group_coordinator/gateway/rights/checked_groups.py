"""Group APIs for clusters with an authorizer: a client gets the error responses and the omissions of its broker."""

from __future__ import annotations

import asyncio
from collections import defaultdict
from collections.abc import Awaitable, Callable, Iterable, Iterator, Sequence
from typing import Any, Protocol

from group_coordinator.clients.channel import Body
from group_coordinator.core.acls import (
    GROUP_DENIED,
    ON_TRANSACTIONAL_IDS,
    TO_SEE_TOPICS,
    ResourceType,
    Right,
)
from group_coordinator.core.model.errors import ErrorCode
from group_coordinator.core.model.requests import SYNC_NAMES_PROTOCOL_SINCE
from group_coordinator.gateway.api_versions import GROUP_APIS
from group_coordinator.gateway.group_part import AnswerGroups
from group_coordinator.gateway.groups import error_responses, offset_topics
from group_coordinator.gateway.groups.config_requests import NAMED_TWICE, form_error, merged
from group_coordinator.gateway.groups.error_responses import (
    at_once,
    error_response,
    no_offset,
    together,
)
from group_coordinator.gateway.groups.offset_topics import IDS_SINCE, TopicCache
from group_coordinator.gateway.login import Caller
from group_coordinator.gateway.rights.rights import ClientRights, shows_more_than_asked, visible

ON_GROUPS = {name: rights.on_group for name, rights in GROUP_APIS.items()}
ON_TOPICS = {name: rights.on_topics for name, rights in GROUP_APIS.items() if rights.on_topics}


def needed(api: str, version: int, body: Body) -> Iterator[Right]:
    """Yield the ACL operations of a request. A topic with an unknown id needs none, as it does not exist."""
    on_groups = ON_GROUPS.get(api)
    if on_groups is None:
        return
    fields = error_responses.fields_of(api, version)
    entries = [body] if fields is None else body[fields.asked]
    for entry in entries:
        yield Right(on_groups, ResourceType.GROUP, error_responses.group_of(entry))
    if api in ON_TOPICS:
        named = (topic for entry in entries for topic in entry["topics"] or ())
        names = (topic["name"] for topic in named if "name" in topic)
        yield from (Right(ON_TOPICS[api], ResourceType.TOPIC, name) for name in names)
    for name in body.get("subscribedTopicNames") or ():
        yield Right(TO_SEE_TOPICS, ResourceType.TOPIC, name)
    if api == "TxnOffsetCommit":
        yield Right(ON_TRANSACTIONAL_IDS, ResourceType.TRANSACTIONAL_ID, body["transactionalId"])


_CODE = ErrorCode.TOPIC_AUTHORIZATION_FAILED
_ASKS_ANYWAY = frozenset({"OffsetFetch", "OffsetDelete"})
"""APIs that Kafka handles for the group even without a topic left: an error of the group comes first."""


def without_denied_topics(
    api: str,
    body: Body,
    group: Body,
    denied: frozenset[Right],
    ask: Callable[[Body], Awaitable[Body]],
) -> Awaitable[Body]:
    """Send the request without denied topics, before this returns. `group` is the part with topics, or the request itself."""
    asked = group["topics"]
    if asked is None:
        return ask(body)

    def is_denied(topic: Body) -> bool:
        name = topic.get("name")
        return name is not None and Right(ON_TOPICS[api], ResourceType.TOPIC, name) in denied

    error_bodies = [_denied_topic(api, topic) for topic in asked if is_denied(topic)]
    kept = [topic for topic in asked if not is_denied(topic)]
    if not error_bodies:
        return ask(body)
    if not kept and api not in _ASKS_ANYWAY:
        topics = offset_topics.merged(error_bodies, ())
        return at_once({"throttleTimeMs": 0, "errorCode": ErrorCode.NONE, "topics": topics})
    if api == "OffsetFetch":
        return _fetched(ask, body, {**group, "topics": kept}, error_bodies)
    return _merged(ask({**body, "topics": kept}), error_bodies)


def _denied_topic(api: str, topic: Body) -> Body:
    field = "topicId" if "topicId" in topic else "name"
    identity: Body = {field: topic[field]}
    if api == "OffsetFetch":
        partitions = [no_offset(number, _CODE) for number in topic["partitionIndexes"]]
    else:
        partitions = offset_topics.results(topic["partitions"], _CODE)
    return {**identity, "partitions": partitions}


async def _merged(asked: Awaitable[Body], error_bodies: Sequence[Body]) -> Body:
    response = await asked
    # With an error of the whole response there are no topics.
    if response.get("errorCode"):
        return response
    return {**response, "topics": offset_topics.merged(error_bodies, response["topics"])}


def _fetched(
    ask: Callable[[Body], Awaitable[Body]], body: Body, kept: Body, error_bodies: Sequence[Body]
) -> Awaitable[Body]:
    asked = ask({**body, "groups": [kept]} if "groups" in body else kept)

    async def fetched() -> Body:
        response = await asked
        if "groups" in response:
            return {**response, "groups": [with_denied(each) for each in response["groups"]]}
        return with_denied(response)

    def with_denied(group: Body) -> Body:
        # Unlike a commit, a fetch that names a topic twice has two entries of it.
        if group.get("errorCode"):
            return group
        return {**group, "topics": [*group["topics"], *error_bodies]}

    return fetched()


_Denied = frozenset[Right]


class RightsHolder(Protocol):
    rights: ClientRights

    def hold_requests(self) -> None: ...
    def take_requests(self) -> None: ...


class CheckedGroups:
    """Sends the permitted part of a request to the job."""

    def __init__(self, answer: AnswerGroups, topics: TopicCache) -> None:
        self._answer = answer
        self._topics = topics

    def answer(
        self, api: str, version: int, body: Body, caller: Caller, holder: RightsHolder
    ) -> Awaitable[Body]:
        """Return the response body; a group's requests keep the order of calls.

        Where a broker must be asked, the client's next request waits until this request is sent: it cannot overtake,
        and the broker's response is not blocked by a response that waits for it. Topics by id get their names before
        rights are checked, and no other names afterwards.
        """
        fields = error_responses.fields_of(api, version)
        # A group that is named twice is deleted once, as in Kafka: a second deletion would fail.
        if api == "DeleteGroups":
            body = {**body, "groupsNames": list(dict.fromkeys(body["groupsNames"]))}
        if fields is not None and len(body[fields.asked]) > error_responses.MOST_GROUPS:
            return self._first_ones(fields, api, version, body, caller=caller, holder=holder)
        rights = holder.rights
        unknown_ids = _ids_without_name(api, version, body, self._topics)
        looks_behind = rights.is_checked and shows_more_than_asked(api, body)
        if not looks_behind and not unknown_ids and not _is_about_many(api, version, body):
            body = _with_names(api, version, body, self._topics)
            if rights.are_known([*needed(api, version, body)]):
                return self._answer(api, version, body, caller)
        holder.hold_requests()

        async def checked() -> Awaitable[Body]:
            try:
                return await self._checked(api, version, body, caller, holder.rights)
            finally:
                holder.take_requests()

        return asyncio.ensure_future(_then(checked()))

    def _first_ones(
        self,
        fields: error_responses.ListFields,
        api: str,
        version: int,
        body: Body,
        *,
        caller: Caller,
        holder: RightsHolder,
    ) -> Awaitable[Body]:
        # Clients repeat the request for the other groups after COORDINATOR_NOT_AVAILABLE.
        asked = body[fields.asked]
        first = {**body, fields.asked: asked[: error_responses.MOST_GROUPS]}
        others = {**body, fields.asked: asked[error_responses.MOST_GROUPS :]}
        unavailable = error_response(api, version, others, ErrorCode.COORDINATOR_NOT_AVAILABLE)
        return together(
            fields, [self.answer(api, version, first, caller, holder), at_once(unavailable)]
        )

    async def _checked(
        self, api: str, version: int, body: Body, caller: Caller, rights: ClientRights
    ) -> Awaitable[Body]:
        unknown_ids = _ids_without_name(api, version, body, self._topics)
        if unknown_ids:
            await self._topics.look_for(topic_ids=unknown_ids)
        body = _with_names(api, version, body, self._topics)
        denied = await rights.denied([*needed(api, version, body)])
        response = await self._permitted(api, version, body, caller, denied)
        if rights.is_checked and shows_more_than_asked(api, body):
            return at_once(await visible(api, body, await response, rights, self._topics))
        return response

    async def _permitted(
        self, api: str, version: int, body: Body, caller: Caller, denied: _Denied
    ) -> Awaitable[Body]:
        """Send the permitted part before this returns."""
        fields = error_responses.fields_of(api, version)

        def ask(rest: Body) -> Awaitable[Body]:
            return self._answer(api, version, rest, caller)

        if fields is not None:
            return await self._several(fields, api, version, body, denied=denied, ask=ask)
        if not denied:
            return ask(body)
        code = _code_of_all(api, version, body, denied)
        if code is not None:
            return at_once(error_response(api, version, body, code))
        return without_denied_topics(api, body, body, denied, ask)

    async def _several(
        self,
        fields: error_responses.ListFields,
        api: str,
        version: int,
        body: Body,
        *,
        denied: _Denied,
        ask: Callable[[Body], Awaitable[Body]],
    ) -> Awaitable[Body]:
        """Denied groups come first, as in Kafka's responses."""
        twice = _named_twice(api, body)
        permitted: list[Any] = []
        others: defaultdict[tuple[int, str | None], list[Any]] = defaultdict(list)
        for one in error_responses.split(fields, body):
            if one.group_id in twice:
                others[ErrorCode.INVALID_REQUEST, NAMED_TWICE] += one.body[fields.asked]
            elif Right(ON_GROUPS[api], ResourceType.GROUP, one.group_id) in denied:
                others[_denial(api, one.body)] += one.body[fields.asked]
            else:
                permitted += one.body[fields.asked]
        asked: list[Awaitable[Body]] = []
        for some in error_responses.slices(permitted):
            part = {**body, fields.asked: some}
            asked += self._fetches(part, denied, ask) if api in ON_TOPICS else [ask(part)]
            # Other connections have their turn between two slices.
            await asyncio.sleep(0)
        error_bodies = (
            error_response(api, version, {**body, fields.asked: those}, code, message)
            for (code, message), those in others.items()
        )
        response = together(fields, [*map(at_once, error_bodies), *asked])
        return _in_order(body, response) if twice else response

    def _fetches(
        self, body: Body, denied: _Denied, ask: Callable[[Body], Awaitable[Body]]
    ) -> list[Awaitable[Body]]:
        return [
            asyncio.ensure_future(
                without_denied_topics(
                    "OffsetFetch", {**body, "groups": [group]}, group, denied, ask
                )
            )
            for group in body["groups"]
        ]


def _code_of_all(api: str, version: int, body: Body, denied: _Denied) -> int | None:
    """Error of a whole request for a group, in the order of KafkaApis; None: a part is permitted."""
    if api == "SyncGroup" and _lacks_protocol(version, body):
        return ErrorCode.INCONSISTENT_GROUP_PROTOCOL
    if api == "TxnOffsetCommit":
        kind = ResourceType.TRANSACTIONAL_ID
        if Right(ON_TRANSACTIONAL_IDS, kind, body["transactionalId"]) in denied:
            return ErrorCode.TRANSACTIONAL_ID_AUTHORIZATION_FAILED
    if Right(ON_GROUPS[api], ResourceType.GROUP, body["groupId"]) in denied:
        return ErrorCode.GROUP_AUTHORIZATION_FAILED
    if api == "ConsumerGroupHeartbeat":
        return ErrorCode.TOPIC_AUTHORIZATION_FAILED
    return None


def _lacks_protocol(version: int, sync: Body) -> bool:
    if version < SYNC_NAMES_PROTOCOL_SINCE:
        return False
    return sync["protocolType"] is None or sync["protocolName"] is None


def _is_about_many(api: str, version: int, body: Body) -> bool:
    fields = error_responses.fields_of(api, version)
    if fields is None:
        return False
    return len(body[fields.asked]) > error_responses.AT_ONCE or bool(_named_twice(api, body))


def _named_twice(api: str, body: Body) -> frozenset[str]:
    # As in Kafka's ConfigAdminManager, several alterations of one group all fail.
    return error_responses.named_twice(body) if api == "IncrementalAlterConfigs" else frozenset()


def _denial(api: str, body: Body) -> tuple[int, str | None]:
    if api == "IncrementalAlterConfigs":
        # A broker checks the form of the changes, then the controller checks rights.
        fault = form_error(body["resources"][0])
        if fault is not None:
            return fault.code, fault.message
    # Only responses of the configs APIs have a message.
    return ErrorCode.GROUP_AUTHORIZATION_FAILED, GROUP_DENIED if api.endswith("Configs") else None


async def _then(checked: Awaitable[Awaitable[Body]]) -> Body:
    # The request's body can be freed while its response is pending.
    return await (await checked)


async def _in_order(altered: Body, response: Awaitable[Body]) -> Body:
    groups = await response
    others = {**groups, "responses": []}
    return merged("IncrementalAlterConfigs", altered["resources"], groups, others)


def _ids_without_name(api: str, version: int, body: Body, known: TopicCache) -> list[str]:
    """Ids of a request's topics whose names the gateway does not know."""
    if not _goes_by_id(api, version):
        return []
    entries = [body] if api == "OffsetCommit" else body["groups"]
    ids = (topic["topicId"] for entry in entries for topic in entry["topics"] or ())
    return [each for each in dict.fromkeys(ids) if known.name_of(each) is None]


def _with_names(api: str, version: int, body: Body, known: TopicCache) -> Body:
    """Add the name next to each topic's id. A topic without a name does not exist, whatever a later look-up finds."""

    def named(topics: Iterable[Body]) -> list[Body]:
        names = ((topic, known.name_of(topic["topicId"])) for topic in topics)
        return [topic if name is None else {**topic, "name": name} for topic, name in names]

    if not _goes_by_id(api, version):
        return body
    if api == "OffsetCommit":
        return {**body, "topics": named(body["topics"])}
    groups = [
        group if group["topics"] is None else {**group, "topics": named(group["topics"])}
        for group in body["groups"]
    ]
    return {**body, "groups": groups}


def _goes_by_id(api: str, version: int) -> bool:
    return api in {"OffsetCommit", "OffsetFetch"} and version >= IDS_SINCE
