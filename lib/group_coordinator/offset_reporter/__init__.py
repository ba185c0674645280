"""For anybody's Spark jobs: how far a streaming query has read Kafka, as the offsets of a consumer group."""

from __future__ import annotations

from group_coordinator.offset_reporter.offset_reporter import OffsetReporter

__all__ = ["OffsetReporter"]
