"""Listener for any Spark job: the Kafka offsets of its streaming queries, as committed offsets of a consumer group."""

from __future__ import annotations

from group_coordinator.offset_reporter.offset_reporter import OffsetReporter

__all__ = ["OffsetReporter"]
