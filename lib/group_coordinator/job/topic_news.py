"""What a group is told of topics, and the event that tells it."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import NamedTuple

from group_coordinator.codecs.apis.topic_metadata import (
    GoneTopic,
    TopicMetadataBody,
    known_topic,
)
from group_coordinator.core.model.topic import Topic
from group_coordinator.core.topics.hash import topic_hash
from group_coordinator.job.own_event import own_event
from group_coordinator.job.topic_interests import KnownTopics


class News(NamedTuple):
    """What a group is to be told: topics that exist, those that do not exist any more, and what it knows then."""

    topics: list[Topic]
    deleted: list[tuple[str, str]]
    told: KnownTopics


class Hashes:
    """The hashes of topics, computed once for each that is new or has changed."""

    def __init__(self) -> None:
        self._known: dict[str, tuple[Topic, int]] = {}

    def of(self, topic: Topic) -> int:
        """The topic's hash; the same object has the same."""
        known = self._known.get(topic.name)
        if known is None or known[0] is not topic:
            known = self._known[topic.name] = (topic, topic_hash(topic))
        return known[1]

    def forget(self, names: Collection[str]) -> None:
        """These topics do not exist any more."""
        for name in names:
            self._known.pop(name, None)


def news(
    wanted: Collection[str], told: KnownTopics | None, topics: Mapping[str, Topic], hashes: Hashes
) -> News | None:
    """What a group does not know yet of the topics that it wants; None: it is up to date."""
    found = [topics[name] for name in sorted(wanted) if name in topics]
    knows = {topic.name: (topic.topic_id, hashes.of(topic)) for topic in found}
    if knows == told:
        return None
    deleted = [
        (name, topic_id)
        for name, (topic_id, _) in sorted((told or {}).items())
        if name not in topics or topics[name].topic_id != topic_id
    ]
    return News(found, deleted, knows)


def event(group_id: str, told: News) -> bytes:
    """It says nothing about other topics, which the group has not asked for."""
    body = TopicMetadataBody(
        group_id,
        [known_topic(topic) for topic in told.topics],
        [GoneTopic(name, topic_id) for name, topic_id in told.deleted],
        complete=False,
    )
    return own_event("TopicMetadata", body)
