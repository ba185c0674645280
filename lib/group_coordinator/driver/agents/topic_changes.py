"""Changes of the cluster's topics from look to look, and the events that report them to a group."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import NamedTuple, TypeAlias

from msgspec import Struct, json

from group_coordinator.clients.cluster.topics import Look
from group_coordinator.codecs.apis.topic_metadata import GoneTopic, TopicMetadataBody, known_topic
from group_coordinator.core.acls.rule import THE_JOB
from group_coordinator.core.model.topic import Topic
from group_coordinator.core.topics.hash import topic_hash
from group_coordinator.driver.agents.topic_subscriptions import KnownTopics

Topics: TypeAlias = dict[str, Topic]


class Difference(NamedTuple):
    """The names of topics that are new, that are not as they were, and that are gone."""

    came: set[str]
    changed: set[str]
    went: set[str]


class SeenTopics:
    """A topic that was there counts as gone when two looks in a row have missed it.

    One that has not changed stays the same object. One that may not be seen any more stays as it was.
    """

    def __init__(self) -> None:
        self.topics: Topics = {}
        self.hidden: set[str] = set()
        """The names of topics that may be there, as far as we may know."""
        self._missed: set[str] = set()

    def take(self, asked: Collection[str] | None, look: Look) -> Difference:
        """Take over the answer to a look that has asked for these topics; None: for all."""
        before, found = self.topics, look.topics
        came = found.keys() - before.keys()
        changed = {
            name for name, topic in found.items() if name in before and before[name] != topic
        }
        known = before.keys() | self.hidden
        answered = found.keys() | look.hidden
        missing = (known if asked is None else known & set(asked)) - answered
        gone = missing & self._missed
        went = gone & before.keys()
        self._missed = (self._missed - answered | missing) - gone
        self.hidden = (self.hidden - found.keys() - gone) | look.hidden
        for name in came | changed:
            before[name] = found[name]
        for name in went:
            del before[name]
        return Difference(set(came), changed, went)

    def forget_all_but(self, names: Collection[str]) -> None:
        """Nobody wants to know of others."""
        self.topics = {name: topic for name, topic in self.topics.items() if name in names}
        self.hidden &= set(names)
        self._missed &= self.topics.keys() | self.hidden


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


def own_event(api: str, body: Struct) -> bytes:
    """An event of the job's own, which nobody waits for an answer to."""
    envelope = {"api": api, "version": 0, "correlationId": None, "principal": THE_JOB, "body": body}
    return json.encode(envelope)
