"""Replay of consumer groups' records: what the log of Kafka, also a compacted one, makes of a group."""

from __future__ import annotations

from dataclasses import replace

import pytest

from group_coordinator.core.assignors.spec import SubscriptionType
from group_coordinator.core.model.classic_group import ClassicGroup
from group_coordinator.core.model.consumer_group import ConsumerGroup
from group_coordinator.core.model.consumer_member import (
    NO_METADATA,
    CurrentAssignment,
    GroupEpoch,
    ReconciliationState,
    ResolvedRegex,
    TargetEpoch,
)
from group_coordinator.core.model.errors import IllegalTransitionError
from group_coordinator.core.model.group import Group
from group_coordinator.core.model.records import (
    CurrentRecord,
    GroupEpochRecord,
    MemberRecord,
    PartitionMetadataTombstone,
    Reason,
    Record,
    RegexRecord,
    TargetEpochRecord,
    TargetRecord,
)
from group_coordinator.core.replay import replay
from tests.unit.core.consumer_groups import ORD, STABLE

M = Reason.MIRRORED
WISH = NO_METADATA.replace(topic_names=("orders",), topic_regex="o.*", rebalance_timeout_ms=60_000)
HOLDS = CurrentAssignment(3, 2, STABLE, {ORD: {0: 3}}, {ORD: {1: 2}})
FULL: list[Record] = [
    MemberRecord("m1", WISH, M),
    GroupEpochRecord(GroupEpoch(3, 17), M),
    TargetRecord("m1", {ORD: (0,)}, M),
    TargetEpochRecord(TargetEpoch(3, 900), M),
    CurrentRecord("m1", HOLDS, M),
    RegexRecord("o.*", ResolvedRegex(("orders",), 1, 800), M),
]
END: list[Record] = [
    CurrentRecord("m1", None, M),
    TargetRecord("m1", None, M),
    TargetEpochRecord(None, M),
    MemberRecord("m1", None, M),
    RegexRecord("o.*", None, M),
    PartitionMetadataTombstone(M),
    GroupEpochRecord(None, M),
]


def replayed(*records: Record, group: Group | None = None) -> Group:
    group = group or Group("g")
    replay(group, records, 1_000)
    return group


def test_records_make_the_group() -> None:
    group = replayed(*FULL).consumer

    assert group is not None
    assert (group.epoch, group.metadata_hash) == (3, 17)
    assert (group.assignment_epoch, group.assignment_timestamp_ms) == (3, 900)
    assert (group.members["m1"].metadata, group.members["m1"].current) == (WISH, HOLDS)
    assert group.targets == {"m1": {ORD: (0,)}}
    assert [group.owner_of(ORD, number) for number in range(3)] == ["m1", "m1", None]
    assert group.is_subscribed_to("orders")
    assert not group.is_subscribed_to("bills")


def without_former_type(group: Group) -> ConsumerGroup:
    """What Kafka remembers of the members' subscriptions depends on the order of the records."""
    assert group.consumer is not None
    return replace(group.consumer, former_subscription_type=None)


@pytest.mark.parametrize("first", range(len(FULL)))
def test_any_record_may_be_the_first(first: int) -> None:
    turned = FULL[first:] + FULL[:first]

    assert without_former_type(replayed(*turned)) == without_former_type(replayed(*FULL))


def test_tombstones_take_it_apart() -> None:
    assert replayed(*FULL, *END).membership is None


@pytest.mark.parametrize("group", [Group("g"), Group("g", ClassicGroup(protocol_type="consumer"))])
def test_tombstones_of_what_is_not_there_are_passed_over(group: Group) -> None:
    before = group.membership

    assert replayed(*END, group=group).membership is before


def test_tombstones_of_unknown_members_are_passed_over() -> None:
    gone = [CurrentRecord("m9", None, M), TargetRecord("m9", None, M), MemberRecord("m9", None, M)]

    assert replayed(*FULL, *gone).membership == replayed(*FULL).membership


def test_a_partition_stays_with_the_one_who_got_it_later() -> None:
    """A compacted log may hold what m2 got before what m1 lost."""
    got = CurrentAssignment(4, 3, STABLE, {ORD: {1: 4}}, {})
    lost = CurrentAssignment(4, 3, STABLE, {ORD: {0: 3}}, {})

    group = replayed(*FULL, CurrentRecord("m2", got, M), CurrentRecord("m1", lost, M)).consumer

    assert group is not None
    assert [group.owner_of(ORD, number) for number in range(3)] == ["m1", "m2", None]


def test_a_group_that_only_stores_offsets_becomes_one_of_consumers() -> None:
    group = Group("g", ClassicGroup())

    assert replayed(GroupEpochRecord(GroupEpoch(1), M), group=group).consumer is not None


def test_a_classic_group_with_members_does_not() -> None:
    group = Group("g", ClassicGroup(protocol_type="consumer"))

    with pytest.raises(IllegalTransitionError, match="group 'g' is a classic one"):
        replayed(MemberRecord("m1", WISH, M), group=group)


def test_tombstones_of_a_member_free_its_partitions() -> None:
    group = replayed(*FULL, CurrentRecord("m1", None, M), MemberRecord("m1", None, M)).consumer

    assert group is not None
    assert not group.members
    assert not group.owners
    assert not group.topic_subscribers


def test_an_unknown_state_is_kept() -> None:
    unknown = HOLDS.replace(state=ReconciliationState.UNKNOWN)
    group = replayed(CurrentRecord("m1", unknown, M)).consumer

    assert group is not None
    assert group.members["m1"].current.state is ReconciliationState.UNKNOWN


def test_the_kind_of_subscription_follows_a_pattern_only_with_the_next_member() -> None:
    """ConsumerGroup.updateResolvedRegularExpression leaves subscriptionType alone."""
    wish = WISH.replace(topic_names=())
    left = ResolvedRegex(("orders", "audit"), 2, 900)
    found = [RegexRecord("o.*", ResolvedRegex(("orders",), 1, 800), M), RegexRecord(".*", left, M)]

    group = replayed(MemberRecord("m1", wish, M), MemberRecord("m2", wish, M), *found)
    kind = group.consumer and group.consumer.subscription_type
    replayed(MemberRecord("m2", wish, M), group=group)

    assert kind is SubscriptionType.HOMOGENEOUS
    assert group.consumer
    assert group.consumer.subscription_type is SubscriptionType.HETEROGENEOUS


def test_a_removed_group_leaves_no_version_of_its_topics() -> None:
    group = Group("g")
    resolved = RegexRecord("o.*", ResolvedRegex(("orders",), 7, 1_000), Reason.TOPICS_RESOLVED)

    replay(group, [resolved], 1_000)
    assert group.topics_version == 7
    replay(group, [GroupEpochRecord(None, Reason.GROUP_EXPIRED)], 2_000)

    assert group == Group("g")
