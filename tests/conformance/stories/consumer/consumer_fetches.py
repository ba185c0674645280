"""Fetches of a consumer group's offsets, and descriptions of all kinds of groups."""

from __future__ import annotations

from tests.conformance.language.consumer_script import ConsumerScript
from tests.conformance.language.story import consumer_story

ILLEGAL_GENERATION, UNKNOWN, NO_GROUP, STALE = 22, 25, 69, 113


@consumer_story()
def a_member_fetches(s: ConsumerScript) -> None:
    """testConsumerGroupOffsetFetchWithMemberIdAndEpoch: its very epoch."""
    s.cluster("orders:2")
    s.enter("m1", epoch=2)
    s.commit("orders-0=1", version=9, member="m1", generation=2)
    s.fetch("orders-0", "orders-1", version=9, member="m1", sent_epoch=2)
    s.fetch(version=10, member="m1", sent_epoch=2)
    s.fetch("orders-0", version=9, member="m1", sent_epoch=3, error=STALE)
    s.fetch("orders-0", version=9, member="m1", sent_epoch=1, error=STALE)
    s.fetch("orders-0", version=10, member="m1", sent_epoch=1, error=STALE)
    s.fetch("orders-0", version=9, member="m1", sent_epoch=-1, error=STALE)
    s.fetch("orders-0", version=9, member="m1", error=STALE)


@consumer_story()
def a_fetch_of_who_is_no_member(s: ConsumerScript) -> None:
    """testConsumerGroupOffsetFetchWithUnknownMemberId."""
    s.cluster("orders:2")
    s.enter("m1", epoch=2)
    s.fetch("orders-0", version=9, member="m2", sent_epoch=2, error=UNKNOWN)
    s.fetch("orders-0", version=9, sent_epoch=2, error=-1)
    s.fetch(version=9, member="m2", sent_epoch=2, error=UNKNOWN)
    s.fetch("orders-0", version=9, member="", error=UNKNOWN)


@consumer_story()
def administrators_fetch(s: ConsumerScript) -> None:
    """testConsumerGroupOffsetFetchFromAdminClient: without a member and an epoch anybody may."""
    s.cluster("orders:2")
    s.enter("m1", epoch=2)
    s.commit("orders-0=1", version=9, member="m1", generation=2)
    for version in (1, 5, 7, 8, 9, 10):
        s.fetch("orders-0", version=version)
    s.fetch(version=2)
    s.fetch(version=10)


@consumer_story()
def classic_members_fetch_from_a_consumer_group(s: ConsumerScript) -> None:
    """testConsumerGroupOffsetFetchWithIllegalGenerationId."""
    s.cluster("orders:2")
    s.enter("m1")
    s.classic("c1")
    s.fetch("orders-0", version=9, member="c1", sent_epoch=3)
    s.fetch("orders-0", version=9, member="c1", sent_epoch=4, error=ILLEGAL_GENERATION)
    s.fetch("orders-0", version=9, member="c1", sent_epoch=2, error=ILLEGAL_GENERATION)


@consumer_story()
def a_fetch_of_the_old_id(s: ConsumerScript) -> None:
    """testFetchOffsetsWithRecreatedTopic."""
    s.cluster("orders:2")
    s.enter("m1", epoch=2)
    s.commit("orders-0=1", version=10, member="m1", generation=2)
    s.cluster("orders#2:2", also="-offset:orders-0")
    s.fetch("orders-0", version=10, member="m1", sent_epoch=2, error=(0, 100))
    s.fetch("orders#2-0", version=10, member="m1", sent_epoch=2)
    s.fetch("orders-0", version=9, member="m1", sent_epoch=2)
    s.fetch(version=9, member="m1", sent_epoch=2)


