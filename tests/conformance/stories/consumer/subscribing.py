"""Subscriptions by name: what members wish, change and lose, and which assignor decides."""

from __future__ import annotations

from tests.conformance.language.consumer_script import UNCHANGED, ConsumerScript
from tests.conformance.language.story import consumer_story


@consumer_story()
def another_subscription_makes_another_target(s: ConsumerScript) -> None:
    """testUpdatingSubscriptionTriggersNewTargetAssignment."""
    s.cluster("orders:4", "audit:2")
    s.enter("m1", "orders", epoch=2)
    s.beat(
        "m1",
        topics="orders audit",
        epoch=3,
        assigned="orders:0123 audit:01",
        also="+member:m1 +epoch=3 +target:m1 +targets=3 +current:m1",
    )
    s.beat("m1", topics="audit orders", also="")
    s.beat("m1", topics="audit audit", epoch=3)
    s.describe_consumers(epoch=4)


@consumer_story()
def topics_that_are_not_there(s: ConsumerScript) -> None:
    """testOneMemberSubscribedToNonexistentTopic: a subscription all the same."""
    s.cluster("orders:2")
    s.enter("m1", "nothing", epoch=2, assigned="")
    s.enter("m2", "orders nothing", epoch=3, assigned="orders:01")
    s.cluster("orders:2", "nothing:2")
    s.ack("m1", epoch=4)
    s.ack("m2", epoch=4)
    s.settle("m1", "m2")
    s.describe_consumers(state="Stable", epoch=4)


@consumer_story()
def no_topics_were_ever_told(s: ConsumerScript) -> None:
    """A cluster without topics: members get nothing, and an epoch."""
    s.enter(
        "m1", epoch=2, assigned="", also="+member:m1 +epoch=2 +target:m1 +targets=2 +current:m1"
    )
    s.describe_consumers(state="Stable", epoch=2)
    s.cluster("orders:1")
    s.ack("m1", epoch=3, assigned="orders:0")


@consumer_story()
def a_topic_that_is_wished_no_more_is_given_up(s: ConsumerScript) -> None:
    """testStableToUnrevokedPartitionsWithAssignmentTopicsNoLongerInSubscription: at once, for all who still own it."""
    s.cluster("orders:2", "audit:2")
    s.enter("m1", "orders audit", epoch=2)
    s.beat("m1", topics="orders", owns="orders:01 audit:01", epoch=2, assigned="orders:01")
    s.beat("m1", owns="orders:01", epoch=3, assigned=UNCHANGED)


@consumer_story(group_consumer_assignment_interval_ms=10_000)
def a_topic_that_is_wished_no_more_before_a_new_target(s: ConsumerScript) -> None:
    """testStableToStableWithAssignmentTopicsNoLongerInSubscription: the target is old, the subscription new."""
    s.cluster("orders:2", "audit:2")
    s.enter("m1", "orders audit", epoch=2)
    s.at(2_000)
    s.beat(
        "m1",
        topics="orders",
        owns="orders:01",
        epoch=2,
        assigned="orders:01",
        also="+member:m1 +epoch=3 +current:m1",
    )
    s.at(3_000)
    s.beat("m1", topics="orders audit", owns="orders:01", epoch=2)
    s.at(10_999)
    s.ack("m1", epoch=2)
    s.at(11_000)
    s.ack("m1", epoch=4)
    s.describe_consumers(state="Stable", epoch=4, target_epoch=4)


@consumer_story(group_consumer_assignment_interval_ms=10_000)
def a_topic_is_dropped_before_a_new_target_but_still_owned(s: ConsumerScript) -> None:
    """testStableToUnrevokedPartitionsWithAssignmentTopicsNoLongerInSubscription: it must be given back."""
    s.cluster("orders:2", "audit:2")
    s.enter("m1", "orders audit", epoch=2)
    s.at(2_000)
    s.beat("m1", topics="orders", owns="orders:01 audit:01", epoch=2, assigned="orders:01")
    s.describe_consumers(state="Assigning", epoch=3, target_epoch=2)
    s.at(3_000)
    s.beat("m1", owns="orders:01 audit:01", epoch=2, assigned=UNCHANGED, also="")
    s.beat("m1", owns="orders:01", epoch=2, assigned=UNCHANGED, also="+current:m1")
    s.at(11_000)
    s.beat("m1", owns="orders:01", epoch=3)


