"""Operations of administrators on the offsets of groups: list, alter, reset, delete.

A reset takes its offsets from the cluster, by the rules of Kafka's tool (clients/reset_plan.py).
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Mapping
from contextlib import closing
from functools import partial
from typing import NamedTuple, TypeAlias

from kafka import OffsetAndMetadata, OffsetSpec, TopicPartition
from kafka.admin import OffsetTimestamp

from group_coordinator.clients import offset_messages
from group_coordinator.clients.admin.operation import AdminBase, ClientMethod
from group_coordinator.clients.cluster.cluster import Cluster
from group_coordinator.clients.cluster.connection import Connection
from group_coordinator.clients.errors import UnknownTopicOrPartitionError
from group_coordinator.clients.offset_messages import MemberIdentity, distinct_names
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
from group_coordinator.clients.results import OffsetResets, PartitionResults

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
    """Ask the brokers for the offsets. Raises ChannelError: the cluster does not answer, or rejects the login."""
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
        case OffsetSpec() if spec is OffsetSpec.EARLIEST:
            return ToEarliest()
        case OffsetSpec() if spec is OffsetSpec.LATEST:
            return ToLatest()
        case OffsetSpec():
            raise ValueError(f"a reset to {spec.name} is unknown")
        case _:
            return ToOffset(spec)


class OffsetOperations(AdminBase):
    """Operations on offsets for both admin clients."""

    @ClientMethod
    async def list_consumer_group_offsets(
        self,
        group_id: str,
        partitions: Collection[TopicPartition] | None = None,
        *,
        require_stable: bool = False,
    ) -> dict[TopicPartition, OffsetAndMetadata]:
        """Committed offsets of the given partitions, or of all; a partition without an offset is left out.

        >>> from kafka import TopicPartition
        >>> admin.list_consumer_group_offsets("reports")[TopicPartition("orders", 0)].offset
        42

        `require_stable` makes an open transaction of a partition an error.

        Raises:
            UnstableOffsetCommitError: of a partition, where stable offsets are required.
            CoordinatorResponseError: the group has another error.
            ChannelError: there is no response.
        """
        request = offset_messages.fetch_offsets(group_id, partitions, require_stable=require_stable)
        return offset_messages.fetched_offsets(await self._answer(request))

    @ClientMethod
    async def list_offsets_of_groups(
        self, group_ids: Collection[str]
    ) -> dict[str, dict[TopicPartition, OffsetAndMetadata | None]]:
        """Fetch all committed offsets of several groups at once. None: an offset below 0, which Kafka's clients ignore.

        >>> offsets = admin.list_offsets_of_groups(["reports", "unknown"])
        >>> len(offsets["reports"]), offsets["unknown"]
        (2, {})

        Raises:
            CoordinatorResponseError: a group has an error.
            ChannelError: there is no response for a group.
        """
        asked = {
            # A group that is named twice is asked about once.
            group: offset_messages.fetch_offsets(group, None)
            for group in distinct_names(group_ids)
        }
        return {
            group: offset_messages.fetched_partitions(body)
            for group, body in (await self._answers(asked)).items()
        }

    @ClientMethod
    async def alter_consumer_group_offsets(
        self, group_id: str, offsets: offset_messages.Offsets
    ) -> PartitionResults:
        """Commit offsets for a group that is Empty or does not exist yet, with a result for each partition.

        >>> from kafka import TopicPartition
        >>> orders = TopicPartition("orders", 0)
        >>> admin.alter_consumer_group_offsets("reports", {orders: 50}).partition_result(orders)
        >>> admin.list_consumer_group_offsets("reports", [orders])[orders].offset
        50
        >>> admin.alter_consumer_group_offsets("billing", {orders: 50}).all()
        Traceback (most recent call last):
        group_coordinator.clients.errors.UnknownMemberIdError: The coordinator is not aware of this member.

        Each offset is a number, or an OffsetAndMetadata.

        Raises:
            ChannelError: there is no response.
        """
        request = offset_messages.commit_offsets(MemberIdentity(group_id), offsets)
        return offset_messages.partition_results(await self._answer(request), offsets)

    @ClientMethod
    async def reset_consumer_group_offsets(self, group_id: str, specs: ResetSpecs) -> OffsetResets:
        """Commit offsets by a rule for each partition, within its log, with a result for each partition.

        >>> from kafka import OffsetSpec, TopicPartition
        >>> from kafka.admin import OffsetTimestamp
        >>> from group_coordinator.clients import ShiftBy
        >>> orders, more_orders = TopicPartition("orders", 0), TopicPartition("orders", 1)
        >>> reset = admin.reset_consumer_group_offsets(
        ...     "reports", {orders: OffsetSpec.EARLIEST, more_orders: ShiftBy(-5)}
        ... )
        >>> reset.all()
        >>> reset.offsets[orders], reset.offsets[more_orders]
        (10, 12)
        >>> noon = OffsetTimestamp(1_700_000_000_000)
        >>> admin.reset_consumer_group_offsets("reports", {orders: noon}).offsets[orders]
        60

        An offset before the first record becomes that record's, as in Kafka's tool. An offset beyond the end becomes the end, and so does a
        time after the last record. No offset is changed if a partition cannot be reset.

        The group is Empty, or does not exist yet. `specs` has for each partition OffsetSpec.EARLIEST, OffsetSpec.LATEST, OffsetTimestamp(milliseconds),
        ShiftBy(offsets), or an offset.

        Raises:
            UnknownTopicOrPartitionError: the cluster has no such partition, or it has no leader.
            NothingToShiftError: a partition without an offset should be shifted.
            ChannelError: the cluster or the coordinator does not answer.
        """
        committed: Committed = {}
        shifted = [partition for partition, spec in specs.items() if isinstance(spec, ShiftBy)]
        # Only a shift depends on the committed offsets.
        if shifted:
            request = offset_messages.fetch_offsets(group_id, shifted)
            committed = offset_messages.fetched_offsets(await self._answer(request))
        # In a thread, as kafka-python blocks; and before the commit, so that a missing partition changes no offset.
        known = await self._aside(partial(positions, self._connection, specs))
        offsets = targets(specs, known, committed)
        results = await self._commit_reset(group_id, offsets)
        return OffsetResets(results.errors, results.group_error, offsets)

    @ClientMethod
    async def delete_consumer_group_offsets(
        self, group_id: str, partitions: Collection[TopicPartition]
    ) -> PartitionResults:
        """Delete committed offsets of topics that the group does not read (KIP-496), with a result for each partition.

        >>> from kafka import TopicPartition
        >>> orders = TopicPartition("orders", 0)
        >>> admin.delete_consumer_group_offsets("reports", [orders]).partition_result(orders)
        >>> admin.list_consumer_group_offsets("reports", [orders])
        {}
        >>> admin.delete_consumer_group_offsets("billing", [orders]).partition_result(orders)
        Traceback (most recent call last):
        group_coordinator.clients.errors.GroupSubscribedToTopicError: Deleting offsets of a topic is forbidden while ...

        Raises:
            ChannelError: there is no response.
        """
        wanted = list(dict.fromkeys(partitions))
        request = offset_messages.delete_offsets(group_id, wanted)
        return offset_messages.partition_results(await self._answer(request), wanted)

    @ClientMethod
    async def commit_reset(
        self, group_id: str, offsets: offset_messages.Offsets
    ) -> PartitionResults:
        """Commit the offsets of a planned reset. The log and the view `audit` have the reset as the reason.

        >>> from kafka import TopicPartition
        >>> orders = TopicPartition("orders", 0)
        >>> admin.commit_reset("reports", {orders: 40}).partition_result(orders)

        Each offset is a number, or an OffsetAndMetadata.

        Raises:
            ChannelError: there is no response.
        """
        return await self._commit_reset(group_id, offsets)

    @ClientMethod
    async def commit_restore(
        self, group_id: str, offsets: offset_messages.Offsets
    ) -> PartitionResults:
        """Commit offsets as they were at an earlier time. The log has the reason `offset-restored`, the view `audit` a reset.

        >>> from kafka import TopicPartition
        >>> orders = TopicPartition("orders", 0)
        >>> admin.commit_restore("reports", {orders: 50}).partition_result(orders)

        Each offset is a number, or an OffsetAndMetadata.

        Raises:
            ChannelError: there is no response.
        """
        request = offset_messages.restore_offsets(group_id, offsets)
        return offset_messages.partition_results(await self._answer(request), offsets)

    async def _commit_reset(
        self, group_id: str, offsets: offset_messages.Offsets
    ) -> PartitionResults:
        request = offset_messages.reset_offsets(group_id, offsets)
        return offset_messages.partition_results(await self._answer(request), offsets)
