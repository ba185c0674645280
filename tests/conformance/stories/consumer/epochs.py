"""Member epochs: which one a heartbeat may say, what is said again, and who has to begin anew."""

from __future__ import annotations

from tests.conformance.language.consumer_script import UNCHANGED, ConsumerScript
from tests.conformance.language.story import consumer_story

FENCED, UNKNOWN = 110, 25


@consumer_story()
def an_epoch_from_the_future_is_fenced(s: ConsumerScript) -> None:
    """testConsumerGroupMemberEpochValidation: larger than the member's, though it may be the group's."""
    s.cluster("orders:4")
    s.enter("m1", epoch=2)
    s.beat("m1", sent_epoch=3, error=FENCED, also="")
    s.enter("m2", epoch=3)
    s.beat("m1", sent_epoch=3, error=FENCED, also="")
    s.beat("m1", sent_epoch=2, epoch=2)


@consumer_story()
def an_epoch_from_the_past_is_fenced(s: ConsumerScript) -> None:
    """testConsumerGroupMemberEpochValidation: the one before counts only with what was owned then."""
    s.cluster("orders:4")
    s.enter("m1", epoch=2)
    s.enter("m2", "audit", epoch=3)
    s.ack("m1", epoch=3)
    s.beat("m1", sent_epoch=1, owns="orders:0123", error=FENCED)
    s.beat("m1", sent_epoch=2, error=FENCED)
    s.beat("m1", sent_epoch=2, owns="orders:0123", epoch=3, assigned=UNCHANGED)
    s.beat("m1", sent_epoch=2, owns="orders:01", epoch=3)
    s.beat("m1", sent_epoch=2, owns="", epoch=3)
    s.cluster("orders:6")
    s.beat("m1", sent_epoch=2, owns="orders:012345", error=FENCED)
    s.beat("m1", sent_epoch=3, owns="orders:0123", epoch=4, assigned="orders:012345")


@consumer_story()
def the_answer_was_lost(s: ConsumerScript) -> None:
    """testConsumerGroupMemberEpochValidation: the same heartbeat again, answered as before."""
    s.cluster("orders:4")
    s.enter("m1", epoch=2)
    s.enter("m2", epoch=3)
    s.beat("m1", owns="orders:0123", epoch=2, assigned="orders:01")
    s.beat("m1", owns="orders:01", sent_epoch=2, epoch=3)
    s.beat("m1", owns="orders:01", sent_epoch=2, epoch=3, assigned=UNCHANGED)
    s.beat("m2", sent_epoch=3, owns="", assigned="orders:23")
    s.beat("m2", sent_epoch=3, owns="", assigned=UNCHANGED)


@consumer_story()
def an_old_epoch_with_partitions_of_others(s: ConsumerScript) -> None:
    """testConsumerGroupMemberEpochValidation: what was given away since proves that it is late."""
    s.cluster("orders:4")
    s.gather("m1", "m2")
    s.beat("m1", sent_epoch=2, owns="orders:0123", error=FENCED)
    s.beat("m1", sent_epoch=2, owns="orders:01", epoch=3)


@consumer_story()
def a_fenced_member_comes_again(s: ConsumerScript) -> None:
    """testFencedMemberCanRejoinWithEpochZero."""
    s.cluster("orders:4")
    s.gather("m1", "m2")
    s.beat("m1", sent_epoch=9, error=FENCED)
    s.enter("m1", epoch=3, assigned="orders:01")
    s.describe_consumers(state="Stable", epoch=3)


@consumer_story()
def again_with_epoch_zero_in_a_stable_group(s: ConsumerScript) -> None:
    """testMemberCanRejoinWithEpochZeroInStableState: it keeps what it has and is told so."""
    s.cluster("orders:4")
    s.gather("m1", "m2")
    s.enter("m1", epoch=3, assigned="orders:01", also="")
    s.enter("m1", epoch=3, assigned="orders:01", also="")


@consumer_story()
def again_with_epoch_zero_while_revoking(s: ConsumerScript) -> None:
    """testMemberCanRejoinWithEpochZeroInUnrevokedPartitionsState: it owns nothing: all is given back."""
    s.cluster("orders:4")
    s.enter("m1")
    s.enter("m2")
    s.beat("m1", assigned="orders:01")
    s.enter("m1", epoch=3, assigned="orders:01", also="+current:m1")
    s.ack("m2", assigned="orders:23")


@consumer_story()
def again_with_epoch_zero_while_waiting(s: ConsumerScript) -> None:
    """testMemberCanRejoinWithEpochZeroInUnreleasedPartitionsState."""
    s.cluster("orders:4")
    s.enter("m1")
    s.enter("m2", assigned="")
    s.enter("m2", epoch=3, assigned="", also="+current:m2")
    s.beat("m1")
    s.enter("m2", epoch=3, assigned="", also="")
    s.ack("m1")
    s.enter("m2", epoch=3, assigned="orders:23", also="+current:m2")


@consumer_story()
def again_with_epoch_zero_and_another_subscription(s: ConsumerScript) -> None:
    """KIP-848: to come again is to say everything again."""
    s.cluster("orders:2", "audit:2")
    s.enter("m1", "orders", assigned="orders:01")
    s.enter("m1", "audit", epoch=3, assigned="audit:01")
    s.enter(
        "m1", "orders audit", assignor="range", rebalance=1, epoch=4, assigned="orders:01 audit:01"
    )
    s.describe_consumers(state="Stable")


