"""The cluster's topics as looks have found them, and what a look finds changed."""

from __future__ import annotations

from collections.abc import Collection
from typing import NamedTuple, TypeAlias

from group_coordinator.clients.cluster.cluster_topics import Look
from group_coordinator.core.model.topic import Topic

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