@consumer_story(group_consumer_assignment_interval_ms=10_000)
def a_topic_is_dropped_while_others_are_given_back(s: ConsumerScript) -> None:
    """testRemainsInUnrevokedPartitionsWithAssignmentTopicsNoLongerInSubscription."""
    s.cluster("orders:4", "audit:2")
    s.enter("m1", "orders audit")
    s.at(20_000)
    s.enter("m2", "orders audit")
    s.beat("m1")
    s.at(21_000)
    s.beat("m1", topics="orders", owns="orders:0123 audit:01", epoch=2)
    s.beat("m1", owns="audit:01", epoch=2)
    s.beat("m1", owns="orders:01", epoch=3)
    s.describe_consumers(state="Assigning")


@consumer_story()
def the_majority_chooses_the_assignor(s: ConsumerScript) -> None:
    """testPreferredServerAssignor."""
    s.cluster("orders:3", "audit:3")
    s.enter("m1", "orders audit", assignor="range")
    s.describe_consumers(targets={"m1": "orders:012 audit:012"})
    s.enter("m2", "orders audit", assignor="range")
    s.describe_consumers(targets={"m1": "orders:01 audit:01", "m2": "orders:2 audit:2"})
    s.enter("m3", "orders audit")
    s.describe_consumers(epoch=4, targets={"m1": "orders:0 audit:0", "m2": "orders:1 audit:1"})
    s.enter("m4", "orders audit", assignor="uniform")
    s.enter("m5", "orders audit", assignor="uniform")
    s.settle("m1", "m2", "m3", "m4", "m5")
    s.describe_consumers(state="Stable")


@consumer_story()
def range_gives_each_the_same_part_of_each_topic(s: ConsumerScript) -> None:
    """testReassignmentWhenOneMemberAddedAfterInitialAssignmentWithTwoMembersTwoTopics (range)."""
    s.cluster("orders:6", "audit:6")
    for name in ("m1", "m2", "m3"):
        s.enter(name, "orders audit", assignor="range")
    s.settle("m1", "m2", "m3", rounds=4)
    s.describe_consumers(state="Stable")
    s.quit("m2")
    s.settle("m1", "m3")
    s.describe_consumers(state="Stable", epoch=5)


@consumer_story()
def range_with_static_members(s: ConsumerScript) -> None:
    """testStaticMembership (range): ordered by instance, whatever the ids."""
    s.cluster("orders:4")
    s.enter("z", instance="i1", assignor="range")
    s.enter("a", instance="i2", assignor="range")
    s.settle("z", "a")
    s.describe_consumers(holds={"z": "orders:01", "a": "orders:23"})
    s.pause("z")
    s.enter("b", instance="i1", assignor="range", assigned="orders:01")
    s.enter("c", instance="i0", assignor="range")
    s.settle("a", "b", "c")
    s.describe_consumers(state="Stable")


@consumer_story()
def range_with_static_and_dynamic_members(s: ConsumerScript) -> None:
    """testMixedStaticMembership (range): static ones first."""
    s.cluster("orders:5")
    s.enter("a", assignor="range")
    s.enter("z", instance="i1", assignor="range")
    s.enter("b", assignor="range")
    s.settle("a", "z", "b", rounds=4)
    s.describe_consumers(state="Stable")


@consumer_story()
def range_with_different_subscriptions(s: ConsumerScript) -> None:
    """testFirstAssignmentThreeMembersThreeTopicsDifferentSubscriptions (range)."""
    s.cluster("a:3", "b:3", "c:2")
    s.enter("m1", "a b", assignor="range")
    s.enter("m2", "c", assignor="range")
    s.enter("m3", "b c", assignor="range")
    s.settle("m1", "m2", "m3", rounds=4)
    s.describe_consumers(state="Stable", epoch=4)
    s.beat("m1", topics="c")
    s.settle("m1", "m2", "m3", rounds=4)
    s.describe_consumers(state="Stable", epoch=5)


