"""Existing topics and partitions of a request about offsets.

Source: KafkaApis.handleOffsetCommitRequest, handleTxnOffsetCommitRequest, handleOffsetDeleteRequest in Kafka 4.4. The
job gets topic names; responses of versions with topic ids contain ids.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Sequence
from typing import NamedTuple, Protocol

from group_coordinator.clients.channel import Body
from group_coordinator.core.model.errors import ErrorCode
from group_coordinator.core.model.requests import Topic


class TopicCache(Protocol):
    """Topics of the cluster, as of the last refresh."""

    def name_of(self, topic_id: str) -> str | None: ...
    def id_of(self, name: str) -> str | None: ...
    def partition_count(self, name: str) -> int:
        """Number of partitions; 0: no topic has this name."""

    def topic(self, name: str) -> Topic | None: ...
    async def look_for(self, names: Collection[str] = (), topic_ids: Collection[str] = ()) -> None:
        """Look up topics that may be new or have more partitions. Without a response the cache stays as it was."""


IDS_SINCE = 10
"""First version of OffsetCommit and OffsetFetch with topic ids. The job gets names, in the version before."""


def grown(topics: Iterable[Body], known: TopicCache) -> list[str]:
    """Names of topics that are unknown, or have fewer partitions than the request names."""
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
    """Topics for the job, by name, and error entries in the form of the response."""

    present: list[Body]
    errors: list[Body]


def sort(topics: Iterable[Body], known: TopicCache) -> Sorted:
    """Sort a request's topics. A topic with only an id does not exist."""
    found = Sorted([], [])
    for topic in topics:
        # The response names a topic as the request did.
        field = "topicId" if "topicId" in topic else "name"
        identity = {field: topic[field]}
        if "name" in topic:
            _sort(topic, identity, topic["name"], known, found)
        else:
            code = ErrorCode.UNKNOWN_TOPIC_ID
            found.errors.append({**identity, "partitions": results(topic["partitions"], code)})
    return found


def _sort(topic: Body, identity: Body, name: str, known: TopicCache, found: Sorted) -> None:
    count = known.partition_count(name)
    # The job decides about partitions that exist, the gateway about the others, as the job does not know the
    # cluster's topics.
    there = [each for each in topic["partitions"] if 0 <= each["partitionIndex"] < count]
    missing = [each for each in topic["partitions"] if not 0 <= each["partitionIndex"] < count]
    if missing or not count:
        partitions = results(missing, ErrorCode.UNKNOWN_TOPIC_OR_PARTITION)
        found.errors.append({**identity, "partitions": partitions})
    if there:
        found.present.append({"name": name, "partitions": there})


def results(partitions: Iterable[Body], code: int) -> list[Body]:
    return [{"partitionIndex": each["partitionIndex"], "errorCode": code} for each in partitions]


def with_ids(topics: Iterable[Body], id_of: Callable[[str], str | None]) -> list[Body]:
    """Replace names by ids in the job's response. A topic that was deleted meanwhile has no id, and is left out."""
    return [
        {"topicId": topic_id, "partitions": topic["partitions"]}
        for topic in topics
        if (topic_id := id_of(topic["name"])) is not None
    ]


def ids_of(topics: Iterable[Body]) -> dict[str, str]:
    """Topic ids of a request by topic name."""
    return {t["name"]: t["topicId"] for t in topics if "name" in t and "topicId" in t}


def merged(errors: Sequence[Body], answered: Sequence[Body]) -> list[Body]:
    """Merge to an entry for each topic, denied topics first, as Kafka's response builders do."""
    if not errors:
        return [*answered]
    topics: dict[str, Body] = {}
    for topic in (*errors, *answered):
        identity = topic["topicId"] if "topicId" in topic else topic["name"]
        # A topic may be in both parts, and a client expects a single entry.
        if identity in topics:
            topics[identity]["partitions"] += topic["partitions"]
        else:
            topics[identity] = {**topic, "partitions": list(topic["partitions"])}
    return list(topics.values())
