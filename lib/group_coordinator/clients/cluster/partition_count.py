"""How many partitions a topic has now."""

from __future__ import annotations

import time
from collections.abc import Callable, Collection, Mapping
from contextlib import suppress
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
    """

    def __init__(self, read: Read, topic: str, clock: Callable[[], float] = time.monotonic) -> None:
        self._read = read
        self._topic = topic
        self._clock = clock
        self._count: int | None = None
        self._due_s = clock()

    def now(self) -> int:
        """The number of partitions; 0 if there is no such topic. While the cluster is away, the last one that was seen.

        Raises:
            ChannelError: the cluster does not answer, and never did.
        """
        if self._count is None:
            self._count = self._asked()
        elif self._clock() >= self._due_s:
            # Whoever is about to write to the topic will meet an outage, and knows what to do about it.
            with suppress(ChannelError):
                self._count = self._asked()
        return self._count

    def _asked(self) -> int:
        found = self._read([self._topic])
        self._due_s = self._clock() + _ASKED_AGAIN_S
        return found[self._topic].num_partitions if self._topic in found else 0
