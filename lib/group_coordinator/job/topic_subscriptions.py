"""What groups subscribe to, by topic and by pattern: who is concerned by a topic is looked up, not searched for."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping
from collections.abc import Set as AbstractSet

from group_coordinator.core.topics.patterns import matching_names
from group_coordinator.job.topic_interests import Interest, KnownTopics


class Subscriptions:
    """The interests of all groups, and the topics that their patterns match among those that exist."""

    def __init__(self) -> None:
        self._interests: dict[str, Interest] = {}
        self._by_name: defaultdict[str, set[str]] = defaultdict(set)
        self._by_regex: defaultdict[str, set[str]] = defaultdict(set)
        self._matches: dict[str, set[str]] = {}

    def __getitem__(self, group_id: str) -> Interest:
        return self._interests[group_id]

    @property
    def has_patterns(self) -> bool:
        """Whether a topic that nobody has named may concern a group."""
        return bool(self._matches)

    def take(self, changed: Mapping[str, Interest | None], existing: Collection[str]) -> None:
        """Let groups have other interests, or none; new patterns are matched with the topics that exist."""
        for group_id, interest in changed.items():
            before = self._interests.pop(group_id, None)
            if before is not None:
                _leave(self._by_name, before.names, group_id)
                _leave(self._by_regex, before.regexes, group_id)
            if interest is not None:
                self._interests[group_id] = interest
                _enter(self._by_name, interest.names, group_id)
                _enter(self._by_regex, interest.regexes, group_id)
        for regex in self._matches.keys() - self._by_regex.keys():
            del self._matches[regex]
        for regex in self._by_regex.keys() - self._matches.keys():
            self._matches[regex] = set(matching_names(regex, existing))

    def topics_came(self, names: Collection[str]) -> None:
        """Match these topics, which did not exist before, with all patterns."""
        if names:
            for regex, matches in self._matches.items():
                matches.update(matching_names(regex, names))

    def topics_went(self, names: Collection[str]) -> None:
        """These topics match nothing any more."""
        for matches in self._matches.values():
            matches.difference_update(names)

    def concerned(self, names: AbstractSet[str]) -> set[str]:
        """The groups that subscribe to one of these topics, by name or by a pattern."""
        groups: set[str] = set()
        for name in self._by_name.keys() & names:
            groups |= self._by_name[name]
        for regex, matches in self._matches.items():
            if not matches.isdisjoint(names):
                groups |= self._by_regex[regex]
        return groups

    def wanted(self, group_id: str) -> set[str]:
        """The topics that a group subscribes to: those that it names, existing or not, and those that it matches."""
        interest = self._interests[group_id]
        return set(interest.names).union(*(self._matches[regex] for regex in interest.regexes))

    def all_wanted(self) -> set[str]:
        """The topics that any group subscribes to."""
        return set(self._by_name).union(*self._matches.values())

    def told(self, news: Mapping[str, KnownTopics]) -> None:
        """Remember what groups have been told."""
        for group_id, told in news.items():
            interest = self._interests[group_id]
            self._interests[group_id] = Interest(interest.names, interest.regexes, told)


def _enter(index: defaultdict[str, set[str]], keys: Iterable[str], group_id: str) -> None:
    for key in keys:
        index[key].add(group_id)


def _leave(index: defaultdict[str, set[str]], keys: Iterable[str], group_id: str) -> None:
    for key in keys:
        groups = index[key]
        groups.discard(group_id)
        if not groups:
            del index[key]
