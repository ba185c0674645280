"""What members of a consumer group hold, give back and wait for until each has its target."""

from __future__ import annotations

from tests.conformance.language.consumer_script import UNCHANGED, ConsumerScript
from tests.conformance.language.story import consumer_story


@consumer_story()
def first_member_gets_everything(s: ConsumerScript) -> None:
    """testMemberJoinsEmptyConsumerGroup: epoch 2, as a new group begins with epoch 1."""
    s.cluster("orders:4")
    s.enter(
        "m1",
        epoch=2,
        assigned="orders:0123",
        also="+member:m1 +epoch=2 +target:m1 +targets=2 +current:m1",
    )
    s.describe_consumers(state="Stable", epoch=2, target_epoch=2, holds={"m1": "orders:0123"})
    s.ack("m1", epoch=2, assigned=UNCHANGED, also="")
    s.look()


@consumer_story()
def second_member_waits_for_what_the_first_gives_back(s: ConsumerScript) -> None:
    """testReconciliationProcess: told to revoke, acknowledged, assigned."""
    s.cluster("orders:4")
    s.enter("m1", assigned="orders:0123")
    s.enter(
        "m2",
        epoch=3,
        assigned="",
        also="+member:m2 +epoch=3 +target:m1 +target:m2 +targets=3 +current:m2",
    )
    s.describe_consumers(state="Reconciling", epoch=3, holds={"m1": "orders:0123", "m2": ""})
    s.ack("m1", epoch=2, assigned="orders:01", also="+current:m1")
    s.beat("m2", epoch=3, assigned=UNCHANGED, also="+current:m2")
    s.ack("m1", epoch=3, assigned=UNCHANGED, also="+current:m1")
    s.beat("m2", epoch=3, assigned="orders:23", also="+current:m2")
    s.ack("m1", also="")
    s.ack("m2", also="")
    s.describe_consumers(state="Stable", holds={"m1": "orders:01", "m2": "orders:23"})


@consumer_story()
def three_members_come_one_by_one(s: ConsumerScript) -> None:
    """testReconciliationProcess: the third takes from both."""
    s.cluster("orders:6", "audit:3")
    s.gather("m1", "m2", topics="orders audit")
    s.describe_consumers(state="Stable", epoch=3)
    s.enter("m3", "orders audit", epoch=4, assigned="")
    s.beat("m1", epoch=3)
    s.beat("m2", epoch=3)
    s.ack("m3", epoch=4, assigned=UNCHANGED)
    s.ack("m1", epoch=4)
    s.ack("m3", epoch=4)
    s.ack("m2", epoch=4)
    s.ack("m3", epoch=4)
    s.describe_consumers(state="Stable", epoch=4)


@consumer_story()
def four_members_share_what_two_had(s: ConsumerScript) -> None:
    """Two newcomers at once: each waits for its own part."""
    s.cluster("orders:8")
    s.gather("m1", "m2")
    s.enter("m3", epoch=4)
    s.enter("m4", epoch=5)
    s.describe_consumers(state="Reconciling", epoch=5)
    s.settle("m1", "m3")
    s.describe_consumers(state="Reconciling")
    s.settle("m2", "m4")
    s.settle("m1", "m2", "m3", "m4")
    s.describe_consumers(state="Stable", epoch=5)


@consumer_story()
def more_members_than_partitions(s: ConsumerScript) -> None:
    """Who has nothing to wait for is stable with nothing."""
    s.cluster("orders:2")
    s.gather("m1", "m2", "m3", "m4", rounds=4)
    s.describe_consumers(state="Stable", epoch=5)
    s.quit("m1")
    s.settle("m2", "m3", "m4")
    s.describe_consumers(state="Stable", epoch=6)


@consumer_story()
def what_is_not_given_back_stays(s: ConsumerScript) -> None:
    """testRemainsInUnrevokedPartitions: as long as one of them is still owned, or nothing is said."""
    s.cluster("orders:4")
    s.enter("m1")
    s.enter("m2")
    s.beat("m1", epoch=2, assigned="orders:01")
    s.beat("m1", owns="orders:0123", epoch=2, assigned=UNCHANGED, also="")
    s.beat("m1", owns="orders:012", epoch=2, assigned=UNCHANGED, also="")
    s.beat("m1", epoch=2, assigned=UNCHANGED, also="")
    s.beat("m2", owns="", epoch=3, also="+current:m2")
    s.beat("m1", owns="orders:01", epoch=3, assigned=UNCHANGED, also="+current:m1")
    s.beat("m2", owns="", epoch=3, assigned="orders:23")


