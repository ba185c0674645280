"""What the group APIs must know of the cluster's topics."""

from __future__ import annotations

from collections.abc import Collection
from typing import Protocol

from group_coordinator.core.model.topic import Topic


class KnownTopics(Protocol):
    """The cluster's topics as the gateway saw them last."""

    def name_of(self, topic_id: str) -> str | None:
        """None: there is no topic with this id."""

    def id_of(self, name: str) -> str | None:
        """None: there is no topic of this name."""

    def partition_count(self, name: str) -> int:
        """0: there is no topic of this name."""

    def topic(self, name: str) -> Topic | None:
        """All that groups must know of it; None: there is no topic of this name."""

    async def look_for(self, names: Collection[str] = (), topic_ids: Collection[str] = ()) -> None:
        """Ask the brokers about topics that may have been made, or have grown, since; without an answer all stays as it was."""
