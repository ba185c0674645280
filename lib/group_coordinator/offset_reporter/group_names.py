"""Which group a query's offsets belong to."""

from __future__ import annotations

import logging
from collections.abc import Mapping, Sequence
from typing import TypeAlias

from pyspark.sql.streaming.listener import StreamingQueryProgress

from group_coordinator.offset_reporter.query_offsets import (
    KafkaSource,
    Offsets,
    kafka_sources,
    merge,
)

PREFIX = "spark-"

Choice: TypeAlias = str | Mapping[str, str] | None
"""The group of a query; the group of each of its sources, by what it subscribes to; or None: the query is not reported."""

_log = logging.getLogger(__name__)


class GroupNames:
    """The group of each query: the user's choice, or a default name.

    A source in the choice that the query does not have is logged once.

    Args:
        chosen: the choices by query name, or by query id if the query has no name.
    """

    def __init__(self, chosen: Mapping[str, Choice]) -> None:
        self._chosen = chosen
        self._missing: set[tuple[str, str]] = set()

    def offsets(self, progress: StreamingQueryProgress) -> dict[str, Offsets]:
        """What a query has read, by group."""
        query = progress.name or str(progress.id)
        choice = self._chosen.get(query, f"{PREFIX}{query}")
        sources = [*kafka_sources(progress)]
        if isinstance(choice, Mapping):
            self._warn_of_missing(query, choice, sources)
        found: dict[str, Offsets] = {}
        for source in sources:
            group = _group_of(source, choice)
            if group is not None and source.offsets:
                merge(found.setdefault(group, {}), source.offsets)
        return found

    def _warn_of_missing(
        self, query: str, choice: Mapping[str, str], sources: Sequence[KafkaSource]
    ) -> None:
        for option in choice:
            is_new = (query, option) not in self._missing
            if is_new and not any(source.has(option) for source in sources):
                self._missing.add((query, option))
                described = ", ".join(map(str, sources)) or "none"
                _log.warning(
                    "query %r has no Kafka source %r; its Kafka sources: %s. In OffsetReporter's group_ids, give the value of a source's "
                    "option subscribe, subscribePattern or assign",
                    *(query, option, described),
                )


def _group_of(source: KafkaSource, choice: Choice) -> str | None:
    if not isinstance(choice, Mapping):
        return choice
    return next((group for option, group in choice.items() if source.has(option)), None)
