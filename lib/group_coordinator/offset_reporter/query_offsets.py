"""Offsets of a streaming query's Kafka sources, from Spark's progress, and their groups."""

from __future__ import annotations

import logging
import re
from ast import literal_eval
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple, TypeAlias

from kafka import TopicPartition
from msgspec import DecodeError, json
from pyspark.sql.streaming.listener import SourceProgress, StreamingQueryProgress

Offsets: TypeAlias = dict[TopicPartition, int]
"""Next offset to read by partition, as a consumer commits it."""

_KAFKA = re.compile(r"Kafka\w*\[(?P<strategy>\w+)\[(?P<topics>.*)\]\]", re.DOTALL)
"""Spark's description of a Kafka source: KafkaV2[Subscribe[orders, refunds]]."""


class KafkaSource(NamedTuple):
    """Kafka source of a query, at the end of a batch."""

    strategy: str
    """Subscribe, SubscribePattern or Assign."""
    topics: str
    """Topics, a pattern, or partitions such as orders-0, as Spark describes them."""
    offsets: Offsets
    """Empty until the source has read records."""

    def has(self, option: str) -> bool:
        """Return True if the value of subscribe, subscribePattern or assign defines this source."""
        if self.strategy == "SubscribePattern":
            return option.strip() == self.topics
        described = _listed(self.topics)
        return described == _listed(option) or (
            self.strategy == "Assign" and described == _assigned(option)
        )

    def __str__(self) -> str:
        return f"{self.strategy}[{self.topics}]"


def kafka_sources(progress: StreamingQueryProgress) -> Iterator[KafkaSource]:
    """Yield the query's Kafka sources; other sources are left out."""
    for source in progress.sources:
        described = _KAFKA.fullmatch(source.description)
        # A description that does not match is another kind of source, or a Spark that this package does not know.
        if described:
            yield KafkaSource(described["strategy"], described["topics"], _offsets(source))


def merge(offsets: Offsets, more: Offsets) -> None:
    """Add the offsets of another source; of two offsets of a partition the lower counts."""
    for partition, offset in more.items():
        # Records up to the lower offset were read by both sources.
        offsets[partition] = min(offset, offsets.get(partition, offset))


def _listed(names: str) -> set[str]:
    return {name.strip() for name in names.split(",")} - {""}


def _assigned(option: str) -> set[str] | None:
    try:
        topics = json.decode(option, type=dict[str, list[int]])
    except DecodeError:
        return None
    return {f"{topic}-{number}" for topic, numbers in topics.items() for number in numbers}


def _offsets(source: SourceProgress) -> Offsets:
    return {
        TopicPartition(topic, int(partition)): offset
        for topic, partitions in (_parsed(source.endOffset) or {}).items()
        for partition, offset in partitions.items()
    }


def _parsed(text: str) -> Any:
    # PySpark shows None as a word, and over Spark Connect the JSON as a Python literal.
    if text in {"null", "None"}:
        return None
    try:
        return json.decode(text)
    except DecodeError:
        return literal_eval(text)


PREFIX = "spark-"

Choice: TypeAlias = str | Mapping[str, str] | None
"""Group of a query; groups of its sources by their subscriptions; or None: the query is not reported."""

_log = logging.getLogger(__name__)


class GroupNames:
    """Group of each query: the user's choice, or a default name.

    A source in the choice that the query does not have is logged once.

    Args:
        chosen: the choices by query name, or by query id if the query has no name.
    """

    def __init__(self, chosen: Mapping[str, Choice]) -> None:
        self._chosen = chosen
        self._missing: set[tuple[str, str]] = set()

    def offsets(self, progress: StreamingQueryProgress) -> dict[str, Offsets]:
        """Offsets that a query has read, by group."""
        query = progress.name or str(progress.id)
        choice = self._chosen.get(query, f"{PREFIX}{query}")
        sources = [*kafka_sources(progress)]
        if isinstance(choice, Mapping):
            self._warn_of_missing(query, choice, sources)
        found: dict[str, Offsets] = {}
        for source in sources:
            group = _group_of(source, choice)
            # A source that has read nothing has no position to commit.
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
