"""Which topics and partitions of a request exist: Kafka's request layer refuses the others before the coordinator.

Source: KafkaApis.handleOffsetCommitRequest, handleTxnOffsetCommitRequest, handleOffsetDeleteRequest in Kafka 4.4. The
group is asked by name; versions that name topics by id get ids back.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import NamedTuple

from group_coordinator.core.model.errors import ErrorCode
from group_coordinator.gateway.groups.known_topics import KnownTopics
from group_coordinator.gateway.job.questions import Body


class Sorted(NamedTuple):
    """Topics of a request: those to ask the job about, by name, and what is refused, in the form of the answer."""

    present: list[Body]
    refused: list[Body]


def sort_by_name(topics: Iterable[Body], known: KnownTopics) -> Sorted:
    """Topics that a request names."""
    found = Sorted([], [])
    for topic in topics:
        _sort(topic, {"name": topic["name"]}, topic["name"], known, found)
    return found


def sort_by_id(topics: Iterable[Body], known: KnownTopics) -> Sorted:
    """Topics that a request knows by id only."""
    found = Sorted([], [])
    for topic in topics:
        name = known.name_of(topic["topicId"])
        identity = {"topicId": topic["topicId"]}
        if name is None:
            code = ErrorCode.UNKNOWN_TOPIC_ID
            found.refused.append({**identity, "partitions": _results(topic["partitions"], code)})
        else:
            _sort(topic, identity, name, known, found)
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


def with_ids(topics: Iterable[Body], known: KnownTopics) -> list[Body]:
    """Answers of the job in the words of a request by id; a topic that was deleted meanwhile has none, and goes."""
    return [
        {"topicId": topic_id, "partitions": topic["partitions"]}
        for topic in topics
        if (topic_id := known.id_of(topic["name"])) is not None
    ]


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
