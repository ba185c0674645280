"""Which group a query's offsets belong to."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TypeAlias

from pyspark.sql.streaming.listener import StreamingQueryProgress

from group_coordinator.spark.query_offsets import Offsets, kafka_sources, merge, without_spaces

PREFIX = "spark-"

Choice: TypeAlias = str | Mapping[str, str] | None
"""The group of a query; the group of each of its sources, by what it subscribes to; or None: the query is not reported."""


class GroupNames:
    """The groups that a user has chosen by query, and the names of the others.

    Args:
        chosen: by the query's name, or by its id if it has none.
    """

    def __init__(self, chosen: Mapping[str, Choice]) -> None:
        self._chosen = {query: _by_topics(choice) for query, choice in chosen.items()}

    def offsets(self, progress: StreamingQueryProgress) -> dict[str, Offsets]:
        """What a query has read, by group."""
        query = progress.name or str(progress.id)
        choice = self._chosen.get(query, f"{PREFIX}{query}")
        found: dict[str, Offsets] = {}
        for source in kafka_sources(progress):
            group = choice.get(source.topics) if isinstance(choice, Mapping) else choice
            if group is not None:
                merge(found.setdefault(group, {}), source.offsets)
        return found


def _by_topics(choice: Choice) -> Choice:
    if isinstance(choice, Mapping):
        return {without_spaces(topics): group for topics, group in choice.items()}
    return choice
