"""Topics of a subscription: a topic, or all topics with matching names, from the brokers."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping

from group_coordinator.clients.cluster.cluster import Cluster

INTERNAL = frozenset({"__consumer_offsets", "__share_group_state", "__transaction_state"})
"""Kafka's internal topics, which no pattern matches (exclude.internal.topics)."""
_SOON_S = 1.0
"""Interval of requests for a topic that does not exist yet."""


class Topics:
    """Topics of the cluster, read at intervals; a missing topic is awaited, and never created.

    Args:
        cluster: source of the topics.
        topic: the name; None: all topics whose whole name matches the pattern.
        include: the pattern.
        max_age_s: interval of the requests.
        clock: seconds, never going back.
    """

    def __init__(
        self,
        cluster: Cluster,
        topic: str | None,
        include: re.Pattern[str] | None,
        max_age_s: float,
        clock: Callable[[], float],
    ) -> None:
        self._cluster = cluster
        self._topic = topic
        self._include = include
        self._max_age_s = max_age_s
        self._clock = clock
        self._due_s = clock()
        self.ids: dict[str, str] = {}
        """Topic ids by name; entries are only added, as members of the consumer protocol need them."""
        self.names: frozenset[str] = frozenset()

    def look(self) -> bool:
        """Ask again after the interval; return True if the topics have changed.

        Raises:
            ChannelError: the cluster does not answer, or rejects the login.
        """
        if self._clock() < self._due_s:
            return False
        found = self._cluster.topic_ids(None if self._topic is None else [self._topic])
        names = frozenset(filter(self._is_wanted, found))
        # The member holds the same dict.
        self.ids |= {name: found[name] for name in names}
        self._due_s = self._clock() + (self._max_age_s if names else min(_SOON_S, self._max_age_s))
        before, self.names = self.names, names
        return names != before

    def _is_wanted(self, name: str) -> bool:
        if self._include is None:
            return name == self._topic
        return name not in INTERNAL and self._include.fullmatch(name) is not None


class PartitionCounts(Mapping[str, int]):
    """Partition counts for the leader of a classic group, read at each use: other members may read other topics."""

    def __init__(self, cluster: Cluster) -> None:
        self._cluster = cluster

    def __getitem__(self, topic: str) -> int:
        return self._cluster.partition_counts([topic])[topic]

    def __iter__(self) -> Iterator[str]:
        return iter(self._cluster.topic_ids())

    def __len__(self) -> int:
        return len(self._cluster.topic_ids())
