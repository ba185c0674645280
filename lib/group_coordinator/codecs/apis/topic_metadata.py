"""What is said of the cluster's topics, in TopicMetadata events and in the lines of replay-events."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from group_coordinator.codecs.apis.api import KnownTopic
from group_coordinator.codecs.field_errors import FieldError
from group_coordinator.codecs.fields import ZERO_UUID
from group_coordinator.core.model.topic import Topic

MOST_PARTITIONS = 1_000_000
"""Of all topics that a group is told of at once, more than any cluster has: a few bytes must not become gigabytes."""


def known_topics(given: Sequence[KnownTopic]) -> tuple[Topic, ...]:
    """The topics, each name and each id once.

    Raises:
        FieldError: a name or an id is there twice, an id is the one that stands for none, or there are too many
            partitions.
    """
    ids = [entry.topic_id for entry in given]
    _check_distinct("topics.name", [entry.name for entry in given])
    _check_distinct("topics.topicId", ids)
    partitions = sum(entry.num_partitions for entry in given)
    if partitions > MOST_PARTITIONS:
        raise FieldError(
            f"topics.numPartitions = {partitions} together", f"more than {MOST_PARTITIONS}"
        )
    if ZERO_UUID in ids:
        raise FieldError(f"topics.topicId = {ZERO_UUID}", "stands for no topic")
    return tuple(
        [Topic(entry.name, entry.topic_id, entry.num_partitions, _racks(entry)) for entry in given]
    )


def _racks(topic: KnownTopic) -> tuple[tuple[str, ...], ...] | None:
    """By partition, sorted; None where nobody is in a rack."""
    racks = tuple([tuple(sorted(of_partition)) for of_partition in topic.racks or ()])
    return racks if any(racks) else None


def _check_distinct(field: str, values: Sequence[str]) -> None:
    for value, count in Counter(values).most_common(1):
        if count > 1:
            raise FieldError(f"{field} = {value}", "is there twice")
