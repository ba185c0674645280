"""Topic subscriptions of the groups, by topic and by pattern, and the metadata that each group received.

Subscriptions of a batch are kept before Spark commits the batch, as a group sends them once, but after the batch's responses, for
which clients wait. Changes of the cluster's topics between two looks become events to each group that subscribes to them.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from collections.abc import Set as AbstractSet
from threading import Lock
from typing import NamedTuple, TypeAlias

from msgspec import Struct, field, json
from msgspec.structs import replace

from group_coordinator.clients.cluster.topics import VisibleTopics
from group_coordinator.codecs.apis.topic_metadata import (
    RemovedTopic,
    TopicMetadataBody,
    known_topic,
)
from group_coordinator.core.acls import THE_JOB
from group_coordinator.core.model.requests import Topic
from group_coordinator.core.topics import matching_names, topic_hash
from group_coordinator.runtime.outputs import TopicSubscriptionLine
from group_coordinator.streaming.checkpoint.journal import Journal, JournalFiles

KnownTopics: TypeAlias = dict[str, tuple[str, int]]
"""Topic names with topic ids and hashes (core/topics.py)."""

_FOLDER = "topics/interests"


class GroupSubscription(Struct, frozen=True):
    """A group's subscription, and the metadata that it received last; None: nothing yet."""

    names: tuple[str, ...]
    regexes: tuple[str, ...]
    received: KnownTopics | None = field(default=None, name="told")


_decode_subscription = json.Decoder(TopicSubscriptionLine).decode


class GroupSubscriptions:
    """The subscriptions of all groups. The batch writer adds to them in one thread, the task reads them in another."""

    def __init__(self, files: JournalFiles) -> None:
        self._journal = Journal(files, _FOLDER, GroupSubscription)
        self._lock = Lock()
        self._subscriptions = self._journal.read()
        self._changed = set(self._subscriptions)

    @property
    def are_there(self) -> bool:
        with self._lock:
            return bool(self._subscriptions)

    def note(self, lines: Sequence[str]) -> None:
        """Apply the operator's subscriptions in order; repeats are allowed."""
        reported = list(map(_decode_subscription, lines))
        with self._lock:
            for line in reported:
                self._note(line)
            noted = {line.group_id for line in reported}
            self._changed |= noted
            self._journal.keep(noted, self._subscriptions)

    def _note(self, line: TopicSubscriptionLine) -> None:
        known = self._subscriptions.pop(line.group_id, None)
        if line.names or line.regexes:
            received = None if known is None or _is_the_same(known, line) else known.received
            self._subscriptions[line.group_id] = GroupSubscription(
                line.names, line.regexes, received
            )

    def take_changed(self) -> dict[str, GroupSubscription | None]:
        """Return the subscriptions changed since the last call, at first all; None: the group has none any more."""
        with self._lock:
            changed, self._changed = self._changed, set()
            return {group_id: self._subscriptions.get(group_id) for group_id in changed}

    def received(self, changes: Mapping[str, KnownTopics]) -> None:
        """Keep the metadata that groups received, unless their subscription is removed."""
        with self._lock:
            still_there = changes.keys() & self._subscriptions.keys()
            for group_id in still_there:
                known = self._subscriptions[group_id]
                self._subscriptions[group_id] = replace(known, received=changes[group_id])
            if still_there:
                self._journal.keep(still_there, self._subscriptions)


def _is_the_same(known: GroupSubscription, line: TopicSubscriptionLine) -> bool:
    # A group repeats its subscription if it has not received metadata, or has lost it: then it is sent again.
    return (known.names, known.regexes) == (line.names, line.regexes)


