"""Where a reset puts a group's offsets: asked of the cluster, and kept within each partition as Kafka's tool keeps it."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping
from contextlib import closing
from dataclasses import dataclass
from typing import NamedTuple, TypeAlias

from kafka import OffsetAndMetadata, OffsetSpec, TopicPartition
from kafka.admin import OffsetTimestamp

from group_coordinator.clients.cluster.cluster import Cluster
from group_coordinator.clients.cluster.connection import Connection
from group_coordinator.clients.errors import ClientError, UnknownTopicOrPartitionError


@dataclass(frozen=True, slots=True)
class ShiftBy:
    """So many offsets from where the group is, back if negative."""

    offsets: int


ResetSpec: TypeAlias = OffsetSpec | OffsetTimestamp | ShiftBy | int
"""OffsetSpec.EARLIEST or LATEST; the first record at or after a time in milliseconds; a shift; or an offset itself."""
ResetSpecs: TypeAlias = Mapping[TopicPartition, ResetSpec]
Committed: TypeAlias = Mapping[TopicPartition, OffsetAndMetadata]


class NothingCommittedError(ClientError):
    """A shift needs an offset to begin with."""


class Positions(NamedTuple):
    """What the cluster knows of the partitions of a reset; partitions that it does not have are left out."""

    extents: Mapping[TopicPartition, range]
    """The offsets from the first record that is there to the end of the log."""
    since: Mapping[TopicPartition, int]
    """The first record of each partition since its spec's time; those without one are left out."""


def positions(connection: Connection, specs: ResetSpecs) -> Positions:
    """Ask the brokers.

    Raises:
        ChannelError: the cluster does not answer, or does not let us in.
    """
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
    both = starts.keys() & ends.keys()
    return Positions({one: range(starts[one], ends[one]) for one in both}, since)


def needs_committed(specs: ResetSpecs) -> list[TopicPartition]:
    """The partitions whose new offset follows from the one that is committed."""
    return [partition for partition, spec in specs.items() if isinstance(spec, ShiftBy)]


def targets(specs: ResetSpecs, known: Positions, committed: Committed) -> dict[TopicPartition, int]:
    """The new offset of each partition: never before its first record, never beyond its end.

    Raises:
        UnknownTopicOrPartitionError: the cluster has no such partition, or nobody leads it.
        NothingCommittedError: a partition without an offset should be shifted.
        ValueError: an OffsetSpec is neither EARLIEST nor LATEST.
    """
    return {
        partition: _target(partition, spec, known, committed) for partition, spec in specs.items()
    }


def _target(
    partition: TopicPartition, spec: ResetSpec, known: Positions, committed: Committed
) -> int:
    extent = known.extents.get(partition)
    if extent is None:
        raise UnknownTopicOrPartitionError(
            f"Partition {_name(partition)} does not exist, or has no leader."
        )
    match spec:
        case ShiftBy(offsets):
            wanted = _committed(partition, committed) + offsets
        case OffsetTimestamp():
            # A time after the last record means the end, as in Kafka's tool.
            wanted = known.since.get(partition, extent.stop)
        # By type first: an offset of -1 equals OffsetSpec.LATEST.
        case OffsetSpec():
            wanted = _end_of_log(spec, extent)
        case _:
            wanted = spec
    return max(extent.start, min(wanted, extent.stop))


def _end_of_log(spec: OffsetSpec, extent: range) -> int:
    if spec is OffsetSpec.EARLIEST:
        return extent.start
    if spec is OffsetSpec.LATEST:
        return extent.stop
    raise ValueError(f"a reset to {spec.name} is not known")


def _committed(partition: TopicPartition, committed: Committed) -> int:
    if partition not in committed:
        raise NothingCommittedError(
            f"Cannot shift offset for partition {_name(partition)} since there is no current committed offset"
        )
    return int(committed[partition].offset)


def _name(partition: TopicPartition) -> str:
    return f"{partition.topic}-{partition.partition}"
