"""Changes of the cluster's topics from look to look, and the events that report them to a group."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import NamedTuple, TypeAlias

from msgspec import Struct, json

from group_coordinator.clients.cluster.topics import VisibleTopics
from group_coordinator.codecs.apis.topic_metadata import GoneTopic, TopicMetadataBody, known_topic
from group_coordinator.core.acls.rule import THE_JOB
from group_coordinator.core.model.topic import Topic
from group_coordinator.core.topics.hash import topic_hash
from group_coordinator.driver.agents.topic_subscriptions import KnownTopics

Topics: TypeAlias = dict[str, Topic]


class Difference(NamedTuple):
    """Names of added, changed and deleted topics."""

    came: set[str]
    changed: set[str]
    went: set[str]


class SeenTopics:
    """Topics as they were last seen. A topic counts as deleted when two looks in a row have missed it.

    An unchanged topic stays the same object. A topic that ACLs hide stays as it was.
    """

    def __init__(self) -> None:
        self.topics: Topics = {}
        self.hidden: set[str] = set()
        """Names of topics that may exist, but are hidden by ACLs."""
        self._missed: set[str] = set()

    def take(self, asked: Collection[str] | None, look: VisibleTopics) -> Difference:
        """Apply the response to a look at these topics; None: at all."""
        before, found = self.topics, look.topics
        came = found.keys() - before.keys()
        changed = {
            name for name, topic in found.items() if name in before and before[name] != topic
        }
        known = before.keys() | self.hidden
        answered = found.keys() | look.hidden
        missing = (known if asked is None else known & set(asked)) - answered
        # A single look may miss a topic, for example at a broker that has just started.
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
        """Forget topics to which no group subscribes."""
        self.topics = {name: topic for name, topic in self.topics.items() if name in names}
        self.hidden &= set(names)
        self._missed &= self.topics.keys() | self.hidden


class News(NamedTuple):
    """Topic metadata for a group: existing topics, deleted topics, and the group's knowledge after it."""

    topics: list[Topic]
    deleted: list[tuple[str, str]]
    received: KnownTopics


class Hashes:
    """Hashes of topics, computed once for each new or changed topic."""

    def __init__(self) -> None:
        self._known: dict[str, tuple[Topic, int]] = {}

    def of(self, topic: Topic) -> int:
        """Return the topic's hash; the same object has the same hash."""
        known = self._known.get(topic.name)
        # By identity, as SeenTopics keeps unchanged topics: comparing racks of all partitions would take as long as
        # the hash.
        if known is None or known[0] is not topic:
            known = self._known[topic.name] = (topic, topic_hash(topic))
        return known[1]

    def forget(self, names: Collection[str]) -> None:
        """Forget the hashes of deleted topics."""
        for name in names:
            self._known.pop(name, None)


def news(
    wanted: Collection[str],
    received: KnownTopics | None,
    topics: Mapping[str, Topic],
    hashes: Hashes,
) -> News | None:
    """Return the changes that a group has yet to receive; None: it is up to date."""
    found = [topics[name] for name in sorted(wanted) if name in topics]
    knows = {topic.name: (topic.topic_id, hashes.of(topic)) for topic in found}
    if knows == received:
        return None
    deleted = [
        (name, topic_id)
        for name, (topic_id, _) in sorted((received or {}).items())
        # A topic that was created again has another id: the group must lose the old topic's offsets.
        if name not in topics or topics[name].topic_id != topic_id
    ]
    return News(found, deleted, knows)


def event(group_id: str, change: News) -> bytes:
    """Return a partial TopicMetadata event: other topics stay as the group knows them."""
    body = TopicMetadataBody(
        group_id,
        [known_topic(topic) for topic in change.topics],
        [GoneTopic(name, topic_id) for name, topic_id in change.deleted],
        # The cluster may have a hundred thousand topics, and a group needs a few.
        complete=False,
    )
    return own_event("TopicMetadata", body)


def own_event(api: str, body: Struct) -> bytes:
    """Return an event of the job's own, without a response."""
    # Without correlation id: no client waits for it.
    envelope = {"api": api, "version": 0, "correlationId": None, "principal": THE_JOB, "body": body}
    return json.encode(envelope)
