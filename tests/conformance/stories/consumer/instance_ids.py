"""Members of consumer groups that come back under another instance id: the old one is free from then on."""

from __future__ import annotations

from tests.conformance.language.consumer_script import ConsumerScript
from tests.conformance.language.story import consumer_story

UNKNOWN, FENCED_INSTANCE, FULL, UNRELEASED = 25, 82, 81, 111


@consumer_story()
def another_instance_id_sets_the_old_one_free(s: ConsumerScript) -> None:
    """testStaticMemberRejoinsWithSameMemberIdAndDifferentInstanceId: whoever comes with the old one is a member of its own."""
    s.cluster("orders:4")
    s.enter("m1", instance="i1")
    s.enter("m1", instance="i2", epoch=2, also="+member:m1")
    s.beat("m1", instance="i1", error=UNKNOWN)
    s.enter("n1", instance="i1", epoch=3)
    s.describe_consumers(state="Reconciling", epoch=3)
    s.quit("n1", instance="i1")
    s.enter("n2", instance="i1")
    s.look()


@consumer_story()
def nobody_leaves_under_a_former_instance_id(s: ConsumerScript) -> None:
    """Neither by heartbeat nor by LeaveGroup, whatever the member id; a commit asks for the member id alone."""
    s.cluster("orders:4")
    s.enter("m1", instance="i1")
    s.enter("m1", instance="i2")
    s.pause("m1", instance="i1", error=UNKNOWN, also="")
    s.quit("m1", instance="i1", error=UNKNOWN, also="")
    s.leave("m1@i1", error=(0, UNKNOWN), also="")
    s.leave("@i1", error=(0, UNKNOWN), also="")
    s.commit("orders-0=1", member="m1", generation=2, instance="i1", version=9)
    s.leave("m1@i2", also="-current:m1 -target:m1 -member:m1 +epoch=3 +targets=3")


@consumer_story()
def a_classic_member_gets_a_former_instance_id(s: ConsumerScript) -> None:
    """It is a newcomer; under the new id it would take the member's place."""
    s.cluster("orders:4")
    s.enter("m1", instance="i1")
    s.enter("m1", instance="i2")
    s.enter("m2")
    s.classic("c1", chosen_id=False, instance="i1")
    s.describe_consumers(epoch=4)
    s.classic("c2", chosen_id=False, instance="i2")
    s.describe_consumers(epoch=4)
    s.look()


@consumer_story()
def a_member_that_was_away_comes_as_another_instance(s: ConsumerScript) -> None:
    """Nothing is meant for the new instance id before the next target, so the member gives up what it had."""
    s.cluster("orders:4")
    s.enter("m1", instance="i1", assigned="orders:0123")
    s.pause("m1")
    s.enter("m1", instance="i2", epoch=2, assigned="", also="+member:m1 +current:m1")
    s.describe_consumers(state="Stable", epoch=2, targets={"m1": "orders:0123"})
    s.enter("n1", instance="i1", epoch=3, assigned="orders:23")
    s.ack("m1", epoch=3, assigned="orders:01")
    s.describe_consumers(state="Stable", epoch=3)


@consumer_story()
def a_member_takes_the_place_of_another(s: ConsumerScript) -> None:
    """It has been one static member and is now the other: its own place is free."""
    s.cluster("orders:4")
    s.enter("m1", instance="i1")
    s.enter("m2", instance="i2")
    s.settle("m1", "m2")
    s.enter("m1", instance="i2", error=UNRELEASED, also="")
    s.pause("m2")
    s.enter("m1", instance="i2", epoch=3, assigned="orders:23")
    s.beat("m2", instance="i2", sent_epoch=3, error=FENCED_INSTANCE)
    s.enter("n1", instance="i1", epoch=4, assigned="orders:01")
    s.describe_consumers(holds={"m1": "orders:23", "n1": "orders:01"})
    s.look()


@consumer_story(group_consumer_assignment_interval_ms=5_000)
def a_member_takes_a_place_that_has_no_target(s: ConsumerScript) -> None:
    """The assignor starts from the member's own target, though the log says that it has none."""
    s.cluster("orders:9")
    s.gather("m3", "m4")
    s.at(7_000)
    s.enter("m1", instance="i1")
    s.settle("m3", "m4", "m1")
    s.describe_consumers(state="Stable", holds={"m3": "orders:012", "m1": "orders:345"})
    s.enter("m2", instance="i2", epoch=4, assigned="")
    s.quit("m3")
    s.pause("m2")
    s.at(12_000)
    s.enter("m1", instance="i2", epoch=6)
    s.describe_consumers(targets={"m1": "orders:0345"})


@consumer_story(group_consumer_max_size=1)
def a_former_instance_id_needs_a_place(s: ConsumerScript) -> None:
    """A full group knows only the new one."""
    s.cluster("orders:4")
    s.enter("m1", instance="i1")
    s.enter("m1", instance="i2")
    s.enter("n1", instance="i1", error=FULL, also="")
    s.enter("n1", instance="i2", error=UNRELEASED, also="")


@consumer_story()
def an_instance_id_is_not_taken_back(s: ConsumerScript) -> None:
    """A member that comes again and names no instance id keeps the one it has."""
    s.cluster("orders:4")
    s.enter("m1", instance="i1")
    body = {"groupId": "g", "memberId": "m1", "memberEpoch": 0, "topicPartitions": []}
    wishes = {"rebalanceTimeoutMs": 60_000, "subscribedTopicNames": ["orders"]}
    s.send("ConsumerGroupHeartbeat", 1, body | wishes)
    s.enter("n1", instance="i1", error=UNRELEASED)
    s.look()


def take_the_place_of_another(s: ConsumerScript, left: str, other: str) -> None:
    """Nobody subscribes by `left` any more, as its subscriber has taken another member's place; m3 does by `other`."""
    s.cluster("orders:2", "audit:2", "billing:2")
    s.enter("m1", None, regex=left)
    s.at(12_000)
    s.enter("m2", "audit", instance="i2")
    s.enter("m3", None, regex=other)
    s.pause("m2")
    s.enter("m1", "audit", instance="i2")
    s.at(23_000)
    s.beat("m3", also=f"+current:m3 +regex:{other}")
    s.at(26_000)


@consumer_story()
def a_member_with_an_expression_takes_another_place(s: ConsumerScript) -> None:
    """What the expression matched counts on, though nobody subscribes by it any more."""
    take_the_place_of_another(s, "or.*", "bil.*")
    s.beat("m3", also="")


@consumer_story()
def what_nobody_subscribes_to_makes_all_look_old(s: ConsumerScript) -> None:
    """The same with an expression that comes first in Kafka's table: the others are matched at every heartbeat."""
    take_the_place_of_another(s, "bil.*", "or.*")
    s.beat("m3", also="+regex:or.*")


@consumer_story()
def a_member_gives_up_its_target_for_another_place(s: ConsumerScript) -> None:
    """What it had counts as taken until the next target: with the uniform assignor nobody has it meanwhile."""
    s.cluster("orders:2", "audit:2")
    s.enter("m1", "audit", instance="i1")
    s.enter("m2", "orders", instance="i2")
    s.pause("m2")
    s.enter("m1", "audit", instance="i2", epoch=4, assigned="")
    s.describe_consumers(targets={"m1": ""})
    s.enter("m3", "audit", epoch=5, assigned="audit:1")
    s.ack("m1", epoch=5, assigned="audit:0")
