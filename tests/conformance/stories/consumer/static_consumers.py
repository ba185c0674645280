"""Static members of consumer groups: they go for a while, come back, are replaced, and get lost."""

from __future__ import annotations

from tests.conformance.language.consumer_script import UNCHANGED, ConsumerScript
from tests.conformance.language.story import consumer_story

UNKNOWN, FENCED_INSTANCE, FENCED_EPOCH, UNRELEASED = 25, 82, 110, 111


@consumer_story()
def a_static_member_joins(s: ConsumerScript) -> None:
    """testGroupEpochBumpWhenNewStaticMemberJoins."""
    s.cluster("orders:4")
    s.enter("m1", instance="i1", epoch=2, assigned="orders:0123")
    s.enter("m2", instance="i2", epoch=3, assigned="")
    s.settle("m1", "m2")
    s.describe_consumers(state="Stable", holds={"m1": "orders:01", "m2": "orders:23"})
    s.look()


@consumer_story()
def a_static_member_goes_for_a_while(s: ConsumerScript) -> None:
    """testNoGroupEpochBumpWhenStaticMemberTemporarilyLeaves: its partitions stay its own."""
    s.cluster("orders:4")
    s.enter("m1", instance="i1")
    s.enter("m2")
    s.settle("m1", "m2")
    s.pause("m1", epoch=-2, also="+current:m1")
    s.describe_consumers(epoch=3, epochs={"m1": -2}, holds={"m1": "orders:01"})
    s.ack("m2", also="")
    s.look()


@consumer_story()
def a_static_member_gets_back_what_it_had(s: ConsumerScript) -> None:
    """testStaticMemberGetsBackAssignmentUponRejoin: a new id, the old instance, the same epoch."""
    s.cluster("orders:4")
    s.enter("m1", instance="i1")
    s.enter("m2")
    s.settle("m1", "m2")
    s.pause("m1")
    s.enter(
        "n1",
        instance="i1",
        epoch=3,
        assigned="orders:01",
        also="-current:m1 -target:m1 -member:m1 +member:n1 +member:n1 +target:n1 +current:n1 +current:n1",
    )
    s.describe_consumers(epoch=3, holds={"n1": "orders:01"})
    s.beat("m1", sent_epoch=3, error=FENCED_INSTANCE)
    s.ack("n1", also="")


@consumer_story()
def a_static_consumer_comes_back_with_another_subscription(s: ConsumerScript) -> None:
    """testStaticMemberRejoinsWithNewSubscribedTopics: the epoch is bumped."""
    s.cluster("orders:4", "audit:2")
    s.enter("m1", instance="i1")
    s.enter("m2")
    s.settle("m1", "m2")
    s.pause("m1")
    s.enter("n1", "orders audit", instance="i1", epoch=4)
    s.settle("n1", "m2")
    s.describe_consumers(state="Stable", epoch=4)


@consumer_story()
def a_static_member_comes_back_under_its_id(s: ConsumerScript) -> None:
    """A client may keep its id; the member is replaced all the same."""
    s.cluster("orders:4")
    s.enter("m1", instance="i1")
    s.pause("m1", epoch=-2)
    s.enter("m1", instance="i1", epoch=2, assigned="orders:0123")
    s.describe_consumers(epoch=2)


@consumer_story()
def an_instance_that_is_in_use(s: ConsumerScript) -> None:
    """testShouldThrownUnreleasedInstanceIdExceptionWhenNewMemberJoinsWithInUseInstanceId."""
    s.cluster("orders:4")
    s.enter("m1", instance="i1")
    s.enter("n1", instance="i1", error=UNRELEASED, also="")
    s.enter("m1", instance="i1", error=UNRELEASED, also="")
    s.ack("m1", epoch=2, also="")


