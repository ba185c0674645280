"""Anything that the records of consumer groups can say."""

from __future__ import annotations

from collections.abc import Callable

from hypothesis import strategies as st
from hypothesis.strategies import SearchStrategy

from group_coordinator.core.assignors.spec import Assignment
from group_coordinator.core.model.classic_member import Protocol
from group_coordinator.core.model.consumer_member import (
    ClassicMetadata,
    CurrentAssignment,
    GroupEpoch,
    OwnedPartitions,
    ReconciliationState,
    ResolvedRegex,
    SubscriptionMetadata,
    TargetEpoch,
)
from group_coordinator.core.model.records import (
    ConfigRecord,
    ConsumerRecord,
    CurrentRecord,
    GroupEpochRecord,
    MemberRecord,
    PartitionMetadataTombstone,
    RegexRecord,
    TargetEpochRecord,
    TargetRecord,
)
from tests.unit.codecs.strategies import int32s, int64s, metadata, names, reasons, topic_ids

partition_numbers = st.integers(0, 100)
sorted_names = st.sets(names, max_size=3).map(lambda found: tuple(sorted(found)))


def in_order(found: dict[str, set[int]]) -> Assignment:
    return {topic_id: tuple(sorted(partitions)) for topic_id, partitions in sorted(found.items())}


def owned_in_order(found: dict[str, dict[int, int]]) -> OwnedPartitions:
    return {topic_id: dict(sorted(epochs.items())) for topic_id, epochs in sorted(found.items())}


assignments: SearchStrategy[Assignment] = st.dictionaries(
    topic_ids, st.sets(partition_numbers, min_size=1, max_size=3), max_size=3
).map(in_order)
owned: SearchStrategy[OwnedPartitions] = st.dictionaries(
    topic_ids, st.dictionaries(partition_numbers, int32s, min_size=1, max_size=3), max_size=3
).map(owned_in_order)
classic = st.builds(
    ClassicMetadata,
    int32s,
    st.lists(st.builds(Protocol, names, metadata), max_size=3).map(tuple),
)
subscriptions = st.builds(
    SubscriptionMetadata,
    group_instance_id=st.none() | names,
    rack_id=st.none() | names,
    client_id=names,
    client_host=names,
    topic_names=sorted_names,
    topic_regex=st.none() | names.filter(bool),
    rebalance_timeout_ms=int32s,
    server_assignor=st.none() | names,
    classic=st.none() | classic,
)
currents = st.builds(
    CurrentAssignment, int32s, int32s, st.sampled_from(ReconciliationState), owned, owned
)


def or_tombstone(value: SearchStrategy[object]) -> SearchStrategy[object]:
    return st.none() | value


def of_member(
    record: Callable[..., ConsumerRecord], value: SearchStrategy[object]
) -> SearchStrategy[ConsumerRecord]:
    return st.builds(record, names, or_tombstone(value), reasons)


consumer_records: SearchStrategy[ConsumerRecord] = st.one_of(
    st.builds(GroupEpochRecord, st.none() | st.builds(GroupEpoch, int32s, int64s), reasons),
    st.builds(PartitionMetadataTombstone, reasons),
    of_member(MemberRecord, subscriptions),
    st.builds(TargetEpochRecord, st.none() | st.builds(TargetEpoch, int32s, int64s), reasons),
    of_member(TargetRecord, assignments),
    of_member(CurrentRecord, currents),
    of_member(RegexRecord, st.builds(ResolvedRegex, sorted_names, int64s, int64s)),
)
config_records = st.builds(ConfigRecord, names, st.none() | names, reasons)
