"""Rights of a client, found by requests without an effect to its broker on the client's own connection.

They also filter responses with groups and topics that the request did not name.

Source: KafkaApis, AuthHelper and ControllerApis of Kafka 4.4, with handleListGroupsRequest, fetchAllOffsetsForGroup,
handleConsumerGroupDescribe and handleDescribeGroupsRequest. The versions are those that Kafka has had since 3.0.
"""

from __future__ import annotations

import asyncio
import logging
from collections import defaultdict
from collections.abc import Awaitable, Callable, Collection, Iterable, Iterator, Sequence
from itertools import takewhile
from time import monotonic
from typing import TypeAlias

from group_coordinator.clients.channel import Body
from group_coordinator.core.acls import (
    BITS,
    CLUSTER_NAME,
    GROUP_OPERATIONS,
    UNSEEN_TOPICS,
    Operation,
    ResourceType,
    Right,
)
from group_coordinator.core.model.errors import ErrorCode
from group_coordinator.gateway.api_versions import GROUP_RESOURCE
from group_coordinator.gateway.groups.error_responses import slices
from group_coordinator.gateway.groups.offset_topics import TopicCache
from group_coordinator.gateway.job.delivery import RecentEntries

_log = logging.getLogger(__name__)
_NOBODY = ""
_NONE = -1
"""Generation, epoch or partition that does not exist."""
_NOWHERE = "group-coordinator-gateway"
"""Topic that need not exist."""


DESCRIBE_CLUSTER = Right(Operation.DESCRIBE, ResourceType.CLUSTER, CLUSTER_NAME)


AskBroker: TypeAlias = Callable[[str, int, Body], Awaitable[Body]]
"""Sends a request (API, version, body) to a client's broker before it returns."""
Names: TypeAlias = Sequence[str]
_Asking: TypeAlias = Callable[[AskBroker, Operation, Names], Awaitable[Iterable[str]]]


async def allowed(ask: AskBroker, wanted: Iterable[Right]) -> frozenset[Right]:
    """Rights that the broker grants."""
    names: defaultdict[tuple[ResourceType, Operation], list[str]] = defaultdict(list)
    for right in wanted:
        names[right.kind, right.operation].append(right.name)
    found = await asyncio.gather(
        *(_QUESTIONS[kind](ask, operation, there) for (kind, operation), there in names.items())
    )
    return frozenset(
        Right(operation, kind, name)
        for (kind, operation), granted in zip(names, found, strict=True)
        for name in granted
    )


async def _read_groups(ask: AskBroker, _: Operation, names: Names) -> Iterable[str]:
    # A heartbeat without a member changes nothing.
    nobody = {"generationId": _NONE, "memberId": _NOBODY}
    bodies = [{"groupId": name, **nobody} for name in names]
    answers = await _each(ask, "Heartbeat", 3, bodies)
    return _where_not(ErrorCode.GROUP_AUTHORIZATION_FAILED, names, answers)


async def _delete_groups(ask: AskBroker, _: Operation, names: Names) -> Iterable[str]:
    # The deletion of no offsets changes nothing.
    bodies = [{"groupId": name, "topics": []} for name in names]
    answers = await _each(ask, "OffsetDelete", 0, bodies)
    return _where_not(ErrorCode.GROUP_AUTHORIZATION_FAILED, names, answers)


async def _each(ask: AskBroker, api: str, version: int, bodies: Sequence[Body]) -> list[Body]:
    """Send requests in slices: a request may name many groups, and other connections have their turn between."""
    answers: list[Body] = []
    for some in slices(bodies):
        answers += await asyncio.gather(*(ask(api, version, body) for body in some))
    return answers


def _where_not(code: int, names: Names, answers: Iterable[Body]) -> Iterable[str]:
    return [
        name for name, response in zip(names, answers, strict=True) if response["errorCode"] != code
    ]


async def _describe_groups(ask: AskBroker, _: Operation, names: Names) -> Iterable[str]:
    # FindCoordinator needs the right to describe; the coordinators are not used.
    response = await ask("FindCoordinator", 4, {"keyType": 0, "coordinatorKeys": list(names)})
    return [
        found["key"]
        for found in response["coordinators"]
        if found["errorCode"] != ErrorCode.GROUP_AUTHORIZATION_FAILED
    ]


