"""How many partitions a topic has now."""

from __future__ import annotations

import time
from collections.abc import Callable, Collection, Mapping
from typing import TypeAlias

from group_coordinator.clients.channel_errors import ChannelError
from group_coordinator.core.model.topic import Topic

Read: TypeAlias = Callable[[Collection[str]], Mapping[str, Topic]]

_ASKED_AGAIN_S = 1.0


class PartitionCount:
    """Asks the cluster when it is asked itself, at most once a second.

    Args:
        read: gives those of the named topics that exist, see ClusterTopics.
        topic: the topic's name.
        clock: seconds that never go back.

    Raises:
        ChannelError: the cluster does not answer.
    """

    def __init__(self, read: Read, topic: str, clock: Callable[[], float] = time.monotonic) -> None:
        self._read = read
        self._topic = topic
        self._clock = clock
        self._count = self._asked()

    def now(self) -> int:
        """The number of partitions; 0 if there is no such topic. While the cluster is away, the last one that was seen."""
        if self._clock() < self._asked_s + _ASKED_AGAIN_S:
            return self._count
        try:
            self._count = self._asked()
        except ChannelError:
            # Whoever is about to write to the topic will meet the outage, and knows what to do about it.
            return self._count
        return self._count

    def _asked(self) -> int:
        found = self._read([self._topic])
        self._asked_s = self._clock()
        return found[self._topic].num_partitions if self._topic in found else 0
