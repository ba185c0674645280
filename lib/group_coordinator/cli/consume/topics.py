"""The topics that a consumer subscribes to: one, or those whose names match; as the brokers know them."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping

from group_coordinator.clients.cluster.cluster import Cluster

INTERNAL = frozenset({"__consumer_offsets", "__share_group_state", "__transaction_state"})
"""Kafka's own, which no pattern matches (exclude.internal.topics)."""
_SOON_S = 1.0
"""How long a topic that does not exist yet is not looked for."""


class Topics:
    """Looks at the cluster now and then; a topic that does not exist is waited for, and never made.

    Args:
        cluster: asked.
        topic: the name; None: those that the pattern matches from end to end.
        include: the pattern.
        max_age_s: after so long it looks again.
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
        """By name; it grows, as members of the consumer protocol need it."""
        self.names: frozenset[str] = frozenset()

    def look(self) -> bool:
        """Ask again if it is time; returns whether there are other topics than before.

        Raises:
            ChannelError: the cluster does not answer, or does not let us in.
        """
        if self._clock() < self._due_s:
            return False
        found = self._cluster.topic_ids(None if self._topic is None else [self._topic])
        names = frozenset(filter(self._is_wanted, found))
        self.ids |= {name: found[name] for name in names}
        self._due_s = self._clock() + (self._max_age_s if names else min(_SOON_S, self._max_age_s))
        before, self.names = self.names, names
        return names != before

    def _is_wanted(self, name: str) -> bool:
        if self._include is None:
            return name == self._topic
        return name not in INTERNAL and self._include.fullmatch(name) is not None


class PartitionCounts(Mapping[str, int]):
    """How many partitions each topic has, asked when the leader of a classic group needs it: other members may read other topics."""

    def __init__(self, cluster: Cluster) -> None:
        self._cluster = cluster

    def __getitem__(self, topic: str) -> int:
        return self._cluster.partition_counts([topic])[topic]

    def __iter__(self) -> Iterator[str]:
        return iter(self._cluster.topic_ids())

    def __len__(self) -> int:
        return len(self._cluster.topic_ids())