@consumer_story()
def a_full_heartbeat_in_a_stable_group(s: ConsumerScript) -> None:
    """testDuplicateFullHeartbeatInStableState: answered in full, nothing written."""
    s.cluster("orders:4")
    s.gather("m1", "m2")
    s.full("m1", epoch=3, assigned="orders:01", also="")
    s.full("m1", epoch=3, assigned="orders:01", also="")
    s.full("m2", owns="", epoch=3, assigned="orders:23", also="")


@consumer_story()
def a_full_heartbeat_while_revoking(s: ConsumerScript) -> None:
    """testDuplicateFullHeartbeatInUnrevokedPartitionsState, testDuplicateFullHeartbeatDuringRevocation."""
    s.cluster("orders:4")
    s.enter("m1")
    s.enter("m2")
    s.beat("m1", owns="orders:0123", assigned="orders:01")
    s.full("m1", owns="orders:0123", epoch=2, assigned="orders:01", also="")
    s.full("m1", owns="orders:012", epoch=2, assigned="orders:01", also="")


@consumer_story()
def a_full_heartbeat_while_waiting(s: ConsumerScript) -> None:
    """testDuplicateFullHeartbeatInUnreleasedPartitionsState, testDuplicateFullHeartbeatWhileWaitingForPartitions."""
    s.cluster("orders:4")
    s.enter("m1")
    s.enter("m2")
    s.full("m2", owns="", epoch=3, assigned="", also="+current:m2")
    s.full("m2", owns="", epoch=3, assigned="", also="")


@consumer_story()
def a_full_heartbeat_that_acknowledges(s: ConsumerScript) -> None:
    """testDuplicateFullHeartbeatWithRevocationAck: said twice, as its first answer was lost."""
    s.cluster("orders:4")
    s.enter("m1")
    s.enter("m2")
    s.beat("m1", owns="orders:0123", assigned="orders:01")
    s.full("m1", owns="orders:01", sent_epoch=2, epoch=3, assigned="orders:01", also="+current:m1")
    s.full("m1", owns="orders:01", sent_epoch=2, epoch=3, assigned="orders:01")
    s.full("m1", owns="orders:01", sent_epoch=3, epoch=3, assigned="orders:01", also="")


@consumer_story()
def what_makes_an_answer_full(s: ConsumerScript) -> None:
    """testConsumerGroupHeartbeatFullResponse: timeout, subscription and owned partitions together."""
    s.cluster("orders:2")
    s.enter("m1", epoch=2, assigned="orders:01")
    s.beat("m1", topics="orders", rebalance=60_000, assigned=UNCHANGED, also="")
    s.beat("m1", topics="orders", owns="orders:01", assigned=UNCHANGED, also="")
    s.beat("m1", rebalance=60_000, owns="orders:01", assigned=UNCHANGED, also="")
    s.beat("m1", topics="orders", rebalance=60_000, owns="orders:0", assigned="orders:01", also="")
    s.beat("m1", regex="o.*", rebalance=60_000, owns="orders:01", assigned="orders:01")


@consumer_story()
def a_repeated_heartbeat_changes_nothing(s: ConsumerScript) -> None:
    """The member that was rebuilt writes one more record, then no more."""
    s.cluster("orders:4")
    s.enter("m1")
    s.enter("m2")
    for _ in range(3):
        s.beat("m1", owns="orders:0123", epoch=2)
        s.beat("m2", owns="", epoch=3)
    for _ in range(3):
        s.beat("m1", owns="orders:01", epoch=3)
        s.beat("m2", owns="", epoch=3)
    s.ack("m1", also="")
    s.ack("m2", also="")


@consumer_story()
def a_member_that_says_it_owns_what_it_never_had(s: ConsumerScript) -> None:
    """What is owned counts where something is to be revoked; lies about the rest do not matter."""
    s.cluster("orders:4", "audit:2")
    s.gather("m1", "m2")
    s.beat("m1", owns="audit:01", epoch=3, assigned=UNCHANGED, also="")
    s.beat("m1", owns="orders:0..9", epoch=3, assigned=UNCHANGED, also="")
    s.beat("m1", owns="nothing:0", epoch=3, assigned=UNCHANGED, also="")


@consumer_story()
def a_member_that_left_is_unknown(s: ConsumerScript) -> None:
    """testLeavingMemberBumpsGroupEpoch: nothing is left of it."""
    s.cluster("orders:4")
    s.gather("m1", "m2")
    s.quit("m2", epoch=-1, also="-current:m2 -target:m2 -member:m2 +epoch=4")
    s.beat("m2", sent_epoch=3, error=UNKNOWN)
    s.quit("m2", error=UNKNOWN)
    s.beat("m1", epoch=4, assigned="orders:0123")
    s.enter("m2", epoch=5, assigned="")


@consumer_story()
def a_member_leaves_while_it_revokes(s: ConsumerScript) -> None:
    """What it held and what it was to give back are both free."""
    s.cluster("orders:4")
    s.enter("m1")
    s.enter("m2")
    s.beat("m1", assigned="orders:01")
    s.quit("m1")
    s.beat("m2", epoch=4, assigned="orders:0123")


@consumer_story()
def a_leave_says_nothing_else(s: ConsumerScript) -> None:
    """testLeavingMemberBumpsGroupEpoch: what else the request holds does not matter; the answer echoes the id."""
    s.cluster("orders:4")
    s.gather("m1", "m2")
    s.beat("m1", sent_epoch=-1, owns="orders:01", topics="audit", rebalance=5, epoch=-1)
    s.quit("m2", epoch=-1, also="-current:m2 -target:m2 -member:m2 +epoch=5 +targets=5")
    s.describe_consumers(state="Empty", epoch=5, target_epoch=5)
