"""How many members a consumer group takes: group.consumer.max.size."""

from __future__ import annotations

from tests.conformance.language.consumer_script import ConsumerScript
from tests.conformance.language.story import consumer_story

UNKNOWN, FULL, FENCED_INSTANCE, UNRELEASED = 25, 81, 82, 111


@consumer_story(group_consumer_max_size=2)
def a_full_consumer_group_takes_no_newcomer(s: ConsumerScript) -> None:
    """testNewMemberIsRejectedWithMaximumMembersIsReached."""
    s.cluster("orders:4")
    s.gather("m1", "m2")
    s.enter("m3", error=FULL, also="")
    s.enter("m1", epoch=3)
    s.full("m2", epoch=3)
    s.quit("m1")
    s.enter("m3", epoch=5)


@consumer_story(group_consumer_max_size=1)
def a_full_consumer_group_and_static_members(s: ConsumerScript) -> None:
    """testStaticMemberCanRejoinWhenConsumerGroupIsFull: a copy of a static member needs no place of its own.

    testStaticMemberRejoinWithUnreleasedInstanceIdFailsWhenConsumerGroupIsFull, testNewStaticMemberIsRejectedWhenConsumerGroupIsFull.
    """
    s.cluster("orders:4")
    s.enter("m1", instance="i1")
    s.enter("n1", instance="i1", error=UNRELEASED)
    s.enter("n2", instance="i2", error=FULL)
    s.pause("m1")
    s.enter("n2", instance="i2", error=FULL)
    s.enter("n1", instance="i1", epoch=2, assigned="orders:0123")
    s.enter("m1", instance="i1", error=UNRELEASED)


@consumer_story(group_consumer_max_size=2)
def a_full_consumer_group_and_classic_members(s: ConsumerScript) -> None:
    """testJoiningConsumerGroupThrowsExceptionIfGroupOverMaxSize."""
    s.cluster("orders:4")
    s.gather("m1", "m2")
    s.classic("c1", error=FULL, also="")
    s.quit("m2")
    s.classic("c1")
    s.classic("c2", error=FULL)
    s.enter("m3", error=FULL)


@consumer_story(group_consumer_max_size=1)
def heartbeats_to_a_full_consumer_group(s: ConsumerScript) -> None:
    """Room is looked at before anything else; leaving needs none."""
    s.cluster("orders:4")
    s.enter("m1", instance="i1")
    s.beat("n1", sent_epoch=2, instance="i1", error=FENCED_INSTANCE, also="")
    s.beat("n2", sent_epoch=2, error=FULL, also="")
    s.beat("n3", sent_epoch=2, instance="i3", error=FULL, also="")
    s.quit("n3", instance="i3", error=UNKNOWN, also="")


@consumer_story(group_consumer_max_size=1)
def a_classic_copy_in_a_full_consumer_group(s: ConsumerScript) -> None:
    """testStaticMemberCanRejoinConsumerGroupWithClassicProtocolWhenGroupIsFull: who is away has a place for its copy.

    testNewStaticMemberClassicGroupJoinThrowsGroupMaxSizeReachedExceptionWhenConsumerGroupIsFull.
    """
    s.cluster("orders:4")
    s.enter("m1", instance="i1")
    s.classic("c9", chosen_id=False, instance="i9", error=FULL, also="")
    s.classic("c1", instance="i1", error=FENCED_INSTANCE, also="")
    s.pause("m1")
    s.classic("c9", chosen_id=False, instance="i9", error=FULL, also="")
    s.classic("n1", chosen_id=False, instance="i1")
    s.look()


@consumer_story(group_consumer_max_size=2)
def copies_of_either_protocol_in_a_full_group(s: ConsumerScript) -> None:
    """A place of a static member goes from protocol to protocol; nobody else gets it."""
    s.cluster("orders:4")
    s.enter("m1", instance="i1")
    s.classic("c2", chosen_id=False, instance="i2")
    s.classic("d2", chosen_id=False, instance="i2")
    s.synced("c2", error=FENCED_INSTANCE, instance="i2")
    s.enter("n2", instance="i2")
    s.classic("c3", error=FULL, also="")
    s.enter("m3", error=FULL, also="")
    s.classic("e2", chosen_id=False, instance="i2")
    s.describe_consumers(epoch=3)
    s.look()


@consumer_story(group_consumer_max_size=1)
def a_classic_group_that_is_too_large_is_not_upgraded(s: ConsumerScript) -> None:
    """testConsumerGroupHeartbeatWithStableClassicGroup: not more members than a consumer group takes."""
    s.cluster("orders:2")
    s.classic("c1", version=3, chosen_id=False, error="parked")
    s.classic("c2", version=3, chosen_id=False, error="parked")
    s.at(4_000)
    s.at(7_000, "JoinGroup=0 JoinGroup=0")
    s.enter("m1", error=69, also="")
    s.look()


@consumer_story(group_max_size=1, group_consumer_max_size=5)
def a_group_that_is_too_large_is_not_downgraded(s: ConsumerScript) -> None:
    """testNoConversionWhenSizeExceedsClassicMaxGroupSize: it stays until one more leaves, whichever protocol that speaks."""
    s.cluster("orders:4")
    s.enter("m1")
    s.classic("c1")
    s.classic("c2")
    s.quit("m1", also="-current:m1 -target:m1 -member:m1 +epoch=5")
    s.look()
    of_both = " ".join(
        f"-{kind}:{name}" for kind in ("current", "target", "member") for name in ("c1", "c2")
    )
    s.leave("c1", also=f"{of_both} -metadata -epoch -targets +group")
    s.look()
