"""The cluster's topics as looks have found them, and what a look finds changed."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import NamedTuple, TypeAlias

from group_coordinator.core.model.topic import Topic

Topics: TypeAlias = dict[str, Topic]


class Difference(NamedTuple):
    """The names of topics that are new, that are not as they were, and that are gone."""

    came: set[str]
    changed: set[str]
    went: set[str]


class SeenTopics:
    """A topic that was there counts as gone when two looks in a row have missed it.

    One that has not changed stays the same object.
    """

    def __init__(self) -> None:
        self.topics: Topics = {}
        self._missed: set[str] = set()

    def take(self, asked: Collection[str] | None, found: Mapping[str, Topic]) -> Difference:
        """Take over the answer to a look that has asked for these topics; None: for all."""
        before = self.topics
        came = found.keys() - before.keys()
        changed = {
            name for name, topic in found.items() if name in before and before[name] != topic
        }
        missing = (before.keys() if asked is None else before.keys() & asked) - found.keys()
        went = missing & self._missed
        self._missed = (self._missed - found.keys() | missing) - went
        for name in came | changed:
            before[name] = found[name]
        for name in went:
            del before[name]
        return Difference(set(came), changed, went)

    def forget_all_but(self, names: Collection[str]) -> None:
        """Nobody wants to know of others."""
        self.topics = {name: topic for name, topic in self.topics.items() if name in names}
        self._missed &= self.topics.keys()
