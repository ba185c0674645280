"""How far a streaming query has read its Kafka topics, as Spark's progress says it."""

from __future__ import annotations

import re
from ast import literal_eval
from collections.abc import Iterator
from typing import Any, NamedTuple, TypeAlias

from kafka import TopicPartition
from msgspec import DecodeError, json
from pyspark.sql.streaming.listener import SourceProgress, StreamingQueryProgress

Offsets: TypeAlias = dict[TopicPartition, int]
"""The next offset to read, by partition: what a consumer commits."""

_KAFKA = re.compile(r"Kafka\w*\[(?P<strategy>\w+)\[(?P<topics>.*)\]\]", re.DOTALL)
"""How Spark describes a Kafka source: KafkaV2[Subscribe[orders, refunds]]."""


class KafkaSource(NamedTuple):
    """One Kafka source of a query, at the end of a batch."""

    strategy: str
    """Subscribe, SubscribePattern or Assign."""
    topics: str
    """Topics, a pattern, or partitions such as orders-0, as Spark describes them."""
    offsets: Offsets
    """Empty until the source has read records."""

    def has(self, option: str) -> bool:
        """Whether the value of subscribe, subscribePattern or assign defines this source."""
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
        if described:
            yield KafkaSource(described["strategy"], described["topics"], _offsets(source))


def merge(offsets: Offsets, more: Offsets) -> None:
    """Add those of another source; of a partition that both read, what both are done with counts."""
    for partition, offset in more.items():
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
    """The JSON of the source; PySpark shows None as a word, and over Spark Connect the JSON as Python's."""
    if text in {"null", "None"}:
        return None
    try:
        return json.decode(text)
    except DecodeError:
        return literal_eval(text)
