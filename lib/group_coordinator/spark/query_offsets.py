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

_KAFKA = re.compile(r"Kafka\w*\[\w+\[(?P<topics>.*)\]\]")
"""How Spark describes a Kafka source: KafkaV2[Subscribe[orders, refunds]]."""


class KafkaSource(NamedTuple):
    """One Kafka source of a query, at the end of a batch."""

    topics: str
    """The value of its option subscribe, subscribePattern or assign, without spaces."""
    offsets: Offsets


def kafka_sources(progress: StreamingQueryProgress) -> Iterator[KafkaSource]:
    """The query's Kafka sources that have read something yet; other sources are left out."""
    for source in progress.sources:
        described = _KAFKA.fullmatch(source.description)
        if described and (offsets := _offsets(source)):
            yield KafkaSource(without_spaces(described["topics"]), offsets)


def without_spaces(topics: str) -> str:
    """Spark puts spaces between topics where who names them need not."""
    return re.sub(r"\s", "", topics)


def merge(offsets: Offsets, more: Offsets) -> None:
    """Add those of another source; of a partition that both read, what both are done with counts."""
    for partition, offset in more.items():
        offsets[partition] = min(offset, offsets.get(partition, offset))


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
