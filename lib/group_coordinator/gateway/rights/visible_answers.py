"""Filter of responses with groups and topics that the request did not name, by the client's rights.

Source: handleListGroupsRequest, fetchAllOffsetsForGroup, handleConsumerGroupDescribe and handleDescribeGroupsRequest of
Kafka 4.4.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator

from group_coordinator.clients.channel.channel import Body
from group_coordinator.core.acls.needs import GROUP_OPERATIONS, UNSEEN_TOPICS
from group_coordinator.core.acls.rule import BITS, Operation, ResourceType, Right
from group_coordinator.core.model.errors import ErrorCode
from group_coordinator.gateway.groups.offset_topics import KnownTopics
from group_coordinator.gateway.rights.rights import DESCRIBE_CLUSTER, ClientRights


def shows_more_than_asked(api: str, body: Body) -> bool:
    """Return True if the response must be filtered by rights."""
    if api == "OffsetFetch":
        return any(group["topics"] is None for group in body.get("groups", [body]))
    if api == "DescribeGroups":
        return bool(body.get("includeAuthorizedOperations"))
    return api in {"ListGroups", "ConsumerGroupDescribe"}


async def visible(
    api: str, body: Body, answer: Body, rights: ClientRights, topics: KnownTopics
) -> Body:
    """Response without the parts that the client may not see."""
    if api == "ListGroups":
        return await _listed(answer, rights)
    if api == "OffsetFetch":
        return await _fetched(body, answer, rights, topics)
    if api == "ConsumerGroupDescribe":
        answer = await _described(answer, rights)
    if body.get("includeAuthorizedOperations"):
        return await _with_operations(answer, rights)
    return answer


async def _listed(answer: Body, rights: ClientRights) -> Body:
    # The right to describe the cluster shows all groups.
    if not await rights.denied([DESCRIBE_CLUSTER]):
        return answer
    names = [group["groupId"] for group in answer["groups"]]
    hidden = await _not_described(rights, ResourceType.GROUP, names)
    groups = [group for group in answer["groups"] if group["groupId"] not in hidden]
    return {**answer, "groups": groups}


async def _fetched(body: Body, answer: Body, rights: ClientRights, topics: KnownTopics) -> Body:
    groups, asked = answer.get("groups", [answer]), body.get("groups", [body])
    open_ones = {one["groupId"] for one in asked if one["topics"] is None}
    names = {_identity(t): _name_of(t, topics) for group in groups for t in group["topics"]}
    denied = await _not_described(rights, ResourceType.TOPIC, names.values())
    # A topic that was deleted meanwhile has no name, so its right cannot be checked.
    hidden = {each for each, name in names.items() if name is None or name in denied}
    if not hidden:
        return answer
    shown = [
        _without(group, hidden) if group.get("groupId", body.get("groupId")) in open_ones else group
        for group in groups
    ]
    return {**answer, "groups": shown} if "groups" in answer else shown[0]


def _without(group: Body, hidden: Collection[str]) -> Body:
    return {**group, "topics": [t for t in group["topics"] if _identity(t) not in hidden]}


def _identity(topic: Body) -> str:
    identity: str = topic["topicId"] if "topicId" in topic else topic["name"]
    return identity


def _name_of(topic: Body, topics: KnownTopics) -> str | None:
    return topic["name"] if "name" in topic else topics.name_of(topic["topicId"])


async def _described(answer: Body, rights: ClientRights) -> Body:
    names = [name for group in answer["groups"] for name in _assigned_topics(group)]
    hidden = await _not_described(rights, ResourceType.TOPIC, names)
    groups = [
        # As in Kafka, a group with a hidden topic is replaced as a whole.
        _unseen(group) if hidden.intersection(_assigned_topics(group)) else group
        for group in answer["groups"]
    ]
    return {**answer, "groups": groups}


def _assigned_topics(group: Body) -> Iterator[str]:
    for member in group.get("members", ()):
        for assignment in (member["assignment"], member["targetAssignment"]):
            for topic in assignment["topicPartitions"]:
                yield topic["topicName"]


def _unseen(group: Body) -> Body:
    code = ErrorCode.TOPIC_AUTHORIZATION_FAILED
    return {"groupId": group["groupId"], "errorCode": code, "errorMessage": UNSEEN_TOPICS}


async def _with_operations(answer: Body, rights: ClientRights) -> Body:
    # Only groups without an error have operations.
    there = [g["groupId"] for g in answer["groups"] if g["errorCode"] == ErrorCode.NONE]
    wanted = [Right(op, ResourceType.GROUP, name) for name in there for op in GROUP_OPERATIONS]
    denied = await rights.denied(wanted)
    bits = dict.fromkeys(there, 0)
    for right in wanted:
        bits[right.name] |= 0 if right in denied else BITS[right.operation]
    groups = [
        {**group, "authorizedOperations": bits[group["groupId"]]}
        if group["groupId"] in bits
        else group
        for group in answer["groups"]
    ]
    return {**answer, "groups": groups}


async def _not_described(
    rights: ClientRights, kind: ResourceType, names: Iterable[str | None]
) -> frozenset[str]:
    wanted = [Right(Operation.DESCRIBE, kind, name) for name in names if name is not None]
    return frozenset(right.name for right in await rights.denied(wanted))
