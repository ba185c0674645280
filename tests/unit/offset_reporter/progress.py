"""Progress of streaming queries, as PySpark gives it to listeners."""

from __future__ import annotations

from typing import Any
from uuid import UUID

from kafka import TopicPartition
from pyspark.sql.streaming.listener import SourceProgress, StreamingQueryProgress

from group_coordinator.offset_reporter.outbox import Offsets

QUERY, RUN = UUID(int=1), UUID(int=2)
ORDERS = '{"orders":{"1":7,"0":5}}'
DESCRIBED = "KafkaV2[Subscribe[orders]]"


def source(end: str, description: str = DESCRIBED) -> SourceProgress:
    """A source at the end of a batch, as py4j shows it."""
    return SourceProgress(description, "None", end, "None", 0, 0.0, 0.0, {})


def progress(*sources: SourceProgress, name: str | None = "billing") -> StreamingQueryProgress:
    """What a query has read."""
    nothing: Any = None
    return StreamingQueryProgress(
        *(QUERY, RUN, name, "2026-01-01T00:00:00.000Z", 3, 20, {}, {}, []),
        *([*sources], nothing, 0, 0.0, 0.0, {}),
    )


def offsets(topic: str, *ends: int) -> Offsets:
    """The ends of partitions 0 and so on."""
    return {TopicPartition(topic, number): end for number, end in enumerate(ends)}
