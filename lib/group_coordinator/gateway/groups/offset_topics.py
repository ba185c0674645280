"""The topics and partitions of a request that exist, as the group APIs must know them.

Source: KafkaApis.handleOffsetCommitRequest, handleTxnOffsetCommitRequest, handleOffsetDeleteRequest in Kafka 4.4. The
group is asked by name; versions that name topics by id get ids back.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Sequence
from typing import NamedTuple, Protocol

from group_coordinator.clients.channel.channel import Body
from group_coordinator.core.model.errors import ErrorCode
from group_coordinator.core.model.topic import Topic


class KnownTopics(Protocol):
    """The cluster's topics as the gateway saw them last."""

    def name_of(self, topic_id: str) -> str | None:
        """None: there is no topic with this id."""

    def id_of(self, name: str) -> str | None:
        """None: there is no topic of this name."""

    def partition_count(self, name: str) -> int:
        """0: there is no topic of this name."""

    def topic(self, name: str) -> Topic | None:
        """All that groups must know of it; None: there is no topic of this name."""

    async def look_for(self, names: Collection[str] = (), topic_ids: Collection[str] = ()) -> None:
        """Ask the brokers about topics that may have been made, or have grown, since; without an answer all stays as it was."""


IDS_SINCE = 10
"""Of OffsetCommit and OffsetFetch: topics go by id. The job is asked by name, in the version before."""


def ids_without_name(api: str, version: int, body: Body, known: KnownTopics) -> list[str]:
    """The ids of topics that a request knows by id only, and the gateway does not know."""
    ids = (topic["topicId"] for topics in _by_id(api, version, body) for topic in topics)
    return [each for each in dict.fromkeys(ids) if known.name_of(each) is None]


def with_names(api: str, version: int, body: Body, known: KnownTopics) -> Body:
    """The request with the name beside each topic's id; a topic without one does not exist, whatever is known of it later."""

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


def _by_id(api: str, version: int, body: Body) -> list[list[Body]]:
    if not _goes_by_id(api, version):
        return []
    entries = [body] if api == "OffsetCommit" else body["groups"]
    return [entry["topics"] or [] for entry in entries]


def _goes_by_id(api: str, version: int) -> bool:
    return api in {"OffsetCommit", "OffsetFetch"} and version >= IDS_SINCE


def grown(topics: Iterable[Body], known: KnownTopics) -> list[str]:
    """The names of topics that the gateway does not know, or with fewer partitions than the request does."""
    return [
        topic["name"]
        for topic in topics
        if "name" in topic
        and (
            not (count := known.partition_count(topic["name"]))
            or any(each["partitionIndex"] >= count for each in topic["partitions"])
        )
    ]


class Sorted(NamedTuple):
    """Topics of a request: those to ask the job about, by name, and what is refused, in the form of the answer."""

    present: list[Body]
    refused: list[Body]


def sort(topics: Iterable[Body], known: KnownTopics) -> Sorted:
    """Topics of a request; those that it knows by id only have their names beside it, or do not exist."""
    found = Sorted([], [])
    for topic in topics:
        field = "topicId" if "topicId" in topic else "name"
        identity = {field: topic[field]}
        if "name" in topic:
            _sort(topic, identity, topic["name"], known, found)
        else:
            code = ErrorCode.UNKNOWN_TOPIC_ID
            found.refused.append({**identity, "partitions": _results(topic["partitions"], code)})
    return found


def _sort(topic: Body, identity: Body, name: str, known: KnownTopics, found: Sorted) -> None:
    count = known.partition_count(name)
    there = [each for each in topic["partitions"] if 0 <= each["partitionIndex"] < count]
    missing = [each for each in topic["partitions"] if not 0 <= each["partitionIndex"] < count]
    if missing or not count:
        results = _results(missing, ErrorCode.UNKNOWN_TOPIC_OR_PARTITION)
        found.refused.append({**identity, "partitions": results})
    if there:
        found.present.append({"name": name, "partitions": there})


def _results(partitions: Iterable[Body], code: ErrorCode) -> list[Body]:
    return [{"partitionIndex": each["partitionIndex"], "errorCode": code} for each in partitions]


def with_ids(topics: Iterable[Body], id_of: Callable[[str], str | None]) -> list[Body]:
    """Answers of the job in the words of a request by id; a topic that was deleted meanwhile has none, and goes."""
    return [
        {"topicId": topic_id, "partitions": topic["partitions"]}
        for topic in topics
        if (topic_id := id_of(topic["name"])) is not None
    ]


def ids_of(topics: Iterable[Body]) -> dict[str, str]:
    """The ids that a request has beside the names of its topics."""
    return {t["name"]: t["topicId"] for t in topics if "name" in t and "topicId" in t}


def merged(refused: Sequence[Body], answered: Sequence[Body]) -> list[Body]:
    """Merge to one entry a topic, denied topics first, as Kafka's response builders do; without denied topics, return the response."""
    if not refused:
        return [*answered]
    topics: dict[str, Body] = {}
    for topic in (*refused, *answered):
        identity = topic["topicId"] if "topicId" in topic else topic["name"]
        if identity in topics:
            topics[identity]["partitions"] += topic["partitions"]
        else:
            topics[identity] = {**topic, "partitions": list(topic["partitions"])}
    return list(topics.values())