async def _configs_of_groups(ask: AskBroker, operation: Operation, names: Names) -> Iterable[str]:
    # Requests with no setting change nothing. Brokers before 4.0 grant nothing. A group without a name is invalid if granted.
    if operation is Operation.DESCRIBE_CONFIGS:
        resources = [_group_resource(name) | {"configurationKeys": []} for name in names]
        response = await ask(
            "DescribeConfigs", 1, {"resources": resources, "includeSynonyms": False}
        )
        results = response["results"]
    else:
        resources = [_group_resource(name) | {"configs": []} for name in names]
        body = {"resources": resources, "validateOnly": True}
        results = (await ask("IncrementalAlterConfigs", 1, body))["responses"]
    granted = {True: ErrorCode.NONE, False: ErrorCode.INVALID_REQUEST}
    found = ((result["resourceName"], result["errorCode"]) for result in results)
    return [name for name, code in found if code == granted[bool(name)]]


def _group_resource(name: str) -> Body:
    return {"resourceType": GROUP_RESOURCE, "resourceName": name}


async def _topics(ask: AskBroker, operation: Operation, names: Names) -> Iterable[str]:
    body = {
        "topics": [{"name": name} for name in names],
        "allowAutoTopicCreation": False,
        "includeTopicAuthorizedOperations": True,
    }
    response = await ask("Metadata", 9, body)
    return [
        topic["name"]
        for topic in response["topics"]
        if topic["errorCode"] != ErrorCode.TOPIC_AUTHORIZATION_FAILED
        and (
            operation is Operation.DESCRIBE or topic["topicAuthorizedOperations"] & BITS[operation]
        )
    ]


async def _cluster(ask: AskBroker, operation: Operation, names: Names) -> Iterable[str]:
    response = await ask("DescribeCluster", 0, {"includeClusterAuthorizedOperations": True})
    return names if response["clusterAuthorizedOperations"] & BITS[operation] else ()


async def _transactional_ids(ask: AskBroker, _: Operation, names: Names) -> Iterable[str]:
    # A commit for a partition that does not exist changes nothing.
    partition = {"partitionIndex": _NONE, "committedOffset": 0}
    rest = {
        "groupId": _NOBODY,
        "producerId": _NONE,
        "producerEpoch": _NONE,
        "topics": [{"name": _NOWHERE, "partitions": [partition]}],
    }
    bodies = [{"transactionalId": name, **rest} for name in names]
    codes = [
        response["topics"][0]["partitions"][0]["errorCode"]
        for response in await _each(ask, "TxnOffsetCommit", 3, bodies)
    ]
    return [
        name
        for name, code in zip(names, codes, strict=True)
        if code != ErrorCode.TRANSACTIONAL_ID_AUTHORIZATION_FAILED
    ]


_GROUP_QUESTIONS: dict[Operation, _Asking] = {
    Operation.READ: _read_groups,
    Operation.DELETE: _delete_groups,
    Operation.DESCRIBE: _describe_groups,
    Operation.DESCRIBE_CONFIGS: _configs_of_groups,
    Operation.ALTER_CONFIGS: _configs_of_groups,
}
_QUESTIONS: dict[ResourceType, _Asking] = {
    ResourceType.GROUP: lambda ask, wanted, names: _GROUP_QUESTIONS[wanted](ask, wanted, names),
    ResourceType.TOPIC: _topics,
    ResourceType.CLUSTER: _cluster,
    ResourceType.TRANSACTIONAL_ID: _transactional_ids,
}


GRANT_LASTS_S = 30.0
_MOST_BYTES = 2 * 1024 * 1024
"""Limit of the cached grants of one connection, about 9,000."""


class ClientRights:
    """Rights of a client on its connection. Grants are cached for a while, denials are checked each time."""

    def __init__(self, ask: AskBroker, is_checked: Callable[[], bool]) -> None:
        """Take `is_checked`, which returns True if brokers have an authorizer."""
        self._ask = ask
        self._is_checked = is_checked
        self._granted_until_s: RecentEntries[Right, float] = RecentEntries(_MOST_BYTES)
        """Grants by the time of their end, the first to end first."""

    def are_known(self, wanted: Collection[Right]) -> bool:
        """Return True if all are granted by the cache."""
        return not self.is_checked or not self._unknown(wanted)

    @property
    def is_checked(self) -> bool:
        return self._is_checked()

    async def denied(self, wanted: Collection[Right]) -> frozenset[Right]:
        """Rights that the client lacks. Raises WireError: the broker's response does not parse."""
        if not self.is_checked:
            return frozenset()
        unknown = self._unknown(wanted)
        granted = await allowed(self._ask, unknown)
        self._remember(granted)
        denied = frozenset(unknown) - granted
        _log.debug("rights: granted=%d denied=%s", len(granted), denied)
        return denied

    def _unknown(self, wanted: Iterable[Right]) -> list[Right]:
        now_s = monotonic()
        return [
            right
            for right in dict.fromkeys(wanted)
            if (self._granted_until_s.get(right) or 0.0) <= now_s
        ]

    def _remember(self, granted: Collection[Right]) -> None:
        now_s = monotonic()
        # Grants are in the order of their ends.
        lapsed = takewhile(lambda grant: grant[1] <= now_s, self._granted_until_s.items())
        for right in [right for right, _ in lapsed]:
            self._granted_until_s.pop(right)
        for right in granted:
            self._granted_until_s[right] = now_s + GRANT_LASTS_S


