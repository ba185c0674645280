"""TopicMetadata (our own event): the cluster's topics that a group needs. It has no response."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import Annotated

from msgspec import UNSET, Meta, UnsetType, json

from group_coordinator.codecs.apis.api import ApiCodec, Body
from group_coordinator.codecs.fields import ZERO_UUID, FieldError, Text, Uuid, or_default
from group_coordinator.core.model.requests import Topic, TopicMetadata

MOST_PARTITIONS = 1_000_000
"""The limit of partitions of all topics in an event, more than any cluster has: a few bytes must not become gigabytes."""

TopicsVersion = Annotated[int, Meta(ge=0, le=2**62)]
"""The group increases this number, and must not reach the end of an int64."""


class ExistingTopic(Body):
    """A topic of a TopicMetadata event."""

    name: Text
    topic_id: Uuid
    num_partitions: Annotated[int, Meta(ge=1, le=2**31 - 1)]
    racks: list[list[Text]] | UnsetType | None = UNSET


class RemovedTopic(Body):
    """A deleted topic of a TopicMetadata event."""

    name: Text
    topic_id: Uuid


class TopicMetadataBody(Body):
    group_id: Text
    topics: list[ExistingTopic]
    deleted_topics: list[RemovedTopic] | UnsetType = UNSET
    version: TopicsVersion | UnsetType = UNSET
    complete: bool | UnsetType = UNSET


def _to_request(body: TopicMetadataBody, _version: int) -> TopicMetadata:
    return TopicMetadata(
        body.group_id,
        known_topics(body.topics),
        tuple([(entry.name, entry.topic_id) for entry in body.deleted_topics or ()]),
        or_default(body.version, None),
        or_default(body.complete, default=True),
    )


def known_topics(entries: Sequence[ExistingTopic]) -> tuple[Topic, ...]:
    """Convert the topics. Names and ids must be unique.

    Raises FieldError: a name or an id is repeated, an id is the zero id, or there are too many partitions.
    """
    ids = [entry.topic_id for entry in entries]
    _check_distinct("topics.name", [entry.name for entry in entries])
    _check_distinct("topics.topicId", ids)
    partitions = sum(entry.num_partitions for entry in entries)
    if partitions > MOST_PARTITIONS:
        raise FieldError(
            f"topics.numPartitions = {partitions} together", f"more than {MOST_PARTITIONS}"
        )
    # This id stands for an absent topic id everywhere else.
    if ZERO_UUID in ids:
        raise FieldError(f"topics.topicId = {ZERO_UUID}", "stands for no topic")
    return tuple(
        [
            Topic(entry.name, entry.topic_id, entry.num_partitions, _racks(entry))
            for entry in entries
        ]
    )


def known_topic(topic: Topic) -> ExistingTopic:
    """Return the topic in the form of events."""
    racks = UNSET if topic.racks is None else [list(of_partition) for of_partition in topic.racks]
    return ExistingTopic(topic.name, topic.topic_id, topic.num_partitions, racks)


def _racks(topic: ExistingTopic) -> tuple[tuple[str, ...], ...] | None:
    racks = tuple([tuple(sorted(of_partition)) for of_partition in topic.racks or ()])
    # Without any rack the racks count as unknown.
    return racks if any(racks) else None


def _check_distinct(field: str, values: Sequence[str]) -> None:
    for value, count in Counter(values).most_common(1):
        if count > 1:
            raise FieldError(f"{field} = {value}", "appears twice")


CODEC = ApiCodec(range(1), json.Decoder(TopicMetadataBody), _to_request, None)