@consumer_story()
def a_stable_fetch_of_a_member(s: ConsumerScript) -> None:
    """testFetchOffsetsWithPendingTransactionalOffsets."""
    s.cluster("orders:2")
    s.enter("m1", epoch=2)
    s.commit("orders-0=1", version=9, member="m1", generation=2)
    s.txn_commit("orders-0=2", "orders-1=2", member="m1", generation=2)
    s.fetch(
        "orders-0", "orders-1", version=9, member="m1", sent_epoch=2, stable=True, error=(0, 88, 88)
    )
    s.fetch("orders-0", "orders-1", version=9, member="m1", sent_epoch=2, stable=False)
    s.fetch(version=9, member="m1", sent_epoch=2, stable=True, error=(0, 88))
    s.quit("m1")
    s.end_txn()
    s.fetch(version=9, stable=True)


@consumer_story()
def a_consumer_group_is_described_in_every_state(s: ConsumerScript) -> None:
    """testConsumerGroupDescribeNoErrors, testAsDescribedGroup."""
    s.cluster("orders:4", "audit:1")
    s.enter("m1", "orders", instance="i1", rack="r1", assignor="range")
    s.describe_consumers(version=0, state="Stable", epoch=2)
    s.enter("m2", None, regex="or.*|au.*", rebalance=5_000)
    s.describe_consumers(version=1, state="Assigning", epoch=3, target_epoch=2)
    s.settle("m1", "m2")
    s.describe_consumers(version=1, state="Stable")
    s.quit("m1")
    s.quit("m2")
    s.describe_consumers(state="Empty")
    s.look()


@consumer_story()
def what_is_to_be_given_back_is_described(s: ConsumerScript) -> None:
    """testConsumerGroupDescribeIncludesPartitionsPendingRevocation, testAsConsumerGroupDescribeMember."""
    s.cluster("orders:4")
    s.enter("m1")
    s.enter("m2")
    s.beat("m1", owns="orders:0123", assigned="orders:01")
    s.describe_consumers(
        state="Reconciling",
        holds={"m1": "orders:0123", "m2": ""},
        targets={"m1": "orders:01", "m2": "orders:23"},
    )


@consumer_story()
def members_of_both_kinds_are_described(s: ConsumerScript) -> None:
    """testConsumerGroupDescribeWithMigrationMember: the member type is 0 for classic ones."""
    s.cluster("orders:4")
    s.enter("m1")
    s.classic("c1")
    s.synced("c1", assigned="")
    s.settle("m1")
    s.classic("c1")
    s.synced("c1", assigned="orders:23")
    s.describe_consumers(version=0, state="Stable")
    s.describe_consumers(version=1, state="Stable")
    s.describe(error=NO_GROUP)


@consumer_story()
def a_consumer_group_is_no_classic_group(s: ConsumerScript) -> None:
    """testDescribeGroupsGroupIdNotFoundException: Dead, with an error from version 6 on."""
    s.cluster("orders:2")
    s.enter("m1")
    s.describe(version=6, error=NO_GROUP)
    s.describe(version=5)
    s.describe(version=0)
    s.quit("m1")
    s.describe(version=6, error=NO_GROUP)


@consumer_story()
def a_description_knows_no_commits(s: ConsumerScript) -> None:
    """testConsumerGroupDescribeBeforeAndAfterCommittingOffset."""
    s.cluster("orders:2")
    s.describe_consumers(error=NO_GROUP)
    s.enter("m1")
    s.describe_consumers(state="Stable")
    s.commit("orders-0=1", version=9, member="m1", generation=2)
    s.describe_consumers(state="Stable")


@consumer_story()
def a_member_fetches_what_is_gone(s: ConsumerScript) -> None:
    """testFetchOffsetWithDeletedTopicUsingTopicIds, testFetchOffsetWithDeletedTopicUsingTopicNames: only an id is unknown then."""
    s.cluster("orders:3", "audit:2")
    s.enter("m1", "orders audit")
    s.commit("orders-0=100", "orders-2=102", "audit-1=201", version=10, member="m1", generation=2)
    s.cluster("orders:3", also="-offset:audit-1")
    wanted = ("orders-0", "orders-2", "audit-0", "audit-1")
    s.fetch(*wanted, version=10, member="m1", sent_epoch=2, error=(0, 0, 0, 100, 100))
    for version in range(1, 10):
        s.fetch(*wanted, version=version, member="m1", sent_epoch=2)
