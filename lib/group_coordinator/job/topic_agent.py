"""Tells groups of the topics they subscribe to, as TopicMetadata events: Kafka's brokers know them anyway.

The stateful function must not ask the cluster itself: what it knows comes from its log of events, so that a batch that is
done again comes to the same. Groups say what they need, once and when it changes; who needs nothing costs nothing.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from threading import Event
from typing import NamedTuple, TypeAlias

from msgspec import UNSET, json

from group_coordinator.clients.channel_errors import ChannelError
from group_coordinator.codecs.apis.topic_metadata import GoneTopic, KnownTopic, TopicMetadataBody
from group_coordinator.core.model.topic import Topic
from group_coordinator.core.topics.hash import topic_hash
from group_coordinator.core.topics.patterns import matching_topics
from group_coordinator.job.topic_interests import Interest, KnownTopics, TopicInterests
from group_coordinator.streaming.retries import keep_trying

_log = logging.getLogger(__name__)

Topics: TypeAlias = dict[str, Topic]
Read: TypeAlias = Callable[[Collection[str] | None], Topics]
Send: TypeAlias = Callable[[Sequence[tuple[str, bytes]]], None]
"""Writes events, pairs of group id and value; returns when the brokers have them."""


class News(NamedTuple):
    """What a group is to be told."""

    topics: list[Topic]
    deleted: list[tuple[str, str]]
    told: KnownTopics


class TopicAgent:
    """Looks at the cluster and at the groups' interests, and brings news from the one to the others."""

    def __init__(self, interests: TopicInterests, read: Read, send: Send) -> None:
        self._interests = interests
        self._read = read
        self._send = send
        self._topics: Topics | None = None
        self._missing: set[str] = set()

    def run(self, stop: Event, interval_s: float) -> None:
        """Look again and again; while no broker answers, say so once and go on trying."""
        while not stop.wait(interval_s):
            keep_trying(
                self.look,
                stop,
                pause_s=interval_s,
                passes=lambda failure: isinstance(failure, ChannelError),
                say=_say_once,
            )

    def look(self) -> None:
        """Tell the groups what is new to them.

        Raises:
            ChannelError: the cluster does not answer; the next look makes up for it.
        """
        interests = self._interests.all()
        if not interests:
            return
        before, topics = self._topics, self._confirmed(self._read(_names(interests.values())))
        self._topics = topics
        if before is None:
            return  # a broker that has only just started is not believed that topics are gone
        changed = self._interests.take_changed()
        try:
            concerned = interests if topics != before else interests.keys() & changed
            self._tell({group_id: interests[group_id] for group_id in sorted(concerned)}, topics)
        except ChannelError:
            self._topics = before
            self._interests.put_back(changed)
            raise

    def _confirmed(self, topics: Topics) -> Topics:
        """A topic that was there counts as gone when two looks in a row have missed it."""
        before = self._topics or {}
        missing = before.keys() - topics.keys()
        doubtful = {name: before[name] for name in sorted(missing - self._missing)}
        self._missing = set(missing)
        return topics | doubtful

    def _tell(self, interests: Mapping[str, Interest], topics: Topics) -> None:
        matches = _matches(interests.values(), topics)
        news = {
            group_id: found
            for group_id, interest in interests.items()
            if (found := _news(interest, topics, matches)) is not None
        }
        if news:
            self._send([(group_id, _event(group_id, found)) for group_id, found in news.items()])
            self._interests.told({group_id: found.told for group_id, found in news.items()})


def _say_once(failure: BaseException, attempt: int) -> None:
    if attempt == 1:
        _log.warning("topics are looked at again when Kafka answers: %s", failure)


def _names(interests: Iterable[Interest]) -> set[str] | None:
    """The topics to ask for; None: all, as patterns may match any."""
    names: set[str] = set()
    for interest in interests:
        if interest.regexes:
            return None
        names.update(interest.names, interest.told or ())
    return names


def _matches(interests: Iterable[Interest], topics: Topics) -> dict[str, frozenset[str]]:
    regexes = {regex for interest in interests for regex in interest.regexes}
    return {regex: matching_topics(regex, topics) for regex in sorted(regexes)}


def _news(interest: Interest, topics: Topics, matches: Mapping[str, frozenset[str]]) -> News | None:
    """What the group does not know yet; None: it is up to date."""
    wanted = set(interest.names).union(*(matches[regex] for regex in interest.regexes))
    found = [topics[name] for name in sorted(wanted & topics.keys())]
    told = {topic.name: (topic.topic_id, topic_hash(topic)) for topic in found}
    if told == interest.told:
        return None
    deleted = [
        (name, topic_id)
        for name, (topic_id, _) in sorted((interest.told or {}).items())
        if name not in topics or topics[name].topic_id != topic_id
    ]
    return News(found, deleted, told)


def _event(group_id: str, news: News) -> bytes:
    """It says nothing about other topics, which the group has not asked for."""
    body = TopicMetadataBody(
        group_id,
        [_known(topic) for topic in news.topics],
        [GoneTopic(name, topic_id) for name, topic_id in news.deleted],
        complete=False,
    )
    return json.encode({"api": "TopicMetadata", "version": 0, "correlationId": None, "body": body})


def _known(topic: Topic) -> KnownTopic:
    racks = UNSET if topic.racks is None else [list(of_partition) for of_partition in topic.racks]
    return KnownTopic(topic.name, topic.topic_id, topic.num_partitions, racks)