@consumer_story()
def all_is_given_back_though_a_part_was_asked_for(s: ConsumerScript) -> None:
    """testUnrevokedPartitionsToStable: only what is pending counts, not what is kept."""
    s.cluster("orders:4")
    s.enter("m1")
    s.enter("m2")
    s.beat("m1", assigned="orders:01")
    s.beat("m1", owns="", epoch=3, assigned=UNCHANGED, also="+current:m1")
    s.describe_consumers(holds={"m1": "orders:01"})


@consumer_story()
def given_back_before_it_is_told(s: ConsumerScript) -> None:
    """testStableToStable: who owns nothing of what is revoked goes straight to the new epoch."""
    s.cluster("orders:4")
    s.enter("m1", assigned="orders:0123")
    s.enter("m2")
    s.beat("m1", owns="orders:01", epoch=3, assigned="orders:01", also="+current:m1")
    s.ack("m2", assigned="orders:23")


@consumer_story()
def a_newcomer_that_already_owns_nothing_of_it(s: ConsumerScript) -> None:
    """testStableToUnreleasedPartitionsWithOwnedPartitionsNotHavingRevokedPartitions."""
    s.cluster("orders:6")
    s.gather("m1", "m2")
    s.enter("m3")
    s.beat("m1", owns="", epoch=4)
    s.ack("m3", epoch=4)
    s.beat("m2", owns="", epoch=4)
    s.ack("m3", epoch=4)
    s.describe_consumers(state="Stable")


@consumer_story()
def a_second_rebalance_before_the_first_is_over(s: ConsumerScript) -> None:
    """testUnrevokedPartitionsToUnrevokedPartitions: acknowledged, and at once asked for more."""
    s.cluster("orders:6")
    s.enter("m1", assigned="orders:012345")
    s.enter("m2", epoch=3)
    s.ack("m1", epoch=2, assigned="orders:012")
    s.enter("m3", epoch=4)
    s.ack("m1", epoch=2, assigned="orders:01", also="+current:m1")
    s.describe_consumers(state="Reconciling", epoch=4)
    s.settle("m1", "m2", "m3")
    s.describe_consumers(state="Stable", epoch=4)


@consumer_story()
def what_was_to_be_revoked_comes_back(s: ConsumerScript) -> None:
    """testUnrevokedPartitionsToStableWithReturnedPartitionsPendingRevocation: the newcomer left again."""
    s.cluster("orders:4")
    s.enter("m1", assigned="orders:0123")
    s.enter("m2")
    s.beat("m1", epoch=2, assigned="orders:01")
    s.quit("m2", also="-current:m2 -target:m2 -member:m2 +epoch=4")
    s.beat("m1", owns="orders:0123", epoch=2, assigned=UNCHANGED)
    s.describe_consumers(
        state="Reconciling", epoch=4, target_epoch=4, targets={"m1": "orders:0123"}
    )
    s.beat("m1", owns="orders:01", epoch=4, assigned="orders:0123", also="+current:m1")
    s.describe_consumers(state="Stable")


@consumer_story()
def waiting_for_one_of_two(s: ConsumerScript) -> None:
    """testUnreleasedPartitionsToUnreleasedPartitions: what is free comes first, the rest later."""
    s.cluster("orders:6")
    s.gather("m1", "m2")
    s.enter("m3", assigned="")
    s.beat("m1")
    s.ack("m1", epoch=4)
    s.beat("m3", owns="", epoch=4)
    s.describe_consumers(state="Reconciling")
    s.beat("m3", epoch=4, assigned=UNCHANGED, also="")
    s.beat("m2")
    s.ack("m2", epoch=4)
    s.beat("m3", epoch=4)
    s.describe_consumers(state="Stable")


@consumer_story()
def a_waiting_member_must_give_back_itself(s: ConsumerScript) -> None:
    """testUnreleasedPartitionsToUnrevokedPartitions."""
    s.cluster("orders:6")
    s.gather("m1", "m2")
    s.enter("m3")
    s.beat("m1")
    s.ack("m1")
    s.beat("m3", owns="")
    s.describe_consumers(state="Reconciling")
    s.enter("m4")
    s.enter("m5")
    s.beat("m3")
    s.describe_consumers(state="Reconciling")
    s.settle("m1", "m2", "m3", "m4", "m5", rounds=4)
    s.describe_consumers(state="Stable", epoch=6)