class TopicSubscriptions:
    """The subscriptions of all groups, and the existing topics that match their patterns."""

    def __init__(self) -> None:
        self._subscriptions: dict[str, GroupSubscription] = {}
        self._by_name: defaultdict[str, set[str]] = defaultdict(set)
        self._by_regex: defaultdict[str, set[str]] = defaultdict(set)
        self._matches: dict[str, set[str]] = {}

    def __getitem__(self, group_id: str) -> GroupSubscription:
        return self._subscriptions[group_id]

    @property
    def has_patterns(self) -> bool:
        """True if a topic that no group names may concern a group."""
        return bool(self._matches)

    def take(
        self, changed: Mapping[str, GroupSubscription | None], existing: Collection[str]
    ) -> None:
        """Replace or remove groups' subscriptions; new patterns are matched with the existing topics."""
        for group_id, subscription in changed.items():
            before = self._subscriptions.pop(group_id, None)
            if before is not None:
                _leave(self._by_name, before.names, group_id)
                _leave(self._by_regex, before.regexes, group_id)
            if subscription is not None:
                self._subscriptions[group_id] = subscription
                _enter(self._by_name, subscription.names, group_id)
                _enter(self._by_regex, subscription.regexes, group_id)
        # Patterns are shared by groups, so matches are computed once per pattern.
        for regex in self._matches.keys() - self._by_regex.keys():
            del self._matches[regex]
        for regex in self._by_regex.keys() - self._matches.keys():
            self._matches[regex] = set(matching_names(regex, existing))

    def topics_came(self, names: Collection[str]) -> None:
        if names:
            for regex, matches in self._matches.items():
                matches.update(matching_names(regex, names))

    def topics_went(self, names: Collection[str]) -> None:
        for matches in self._matches.values():
            matches.difference_update(names)

    def concerned(self, names: AbstractSet[str]) -> set[str]:
        """Return the groups that subscribe to any of these topics, by name or by a pattern."""
        groups: set[str] = set()
        for name in self._by_name.keys() & names:
            groups |= self._by_name[name]
        for regex, matches in self._matches.items():
            if not matches.isdisjoint(names):
                groups |= self._by_regex[regex]
        return groups

    def wanted(self, group_id: str) -> set[str]:
        """Return the topics of a group's subscription: named topics, existing or not, and matching topics."""
        subscription = self._subscriptions[group_id]
        return set(subscription.names).union(
            *(self._matches[regex] for regex in subscription.regexes)
        )

    def all_wanted(self) -> set[str]:
        return set(self._by_name).union(*self._matches.values())

    def received(self, changes: Mapping[str, KnownTopics]) -> None:
        for group_id, received in changes.items():
            self._subscriptions[group_id] = replace(
                self._subscriptions[group_id], received=received
            )


def _enter(index: defaultdict[str, set[str]], keys: Iterable[str], group_id: str) -> None:
    for key in keys:
        index[key].add(group_id)


def _leave(index: defaultdict[str, set[str]], keys: Iterable[str], group_id: str) -> None:
    for key in keys:
        groups = index[key]
        groups.discard(group_id)
        if not groups:
            del index[key]


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


class GroupTopicMetadata(NamedTuple):
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
        for name in names:
            self._known.pop(name, None)


def metadata_changes(
    wanted: Collection[str],
    received: KnownTopics | None,
    topics: Mapping[str, Topic],
    hashes: Hashes,
) -> GroupTopicMetadata | None:
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
    return GroupTopicMetadata(found, deleted, knows)


_EVENT_BYTES = 1_000_000
"""The longest event. With a longer key and value, brokers do not accept the record."""


def event(group_id: str, change: GroupTopicMetadata) -> bytes | None:
    """Return a partial TopicMetadata event: other topics stay as the group knows them; None: it would be too long.

    Racks are left out of a long event: they take most of it.
    """
    for topics in (change.topics, [topic.replace(racks=None) for topic in change.topics]):
        body = TopicMetadataBody(
            group_id,
            list(map(known_topic, topics)),
            [RemovedTopic(name, topic_id) for name, topic_id in change.deleted],
            # The cluster may have a hundred thousand topics, and a group needs a few.
            complete=False,
        )
        value = own_event("TopicMetadata", body)
        if len(value) <= _EVENT_BYTES:
            return value
    return None


Send: TypeAlias = Callable[[Sequence[tuple[str, bytes]]], None]
"""Writes events, pairs of group id and value; returns when the brokers have them."""


def own_event(api: str, body: Struct) -> bytes:
    """Return an event of the job's own, without a response."""
    # Without correlation id: no client waits for it.
    envelope = {"api": api, "version": 0, "correlationId": None, "principal": THE_JOB, "body": body}
    return json.encode(envelope)