@consumer_story()
def uniform_with_different_subscriptions(s: ConsumerScript) -> None:
    """testReassignmentWhenOneMemberRemovedAfterInitialAssignmentWithThreeMembersThreeTopics (heterogeneous)."""
    s.cluster("a:4", "b:4", "c:3")
    s.enter("m1", "a")
    s.enter("m2", "a b")
    s.enter("m3", "a b c")
    s.settle("m1", "m2", "m3", rounds=4)
    s.describe_consumers(state="Stable", epoch=4)
    s.quit("m1")
    s.settle("m2", "m3", rounds=4)
    s.describe_consumers(state="Stable", epoch=5)
    s.beat("m3", topics="c")
    s.settle("m2", "m3", rounds=4)
    s.describe_consumers(state="Stable", epoch=6)


@consumer_story()
def uniform_with_two_topics(s: ConsumerScript) -> None:
    """testReassignmentWhenPartitionsAreAddedForTwoMembersTwoTopics (homogeneous)."""
    s.cluster("a:3", "b:3")
    s.gather("m1", "m2", topics="a b", rounds=4)
    s.describe_consumers(state="Stable", epoch=3)
    s.cluster("a:5", "b:5")
    s.settle("m1", "m2", rounds=4)
    s.describe_consumers(state="Stable", epoch=4)
    s.enter("m3", "a b")
    s.settle("m1", "m2", "m3", rounds=4)
    s.describe_consumers(state="Stable", epoch=5)
    s.beat("m1", topics="a")
    s.beat("m2", topics="a")
    s.beat("m3", topics="a")
    s.settle("m1", "m2", "m3", rounds=4)
    s.describe_consumers(state="Stable", epoch=8)


@consumer_story()
def uniform_with_members_that_wish_nothing(s: ConsumerScript) -> None:
    """testFirstAssignmentWithTwoMembersIncludingOneWithoutSubscriptions (heterogeneous)."""
    s.cluster("orders:3")
    s.enter("m1", "orders")
    s.enter("m2", "", epoch=2, assigned="")
    s.settle("m1", "m2")
    s.describe_consumers(state="Stable", epoch=2, holds={"m1": "orders:012", "m2": ""})


@consumer_story()
def a_member_changes_what_does_not_matter(s: ConsumerScript) -> None:
    """testUpdateMember: rack, timeout, client: a record, but no new epoch."""
    s.cluster("orders:2")
    s.enter("m1", epoch=2)
    s.beat("m1", rack="r1", epoch=2, also="+member:m1")
    s.beat("m1", rebalance=1_000, epoch=2, also="+member:m1")
    s.beat("m1", rebalance=1_000, rack="r1", epoch=2, also="")
    body = {"groupId": "g", "memberId": "m1", "memberEpoch": 2}
    s.send("ConsumerGroupHeartbeat", 1, body, client="other", also="+member:m1")
    s.send("ConsumerGroupHeartbeat", 1, body, client="other", also="")


@consumer_story()
def members_that_wish_different_topics(s: ConsumerScript) -> None:
    """testSubscriptionType: each gets its own topics only."""
    s.cluster("orders:2", "audit:2", "billing:2")
    s.enter("m1", "orders", assigned="orders:01")
    s.enter("m2", "audit", assigned="audit:01")
    s.enter("m3", "billing orders", assigned="billing:01")
    s.settle("m1", "m2", "m3")
    s.describe_consumers(state="Stable", epoch=4)
    s.quit("m1")
    s.settle("m2", "m3")
    s.describe_consumers(state="Stable", holds={"m3": "billing:01 orders:01"})


@consumer_story()
def topics_of_one_bucket_go_in_the_order_in_which_they_were_told(s: ConsumerScript) -> None:
    """Names and ids of both share a bucket of Kafka's tables: the member gives up what it named first."""
    s.cluster("orders:2", "returns:2")
    other = s.other("h")
    for group, topics, left in (
        (s, "orders returns", "returns:01"),
        (other, "returns orders", "orders:01"),
    ):
        group.enter("m1", topics, assigned="orders:01 returns:01")
        group.enter("m2", topics, epoch=3, assigned="")
        group.ack("m1", assigned=left)
