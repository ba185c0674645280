"""New offsets of a reset, from the cluster's offsets by the rules of Kafka's tool (clients/reset_plan.py)."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping
from contextlib import closing
from typing import NamedTuple, TypeAlias

from kafka import OffsetAndMetadata, OffsetSpec, TopicPartition
from kafka.admin import OffsetTimestamp

from group_coordinator.clients.cluster.cluster import Cluster
from group_coordinator.clients.cluster.connection import Connection
from group_coordinator.clients.errors import UnknownTopicOrPartitionError
from group_coordinator.clients.reset_plan import (
    Facts,
    Scenario,
    ShiftBy,
    ToEarliest,
    ToLatest,
    ToOffset,
    ToTime,
    plan_reset,
)

ResetSpec: TypeAlias = OffsetSpec | OffsetTimestamp | ShiftBy | int
"""OffsetSpec.EARLIEST or LATEST; the first record at or after a time in milliseconds; a shift; or an offset itself."""
ResetSpecs: TypeAlias = Mapping[TopicPartition, ResetSpec]
Committed: TypeAlias = Mapping[TopicPartition, OffsetAndMetadata]


class Positions(NamedTuple):
    """Offsets of the cluster for the partitions of a reset; partitions that do not exist are left out."""

    extents: Mapping[TopicPartition, range]
    """Offsets from the log start to the log end."""
    since: Mapping[TopicPartition, int]
    """First record of each partition since its spec's time; partitions without a record are left out."""


def positions(connection: Connection, specs: ResetSpecs) -> Positions:
    """Ask the brokers for the offsets.

    Raises:
        ChannelError: the cluster does not answer, or rejects the login.
    """
    # Partitions with the same time share a request.
    by_time = defaultdict(list)
    for partition, spec in specs.items():
        if isinstance(spec, OffsetTimestamp):
            by_time[int(spec)].append(partition)
    with closing(Cluster(connection)) as cluster:
        starts, ends = cluster.start_offsets(specs), cluster.end_offsets(specs)
        since = {
            partition: offset
            for time_ms, partitions in by_time.items()
            for partition, offset in cluster.offsets_since(partitions, time_ms).items()
        }
    # A partition may lose its leader between the two requests.
    both = starts.keys() & ends.keys()
    return Positions({one: range(starts[one], ends[one]) for one in both}, since)


def needs_committed(specs: ResetSpecs) -> list[TopicPartition]:
    """Partitions whose new offsets depend on the committed offsets."""
    return [partition for partition, spec in specs.items() if isinstance(spec, ShiftBy)]


def targets(specs: ResetSpecs, known: Positions, committed: Committed) -> dict[TopicPartition, int]:
    """New offset of each partition, never before its first record, never beyond its end.

    Raises:
        UnknownTopicOrPartitionError: the cluster has no such partition, or it has no leader.
        NothingToShiftError: a partition without an offset should be shifted.
        ValueError: an OffsetSpec is neither EARLIEST nor LATEST.
    """
    for partition in specs:
        if partition not in known.extents:
            name = f"{partition.topic}-{partition.partition}"
            raise UnknownTopicOrPartitionError(
                f"Partition {name} does not exist, or has no leader."
            )
    facts = Facts(
        {partition: int(offset.offset) for partition, offset in committed.items()},
        {partition: extent.start for partition, extent in known.extents.items()},
        {partition: extent.stop for partition, extent in known.extents.items()},
        known.since,
    )
    return {
        partition: plan_reset(_scenario(spec), [partition], facts).offsets[partition]
        for partition, spec in specs.items()
    }


def _scenario(spec: ResetSpec) -> Scenario:
    match spec:
        case ShiftBy():
            return spec
        case OffsetTimestamp():
            return ToTime(int(spec))
        # The type is checked first, as an offset of -1 equals OffsetSpec.LATEST.
        case OffsetSpec():
            return _end_of_log(spec)
        case _:
            return ToOffset(spec)


def _end_of_log(spec: OffsetSpec) -> Scenario:
    if spec is OffsetSpec.EARLIEST:
        return ToEarliest()
    if spec is OffsetSpec.LATEST:
        return ToLatest()
    raise ValueError(f"a reset to {spec.name} is unknown")
