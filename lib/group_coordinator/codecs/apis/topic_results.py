"""The results of a request about partitions, as the APIs that commit and delete offsets answer them."""

from __future__ import annotations

from group_coordinator.codecs.plain_json import JsonObject
from group_coordinator.codecs.uuids import uuid_on_wire
from group_coordinator.core.model.responses import PartitionResult, TopicResult


def results_by_name(topic: TopicResult) -> JsonObject:
    """The errors of a topic's partitions, with the name of the topic."""
    return {"name": topic.name or "", "partitions": _errors(topic.partitions)}


def results_by_id(topic: TopicResult) -> JsonObject:
    """The errors of a topic's partitions, with the id of the topic."""
    return {"topicId": uuid_on_wire(topic.topic_id), "partitions": _errors(topic.partitions)}


def _errors(results: tuple[PartitionResult, ...]) -> list[JsonObject]:
    return [{"partitionIndex": result.partition, "errorCode": result.error} for result in results]
