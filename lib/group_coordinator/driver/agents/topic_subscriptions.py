"""Topic subscriptions of the groups, by topic and by pattern, and the metadata that each group received.

Subscriptions of a batch are kept before Spark commits the batch: a group sends them once, and its state then counts
them as sent. They are kept after the batch's responses, as clients wait for those.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from collections.abc import Set as AbstractSet
from threading import Lock
from typing import TypeAlias

from msgspec import Struct, field, json

from group_coordinator.core.topics.patterns import matching_names
from group_coordinator.runtime.outputs import TopicNeedLine
from group_coordinator.streaming.checkpoint.journal import Journal, JournalFiles

KnownTopics: TypeAlias = dict[str, tuple[str, int]]
"""Topic names with topic ids and hashes (core/topics/hash.py)."""

_FOLDER = "topics/interests"


class Interest(Struct, frozen=True):
    """A group's subscription, and the metadata that it received last; None: nothing yet."""

    names: tuple[str, ...]
    regexes: tuple[str, ...]
    received: KnownTopics | None = field(default=None, name="told")


_decode_need = json.Decoder(TopicNeedLine).decode


class TopicInterests:
    """The subscriptions of all groups. The batch writer adds to them in one thread, the agent reads them in another.

    The cost of keeping a change does not depend on the number of groups.
    """

    def __init__(self, files: JournalFiles) -> None:
        self._journal = Journal(files, _FOLDER, Interest)
        self._lock = Lock()
        self._interests = self._journal.read()
        self._changed = set(self._interests)

    @property
    def are_there(self) -> bool:
        """True if any group has a subscription."""
        with self._lock:
            return bool(self._interests)

    def note(self, lines: Sequence[str]) -> None:
        """Apply the operator's subscriptions in order; repeats are allowed."""
        needs = [_decode_need(line) for line in lines]
        with self._lock:
            for need in needs:
                self._note(need)
            noted = {need.group_id for need in needs}
            self._changed |= noted
            self._journal.keep(noted, self._interests)

    def _note(self, need: TopicNeedLine) -> None:
        known = self._interests.pop(need.group_id, None)
        if need.names or need.regexes:
            received = None if known is None or _is_the_same(known, need) else known.received
            self._interests[need.group_id] = Interest(need.names, need.regexes, received)

    def take_changed(self) -> dict[str, Interest | None]:
        """Return the subscriptions changed since the last call, at first all; None: the group has none any more."""
        with self._lock:
            changed, self._changed = self._changed, set()
            return {group_id: self._interests.get(group_id) for group_id in changed}

    def received(self, news: Mapping[str, KnownTopics]) -> None:
        """Keep the metadata that groups received, unless their subscription is removed."""
        with self._lock:
            still_there = news.keys() & self._interests.keys()
            for group_id in still_there:
                interest = self._interests[group_id]
                self._interests[group_id] = Interest(
                    interest.names, interest.regexes, news[group_id]
                )
            if still_there:
                self._journal.keep(still_there, self._interests)


def _is_the_same(known: Interest, need: TopicNeedLine) -> bool:
    # A group repeats its subscription if it has not received metadata, or has lost it: then it is sent again.
    return (known.names, known.regexes) == (need.names, need.regexes)


class TopicSubscriptions:
    """The subscriptions of all groups, and the existing topics that match their patterns."""

    def __init__(self) -> None:
        self._interests: dict[str, Interest] = {}
        self._by_name: defaultdict[str, set[str]] = defaultdict(set)
        self._by_regex: defaultdict[str, set[str]] = defaultdict(set)
        self._matches: dict[str, set[str]] = {}

    def __getitem__(self, group_id: str) -> Interest:
        return self._interests[group_id]

    @property
    def has_patterns(self) -> bool:
        """True if a topic that no group names may concern a group."""
        return bool(self._matches)

    def take(self, changed: Mapping[str, Interest | None], existing: Collection[str]) -> None:
        """Replace or remove groups' subscriptions; new patterns are matched with the existing topics."""
        for group_id, interest in changed.items():
            before = self._interests.pop(group_id, None)
            if before is not None:
                _leave(self._by_name, before.names, group_id)
                _leave(self._by_regex, before.regexes, group_id)
            if interest is not None:
                self._interests[group_id] = interest
                _enter(self._by_name, interest.names, group_id)
                _enter(self._by_regex, interest.regexes, group_id)
        # Patterns are shared by groups, so matches are computed once per pattern.
        for regex in self._matches.keys() - self._by_regex.keys():
            del self._matches[regex]
        for regex in self._by_regex.keys() - self._matches.keys():
            self._matches[regex] = set(matching_names(regex, existing))

    def topics_came(self, names: Collection[str]) -> None:
        """Match added topics with all patterns."""
        if names:
            for regex, matches in self._matches.items():
                matches.update(matching_names(regex, names))

    def topics_went(self, names: Collection[str]) -> None:
        """Remove deleted topics from all matches."""
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
        interest = self._interests[group_id]
        return set(interest.names).union(*(self._matches[regex] for regex in interest.regexes))

    def all_wanted(self) -> set[str]:
        """Return the topics to which any group subscribes."""
        return set(self._by_name).union(*self._matches.values())

    def received(self, news: Mapping[str, KnownTopics]) -> None:
        """Remember the metadata that groups received."""
        for group_id, received in news.items():
            interest = self._interests[group_id]
            self._interests[group_id] = Interest(interest.names, interest.regexes, received)


def _enter(index: defaultdict[str, set[str]], keys: Iterable[str], group_id: str) -> None:
    for key in keys:
        index[key].add(group_id)


def _leave(index: defaultdict[str, set[str]], keys: Iterable[str], group_id: str) -> None:
    for key in keys:
        groups = index[key]
        groups.discard(group_id)
        if not groups:
            del index[key]