@consumer_story()
def an_instance_that_nobody_is(s: ConsumerScript) -> None:
    """testShouldThrownUnknownMemberIdExceptionWhenUnknownStaticMemberJoins, ...WhenUnknownStaticMemberLeaves."""
    s.cluster("orders:4")
    s.enter("m1", instance="i1")
    s.beat("m2", sent_epoch=2, instance="i2", error=UNKNOWN, also="")
    s.pause("m2", error=UNKNOWN, also="")
    s.quit("m2", error=UNKNOWN, also="")
    s.beat("m1", sent_epoch=2, instance="i9", error=UNKNOWN, also="")


@consumer_story()
def an_instance_under_another_id(s: ConsumerScript) -> None:
    """testShouldThrowFencedInstanceIdExceptionWhenStaticMemberWithDifferentMemberIdJoins, ...Leaves."""
    s.cluster("orders:4")
    s.enter("m1", instance="i1")
    s.beat("n1", sent_epoch=2, instance="i1", error=FENCED_INSTANCE, also="")
    s.quit("n1", error=FENCED_INSTANCE, also="")
    s.pause("n1", error=FENCED_INSTANCE, also="")
    s.beat("m1", epoch=2, also="")


@consumer_story()
def epochs_of_a_static_member(s: ConsumerScript) -> None:
    """testConsumerGroupMemberEpochValidationForStaticMember."""
    s.cluster("orders:4")
    s.enter("m1", instance="i1", epoch=2)
    s.beat("m1", sent_epoch=3, error=FENCED_EPOCH)
    s.beat("m1", sent_epoch=1, error=FENCED_EPOCH)
    s.enter("m2", "audit", epoch=3)
    s.ack("m1", epoch=3)
    s.beat("m1", sent_epoch=2, owns="orders:0123", epoch=3)
    s.beat("m1", sent_epoch=2, error=FENCED_EPOCH)


@consumer_story()
def a_static_member_leaves_for_good(s: ConsumerScript) -> None:
    """testLeavingStaticMemberBumpsGroupEpoch."""
    s.cluster("orders:4")
    s.enter("m1", instance="i1")
    s.enter("m2", instance="i2")
    s.settle("m1", "m2")
    s.quit("m2", epoch=-1, also="-current:m2 -target:m2 -member:m2 +epoch=4")
    s.ack("m1", epoch=4, assigned="orders:0123")
    s.enter("n2", instance="i2", epoch=5, assigned="")


@consumer_story()
def a_static_member_leaves_for_good_after_all(s: ConsumerScript) -> None:
    """-1 after -2."""
    s.cluster("orders:4")
    s.enter("m1", instance="i1")
    s.enter("m2")
    s.settle("m1", "m2")
    s.pause("m1")
    s.pause("m1", epoch=-2)
    s.quit("m1", epoch=-1, also="-current:m1 -target:m1 -member:m1 +epoch=4")
    s.ack("m2", epoch=4, assigned="orders:0123")


@consumer_story()
def heartbeats_of_one_that_is_away(s: ConsumerScript) -> None:
    """Who is away has epoch -2: any other is too large."""
    s.cluster("orders:4")
    s.enter("m1", instance="i1", epoch=2)
    s.pause("m1")
    s.beat("m1", sent_epoch=2, error=FENCED_EPOCH)
    s.beat("m1", sent_epoch=1, owns="", error=FENCED_EPOCH)
    s.enter("m1", instance="i1", epoch=2)


@consumer_story()
def a_rebalance_while_one_is_away(s: ConsumerScript) -> None:
    """What an absent member holds stays taken: the newcomer waits until it is back."""
    s.cluster("orders:4")
    s.enter("m1", instance="i1")
    s.pause("m1")
    s.enter("m2", epoch=3)
    s.describe_consumers(epoch=3, targets={"m1": "orders:01", "m2": "orders:23"})
    s.beat("m2", owns="")
    s.enter("n1", instance="i1")
    s.settle("n1", "m2")
    s.describe_consumers(state="Stable", epoch=3)


