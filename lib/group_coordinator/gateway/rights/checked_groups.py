"""The group APIs for clients whose brokers know rights: what a client may not do is refused as its broker would."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from typing import Protocol

from group_coordinator.core.acls.needs import (
    GROUP_DENIED,
    ON_GROUPS,
    ON_TOPICS,
    ON_TRANSACTIONAL_IDS,
)
from group_coordinator.core.acls.rule import ResourceType, Right
from group_coordinator.core.model.errors import ErrorCode
from group_coordinator.core.model.requests import SYNC_NAMES_PROTOCOL_SINCE
from group_coordinator.gateway.group_part import Body, GroupPart
from group_coordinator.gateway.groups import lists, offset_topics
from group_coordinator.gateway.groups.known_topics import KnownTopics
from group_coordinator.gateway.groups.refusals import refused
from group_coordinator.gateway.login.caller import Caller
from group_coordinator.gateway.rights.denied_topics import without_denied_topics
from group_coordinator.gateway.rights.needed_rights import needed
from group_coordinator.gateway.rights.rights import Rights
from group_coordinator.gateway.rights.visible_answers import shows_more_than_asked, visible

_Denied = frozenset[Right]


class RightsHolder(Protocol):
    """A client whose rights matter."""

    rights: Rights

    def hold_requests(self) -> None:
        """Take no further request until `take_requests`."""

    def take_requests(self) -> None:
        """Go on."""


class CheckedGroups:
    """Asks the part for groups what the client may ask."""

    def __init__(self, groups: GroupPart, topics: KnownTopics) -> None:
        self._groups = groups
        self._topics = topics

    def answer(
        self, api: str, version: int, body: Body, caller: Caller, holder: RightsHolder
    ) -> Awaitable[Body]:
        """The answer's body; the order of a group's requests is that of calls.

        Where a broker must be asked, the client's next request is not taken before this one is on its way: nothing can
        overtake it, and the broker's answer stands behind nothing that waits for it. Topics by id have their names before
        rights are judged, and no others afterwards.
        """
        rights = holder.rights
        unknown_ids = offset_topics.ids_without_name(api, version, body, self._topics)
        looks_behind = rights.is_checked and shows_more_than_asked(api, body)
        if not looks_behind and not unknown_ids:
            body = offset_topics.with_names(api, version, body, self._topics)
            if rights.are_known([*needed(api, version, body)]):
                return self._groups.answer(api, version, body, caller)
        holder.hold_requests()

        async def checked() -> Awaitable[Body]:
            try:
                return await self._checked(api, version, body, caller, holder.rights)
            finally:
                holder.take_requests()

        return asyncio.ensure_future(_then(checked()))

    async def _checked(
        self, api: str, version: int, body: Body, caller: Caller, rights: Rights
    ) -> Awaitable[Body]:
        unknown_ids = offset_topics.ids_without_name(api, version, body, self._topics)
        if unknown_ids:
            await self._topics.look_for(topic_ids=unknown_ids)
        body = offset_topics.with_names(api, version, body, self._topics)
        denied = await rights.denied([*needed(api, version, body)])
        answer = self._permitted(api, version, body, caller, denied)
        if rights.is_checked and shows_more_than_asked(api, body):
            return _at_once(await visible(api, body, await answer, rights, self._topics))
        return answer

    def _permitted(
        self, api: str, version: int, body: Body, caller: Caller, denied: _Denied
    ) -> Awaitable[Body]:
        """Asks before it returns."""
        if not denied:
            return self._groups.answer(api, version, body, caller)
        fields = lists.fields_of(api, version)

        def ask(rest: Body) -> Awaitable[Body]:
            return self._groups.answer(api, version, rest, caller)

        if fields is not None:
            return self._several(fields, api, version, body, denied, ask)
        code = _code_of_all(api, version, body, denied)
        if code is not None:
            return _at_once(refused(api, version, body, code))
        return without_denied_topics(api, body, body, denied, ask)

    def _several(
        self,
        fields: lists.ListFields,
        api: str,
        version: int,
        body: Body,
        denied: _Denied,
        ask: Callable[[Body], Awaitable[Body]],
    ) -> Awaitable[Body]:
        """Those that are refused come first, as in Kafka's answers."""
        operation = ON_GROUPS[api]
        parts: list[Awaitable[Body]] = []
        entries: list[Body] = []
        twice = lists.named_twice(body) if api == "IncrementalAlterConfigs" else frozenset()
        for one in lists.split(fields, api, body):
            is_denied = Right(operation, ResourceType.GROUP, one.group_id) in denied
            if is_denied and one.group_id not in twice:  # which is refused for that alone
                code = ErrorCode.GROUP_AUTHORIZATION_FAILED
                refusal = refused(api, version, one.body, code, _message(api))
                parts.append(_at_once(refusal))
            else:
                entries += one.body[fields.asked]
        if api in ON_TOPICS:
            parts += [self._fetch(body, entry, denied, ask) for entry in entries]
        elif entries:
            parts.append(ask({**body, fields.asked: entries}))
        return _together(fields, parts)

    def _fetch(
        self,
        body: Body,
        group: Body,
        denied: _Denied,
        ask: Callable[[Body], Awaitable[Body]],
    ) -> Awaitable[Body]:
        """One group of an OffsetFetch."""
        whole = {**body, "groups": [group]}
        return without_denied_topics("OffsetFetch", whole, group, denied, ask)


def _code_of_all(api: str, version: int, body: Body, denied: _Denied) -> int | None:
    """Why nothing of a request about one group is done, in the order of KafkaApis; None: some of it may."""
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


def _message(api: str) -> str | None:
    """Brokers explain it where the config APIs have a text."""
    return GROUP_DENIED if api.endswith("Configs") else None


async def _then(checked: Awaitable[Awaitable[Body]]) -> Body:
    """The request is forgotten while its answer is waited for."""
    return await (await checked)


async def _at_once(body: Body) -> Body:
    return body


async def _together(fields: lists.ListFields, parts: list[Awaitable[Body]]) -> Body:
    return lists.merged(fields, await asyncio.gather(*parts))