@consumer_story()
def a_target_that_says_the_same(s: ConsumerScript) -> None:
    """testStableToStable: a new epoch, and nothing else changes for those who keep what they have."""
    s.cluster("orders:2", "audit:2")
    s.enter("m1", "orders")
    s.enter("m2", "audit", epoch=3)
    s.ack("m1", epoch=3, assigned=UNCHANGED, also="+current:m1")
    s.ack("m1", epoch=3, also="")
    s.describe_consumers(state="Stable", holds={"m1": "orders:01", "m2": "audit:01"})


@consumer_story()
def new_partitions_are_taken_at_once(s: ConsumerScript) -> None:
    """testStableToStableWithNewPartitions: what nobody has needs no waiting."""
    s.cluster("orders:2")
    s.gather("m1", "m2")
    s.cluster("orders:4")
    s.ack("m1", epoch=4)
    s.ack("m2", epoch=4)
    s.describe_consumers(state="Stable", epoch=4)


@consumer_story()
def partitions_are_free_when_their_owner_is_gone(s: ConsumerScript) -> None:
    """testDeletingMemberRemovesPartitionEpoch: nobody waits for one that left."""
    s.cluster("orders:4")
    s.enter("m1", assigned="orders:0123")
    s.enter("m2", assigned="")
    s.quit("m1", epoch=-1, also="-current:m1 -target:m1 -member:m1 +epoch=4")
    s.beat("m2", epoch=4, assigned="orders:0123")


@consumer_story()
def what_waits_for_revocation_is_still_owned(s: ConsumerScript) -> None:
    """testWaitingOnUnreleasedPartition: until its owner says so, or goes."""
    s.cluster("orders:4")
    s.enter("m1")
    s.enter("m2")
    s.beat("m1", assigned="orders:01")
    s.beat("m2", assigned=UNCHANGED)
    s.enter("m3", assigned="")
    s.beat("m2", owns="")
    s.quit("m1")
    s.beat("m2", owns="")
    s.beat("m3", owns="")
    s.settle("m2", "m3")
    s.describe_consumers(state="Stable", epoch=5)


@consumer_story()
def the_states_of_a_group(s: ConsumerScript) -> None:
    """testConsumerGroupStates: Empty, Assigning, Reconciling, Stable."""
    s.cluster("orders:4")
    s.enter("m1")
    s.describe_consumers(state="Stable", epoch=2, target_epoch=2)
    s.enter("m2")
    s.describe_consumers(state="Reconciling", epoch=3, target_epoch=3)
    s.settle("m1", "m2")
    s.describe_consumers(state="Stable", epoch=3)
    s.quit("m2")
    s.describe_consumers(state="Assigning", epoch=4, target_epoch=3)
    s.beat("m1", epoch=4, assigned="orders:0123")
    s.describe_consumers(state="Stable", epoch=4, target_epoch=4)
    s.quit("m1")
    s.describe_consumers(state="Empty", epoch=5, target_epoch=5)
    s.look()


@consumer_story()
def a_group_that_is_empty_goes_on_counting(s: ConsumerScript) -> None:
    """testMemberJoinsEmptyConsumerGroup: epochs are never used twice."""
    s.cluster("orders:2")
    s.enter("m1", epoch=2)
    s.quit("m1")
    s.look()
    s.enter("m2", epoch=4, assigned="orders:01")
    s.describe_consumers(state="Stable", epoch=4)


@consumer_story()
def a_swap_of_all_partitions(s: ConsumerScript) -> None:
    """testAssignmentSwapped: a new subscription of both: each gives to the other."""
    s.cluster("orders:2", "audit:2")
    s.enter("m1", "orders", assigned="orders:01")
    s.enter("m2", "audit", assigned="audit:01")
    s.beat("m1", topics="audit", assigned="")
    s.beat("m2", topics="orders", assigned="")
    s.ack("m1", epoch=5, assigned=UNCHANGED)
    s.ack("m2", epoch=5, assigned="orders:01")
    s.ack("m1", epoch=5, assigned="audit:01")
    s.describe_consumers(state="Stable", epoch=5)