@consumer_story()
def one_goes_away_while_it_revokes(s: ConsumerScript) -> None:
    """-2 lets go of what was pending."""
    s.cluster("orders:4")
    s.enter("m1", instance="i1")
    s.enter("m2")
    s.beat("m1", assigned="orders:01")
    s.pause("m1", also="+current:m1")
    s.ack("m2", epoch=3, assigned="orders:23")
    s.enter("n1", instance="i1", epoch=3, assigned="orders:01")


@consumer_story()
def one_goes_away_while_it_waits(s: ConsumerScript) -> None:
    """Away with nothing, back for more."""
    s.cluster("orders:4")
    s.enter("m1")
    s.enter("m2", instance="i2", assigned="")
    s.pause("m2")
    s.beat("m1", assigned="orders:01")
    s.ack("m1")
    s.enter("n2", instance="i2", epoch=3, assigned="orders:23")


@consumer_story()
def two_replacements_in_a_row(s: ConsumerScript) -> None:
    """Only the last one counts."""
    s.cluster("orders:4")
    s.enter("m1", instance="i1")
    s.pause("m1")
    s.enter("n1", instance="i1", epoch=2, assigned="orders:0123")
    s.enter("o1", instance="i1", error=UNRELEASED)
    s.pause("n1")
    s.enter("o1", instance="i1", epoch=2, assigned="orders:0123")
    s.pause("m1", error=FENCED_INSTANCE)
    s.describe_consumers(state="Stable", epoch=2, holds={"o1": "orders:0123"})


@consumer_story()
def a_dynamic_member_says_an_instance_later(s: ConsumerScript) -> None:
    """An instance is looked up by its name alone."""
    s.cluster("orders:4")
    s.enter("m1")
    s.beat("m1", instance="i1", error=UNKNOWN)
    s.enter("m1", instance="i1")
    s.describe_consumers()
    s.ack("m1")


@consumer_story()
def a_static_member_that_does_not_say_so(s: ConsumerScript) -> None:
    """By its id alone it is found, and it keeps its instance."""
    s.cluster("orders:4")
    s.enter("m1", instance="i1")
    body = {"groupId": "g", "memberId": "m1", "memberEpoch": 2}
    s.send("ConsumerGroupHeartbeat", 1, body)
    s.send("ConsumerGroupHeartbeat", 1, body | {"memberEpoch": -1})
    s.look()


@consumer_story()
def a_replacement_changes_rack_and_assignor(s: ConsumerScript) -> None:
    """A member that comes back says everything anew."""
    s.cluster("orders:4")
    s.enter("m1", instance="i1", rack="a", assignor="range")
    s.pause("m1")
    s.enter("n1", instance="i1", rack="b", rebalance=9_000, epoch=2, assigned="orders:0123")
    s.beat("n1", rack="c", assigned=UNCHANGED, also="+member:n1")
    s.describe_consumers(epoch=2)


@consumer_story()
def a_copy_with_another_wish_and_the_same_target(s: ConsumerScript) -> None:
    """testStaticMemberRejoinsWithNewSubscribedTopicsAndNoAssignmentChange: a target that comes with the place is written once."""
    s.cluster("orders:4", "audit:4")
    s.enter("m1", instance="i1")
    s.gather("m2")
    s.settle("m1", "m2")
    s.pause("m1")
    s.enter("n1", "orders nothing", instance="i1", epoch=4)
    s.settle("m2", "n1")
    s.describe_consumers(state="Stable", epoch=4)


@consumer_story()
def a_copy_starts_from_the_target_of_its_place(s: ConsumerScript) -> None:
    """testReplaceStaticMember: what the member had stays with it, though others must take what a third one left."""
    s.cluster("orders:9")
    s.gather("m3", "m4")
    s.enter("m1", instance="i1")
    s.settle("m3", "m4", "m1")
    s.describe_consumers(state="Stable", holds={"m3": "orders:012", "m1": "orders:348"})
    s.quit("m3")
    s.pause("m1")
    s.enter("n1", instance="i1", epoch=5, assigned="orders:0348")
    s.describe_consumers(targets={"n1": "orders:0348"})
