"""Requests about offsets of several topics, some of which the client may not touch."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence

from group_coordinator.clients.channel.channel import Body
from group_coordinator.core.acls.rule import ResourceType, Right
from group_coordinator.core.model.errors import ErrorCode
from group_coordinator.gateway.groups import offset_topics
from group_coordinator.gateway.groups.refusals import no_offset
from group_coordinator.gateway.rights.needed_rights import ON_TOPICS

_CODE = ErrorCode.TOPIC_AUTHORIZATION_FAILED
_ASKS_ANYWAY = frozenset({"OffsetFetch", "OffsetDelete"})
"""Brokers ask the group even where no topic is left: what is wrong with the group comes first."""


def without_denied_topics(
    api: str,
    body: Body,
    group: Body,
    denied: frozenset[Right],
    ask: Callable[[Body], Awaitable[Body]],
) -> Awaitable[Body]:
    """Asks for the rest before it returns; `group` is the part of the request that has topics, or the request itself."""
    asked = group["topics"]
    if asked is None:
        return ask(body)

    def is_denied(topic: Body) -> bool:
        name = topic.get("name")
        return name is not None and Right(ON_TOPICS[api], ResourceType.TOPIC, name) in denied

    refusals = [_refusal(api, topic) for topic in asked if is_denied(topic)]
    kept = [topic for topic in asked if not is_denied(topic)]
    if not refusals:
        return ask(body)
    if not kept and api not in _ASKS_ANYWAY:
        return _at_once(
            {
                "throttleTimeMs": 0,
                "errorCode": ErrorCode.NONE,
                "topics": offset_topics.merged(refusals, ()),
            }
        )
    if group is body:
        return _merged(ask({**body, "topics": kept}), refusals)
    return _merged_of_group(ask({**body, "groups": [{**group, "topics": kept}]}), refusals)


def _refusal(api: str, topic: Body) -> Body:
    field = "topicId" if "topicId" in topic else "name"
    identity: Body = {field: topic[field]}
    if api == "OffsetFetch":
        partitions = [no_offset(number, _CODE) for number in topic["partitionIndexes"]]
    else:
        partitions = [
            {"partitionIndex": each["partitionIndex"], "errorCode": _CODE}
            for each in topic["partitions"]
        ]
    return {**identity, "partitions": partitions}


async def _at_once(body: Body) -> Body:
    return body


async def _merged(asked: Awaitable[Body], refusals: Sequence[Body]) -> Body:
    return _with_refusals(await asked, refusals)


async def _merged_of_group(asked: Awaitable[Body], refusals: Sequence[Body]) -> Body:
    answer = await asked
    [group] = answer["groups"]
    return {**answer, "groups": [_with_refusals(group, refusals)]}


def _with_refusals(answer: Body, refusals: Sequence[Body]) -> Body:
    """An error of the whole says nothing of topics."""
    if answer.get("errorCode"):
        return answer
    return {**answer, "topics": offset_topics.merged(refusals, answer["topics"])}