def shows_more_than_asked(api: str, body: Body) -> bool:
    """Return True if the response must be filtered by rights."""
    if api == "OffsetFetch":
        return any(group["topics"] is None for group in body.get("groups", [body]))
    if api == "DescribeGroups":
        return bool(body.get("includeAuthorizedOperations"))
    return api in {"ListGroups", "ConsumerGroupDescribe"}


async def visible(
    api: str, body: Body, response: Body, rights: ClientRights, topics: TopicCache
) -> Body:
    """Response without the parts that the client may not see."""
    if api == "ListGroups":
        return await _listed(response, rights)
    if api == "OffsetFetch":
        return await _fetched(body, response, rights, topics)
    if api == "ConsumerGroupDescribe":
        response = await _described(response, rights)
    if body.get("includeAuthorizedOperations"):
        return await _with_operations(response, rights)
    return response


async def _listed(response: Body, rights: ClientRights) -> Body:
    # The right to describe the cluster shows all groups.
    if not await rights.denied([DESCRIBE_CLUSTER]):
        return response
    names = [group["groupId"] for group in response["groups"]]
    hidden = await _not_described(rights, ResourceType.GROUP, names)
    groups = [group for group in response["groups"] if group["groupId"] not in hidden]
    return {**response, "groups": groups}


async def _fetched(body: Body, response: Body, rights: ClientRights, topics: TopicCache) -> Body:
    groups, asked = response.get("groups", [response]), body.get("groups", [body])
    open_ones = {one["groupId"] for one in asked if one["topics"] is None}
    names = {_identity(t): _name_of(t, topics) for group in groups for t in group["topics"]}
    denied = await _not_described(rights, ResourceType.TOPIC, names.values())
    # A topic that was deleted meanwhile has no name, so its right cannot be checked.
    hidden = {each for each, name in names.items() if name is None or name in denied}
    if not hidden:
        return response
    shown = [
        _without(group, hidden) if group.get("groupId", body.get("groupId")) in open_ones else group
        for group in groups
    ]
    return {**response, "groups": shown} if "groups" in response else shown[0]


def _without(group: Body, hidden: Collection[str]) -> Body:
    return {**group, "topics": [t for t in group["topics"] if _identity(t) not in hidden]}


def _identity(topic: Body) -> str:
    identity: str = topic["topicId"] if "topicId" in topic else topic["name"]
    return identity


def _name_of(topic: Body, topics: TopicCache) -> str | None:
    return topic["name"] if "name" in topic else topics.name_of(topic["topicId"])


async def _described(response: Body, rights: ClientRights) -> Body:
    names = [name for group in response["groups"] for name in _assigned_topics(group)]
    hidden = await _not_described(rights, ResourceType.TOPIC, names)
    groups = [
        # As in Kafka, a group with a hidden topic is replaced as a whole.
        _unseen(group) if hidden.intersection(_assigned_topics(group)) else group
        for group in response["groups"]
    ]
    return {**response, "groups": groups}


def _assigned_topics(group: Body) -> Iterator[str]:
    for member in group.get("members", ()):
        for assignment in (member["assignment"], member["targetAssignment"]):
            for topic in assignment["topicPartitions"]:
                yield topic["topicName"]


def _unseen(group: Body) -> Body:
    code = ErrorCode.TOPIC_AUTHORIZATION_FAILED
    return {"groupId": group["groupId"], "errorCode": code, "errorMessage": UNSEEN_TOPICS}


async def _with_operations(response: Body, rights: ClientRights) -> Body:
    # Only groups without an error have operations.
    there = [g["groupId"] for g in response["groups"] if g["errorCode"] == ErrorCode.NONE]
    wanted = [Right(op, ResourceType.GROUP, name) for name in there for op in GROUP_OPERATIONS]
    denied = await rights.denied(wanted)
    bits = dict.fromkeys(there, 0)
    for right in wanted:
        bits[right.name] |= 0 if right in denied else BITS[right.operation]
    groups = [
        {**group, "authorizedOperations": bits[group["groupId"]]}
        if group["groupId"] in bits
        else group
        for group in response["groups"]
    ]
    return {**response, "groups": groups}


async def _not_described(
    rights: ClientRights, kind: ResourceType, names: Iterable[str | None]
) -> frozenset[str]:
    wanted = [Right(Operation.DESCRIBE, kind, name) for name in names if name is not None]
    return frozenset(right.name for right in await rights.denied(wanted))
