"""Reset of committed offsets: its scenarios, and the new offset of each partition by the rules of Kafka's tool.

Rules: OffsetsUtils of Kafka's tools 4.3.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from typing import NamedTuple, TypeAlias, assert_never

from kafka import TopicPartition

from group_coordinator.clients.errors import ClientError, NothingToShiftError


@dataclass(frozen=True, slots=True)
class ToEarliest:
    """Reset to the first record of each log."""


@dataclass(frozen=True, slots=True)
class ToLatest:
    """Reset to the end of each log."""


@dataclass(frozen=True, slots=True)
class ToCurrent:
    """Reset to the committed offset, or to the end of the log without a commit."""


@dataclass(frozen=True, slots=True)
class ToOffset:
    """Reset to the same offset in all partitions."""

    offset: int


@dataclass(frozen=True, slots=True)
class ShiftBy:
    """Shift of the committed offset forward, or back by a negative number."""

    offsets: int


@dataclass(frozen=True, slots=True)
class ToTime:
    """Reset to the first record with this or a later timestamp, or to the end of the log without such a record."""

    timestamp_ms: int


@dataclass(frozen=True, slots=True)
class ToOffsets:
    """Reset to an offset for each partition, as in a file or in another group."""

    offsets: Mapping[TopicPartition, int]


Scenario: TypeAlias = ToEarliest | ToLatest | ToCurrent | ToOffset | ShiftBy | ToTime | ToOffsets


Numbers = Mapping[TopicPartition, int]


class NoCurrentOffsetError(ClientError):
    """--to-current cannot keep a committed offset below 0."""


@dataclass(frozen=True, slots=True)
class Facts:
    """Offsets of the partitions of a reset, as far as the scenario needs them."""

    committed: Mapping[TopicPartition, int | None] = field(default_factory=dict)
    """None: a committed offset below 0. Brokers accept such an offset, and clients ignore it."""
    starts: Numbers = field(default_factory=dict)
    ends: Numbers = field(default_factory=dict)
    by_time: Numbers = field(default_factory=dict)
    """Offset of the first record since a time; partitions without such a record are left out."""


class OutOfLog(NamedTuple):
    """Requested offset outside the log, and the nearest offset, which replaces it."""

    partition: TopicPartition
    asked: int
    nearest: int


class ResetPlan(NamedTuple):
    """New offset of each partition, in the order of topics and partitions, and warnings."""

    offsets: dict[TopicPartition, int]
    out_of_log: tuple[OutOfLog, ...] = ()
    without_later_record: tuple[TopicPartition, ...] = ()


def plan_reset(
    scenario: Scenario, partitions: Collection[TopicPartition], facts: Facts
) -> ResetPlan:
    """Compute the new offsets of these partitions.

    Raises NothingToShiftError: ShiftBy, and a partition has no committed offset; NoCurrentOffsetError: ToCurrent, and it is below 0.
    """
    wanted = sorted(partitions)
    match scenario:
        case ToEarliest():
            plan = ResetPlan({one: facts.starts[one] for one in wanted})
        case ToLatest():
            plan = ResetPlan({one: facts.ends[one] for one in wanted})
        case ToCurrent():
            plan = ResetPlan({one: _current(one, facts) for one in wanted})
        case ToTime():
            plan = _by_time(wanted, facts)
        case ToOffset(offset):
            plan = _within_log(dict.fromkeys(wanted, offset), facts)
        case ShiftBy(offsets):
            plan = _within_log({one: _committed(one, facts) + offsets for one in wanted}, facts)
        case ToOffsets(offsets):
            plan = _within_log({one: offsets[one] for one in wanted}, facts)
        case _:
            assert_never(scenario)
    return plan


def _current(partition: TopicPartition, facts: Facts) -> int:
    # A committed offset stays as it is, even outside the log.
    # None and a missing entry differ: see Facts.
    committed = facts.committed.get(partition, facts.ends[partition])
    if committed is None:
        raise NoCurrentOffsetError(
            f"Expected a valid current offset for topic partition: {partition.topic}-{partition.partition}"
        )
    return committed


def _committed(partition: TopicPartition, facts: Facts) -> int:
    committed = facts.committed.get(partition)
    if committed is None:
        raise NothingToShiftError(
            f"Cannot shift offset for partition {partition.topic}-{partition.partition} since there is no current "
            "committed offset"
        )
    return committed


def _by_time(wanted: Collection[TopicPartition], facts: Facts) -> ResetPlan:
    return ResetPlan(
        {one: facts.by_time.get(one, facts.ends[one]) for one in wanted},
        without_later_record=tuple(one for one in wanted if one not in facts.by_time),
    )


def _within_log(asked: Numbers, facts: Facts) -> ResetPlan:
    # As in Kafka's tool, an offset outside the log becomes the nearest offset.
    nearest = {
        one: max(facts.starts[one], min(offset, facts.ends[one])) for one, offset in asked.items()
    }
    moved = [
        OutOfLog(one, offset, nearest[one])
        for one, offset in asked.items()
        if offset != nearest[one]
    ]
    return ResetPlan(nearest, tuple(moved))
