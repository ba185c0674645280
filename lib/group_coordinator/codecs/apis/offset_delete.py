"""OffsetDelete: an administrator deletes offsets of a group."""

from __future__ import annotations

from msgspec import UNSET, UnsetType

from group_coordinator.codecs.apis.api import Body, codec
from group_coordinator.codecs.fields import Int32, JsonObject, Text, results_by_name
from group_coordinator.core.model import requests, responses


class DeletedPartition(Body):
    partition_index: Int32 | UnsetType = UNSET


class DeletedTopic(Body):
    name: Text | UnsetType = UNSET
    partitions: list[DeletedPartition] | UnsetType = UNSET


class OffsetDeleteBody(Body):
    group_id: Text | UnsetType = UNSET
    topics: list[DeletedTopic] | UnsetType = UNSET


def _to_request(body: OffsetDeleteBody, _version: int) -> requests.OffsetDelete:
    topics = [
        requests.TopicPartitions(
            topic.name or "",
            None,
            tuple([entry.partition_index or 0 for entry in topic.partitions or ()]),
        )
        for topic in body.topics or ()
    ]
    return requests.OffsetDelete(body.group_id or "", tuple(topics))


def _to_body(response: responses.OffsetDeleteResponse, _version: int) -> JsonObject:
    return {
        "errorCode": response.error,
        "throttleTimeMs": 0,
        "topics": [results_by_name(topic) for topic in response.topics],
    }


CODEC = codec(range(1), OffsetDeleteBody, _to_request, responses.OffsetDeleteResponse, _to_body)
