"""Where the offsets of a group go in a reset: the scenarios of Kafka's kafka-consumer-groups, as data."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TypeAlias

from kafka import TopicPartition


@dataclass(frozen=True, slots=True)
class ToEarliest:
    """To the first record of each log."""


@dataclass(frozen=True, slots=True)
class ToLatest:
    """To the end of each log."""


@dataclass(frozen=True, slots=True)
class ToCurrent:
    """To where the group is; to the end of the log where it has committed nothing."""


@dataclass(frozen=True, slots=True)
class ToOffset:
    """To one offset in all partitions."""

    offset: int


@dataclass(frozen=True, slots=True)
class ShiftBy:
    """So many offsets on from where the group is, or back by a number below 0."""

    offsets: int


@dataclass(frozen=True, slots=True)
class ToTime:
    """To the first record with this timestamp or a later one; to the end of the log where there is none."""

    timestamp_ms: int


@dataclass(frozen=True, slots=True)
class ToOffsets:
    """To an offset for each partition, as a file or another group has them; it says itself which partitions these are."""

    offsets: Mapping[TopicPartition, int]


Scenario: TypeAlias = ToEarliest | ToLatest | ToCurrent | ToOffset | ShiftBy | ToTime | ToOffsets
