"""Targets have a distance in time (KIP-1263): group.consumer.assignment.interval.ms."""

from __future__ import annotations

from tests.conformance.language.consumer_script import ConsumerScript
from tests.conformance.language.story import consumer_story

GONE = "-current:m1 -target:m1 -member:m1"


@consumer_story(group_consumer_assignment_interval_ms=1_000)
def targets_have_a_distance(s: ConsumerScript) -> None:
    """testConsumerGroupAssignmentInterval, testCanComputeNextTargetAssignment: the first at once, the next a second later."""
    s.cluster("orders:4")
    s.enter("m1", epoch=2, assigned="orders:0123")
    s.enter("m2", epoch=2, assigned="", also="+member:m2 +epoch=3 +current:m2")
    s.describe_consumers(state="Assigning", epoch=3, target_epoch=2)
    s.at(1_999)
    s.ack("m1", epoch=2, also="")
    s.ack("m2", epoch=2, also="")
    s.at(2_000)
    s.ack("m2", epoch=3)
    s.describe_consumers(state="Reconciling", epoch=3, target_epoch=3)
    s.ack("m1", epoch=2, assigned="orders:01")


@consumer_story(group_consumer_assignment_interval_ms=1_000)
def nothing_but_a_heartbeat_computes_a_target(s: ConsumerScript) -> None:
    """testConsumerGroupAssignmentInterval: the interval alone does nothing."""
    s.cluster("orders:4")
    s.enter("m1")
    s.at(1_500)
    s.enter("m2")
    s.at(5_000)
    s.describe_consumers(state="Assigning", epoch=3, target_epoch=2)
    s.ack("m1", epoch=2, assigned="orders:01")


@consumer_story(group_consumer_assignment_interval_ms=1_000)
def many_join_in_one_interval(s: ConsumerScript) -> None:
    """KIP-1263: one target for all of them."""
    s.cluster("orders:8")
    s.enter("m1", epoch=2)
    for number in range(2, 6):
        s.jump(1_000 + 100 * number)
        s.enter(f"m{number}", epoch=2, assigned="")
    s.at(2_000)
    s.ack("m1", epoch=2)
    s.describe_consumers(state="Reconciling", epoch=6, target_epoch=6)
    s.settle("m1", "m2", "m3", "m4", "m5")
    s.describe_consumers(state="Stable", epoch=6)


@consumer_story(group_consumer_assignment_interval_ms=5_000)
def the_interval_of_the_group(s: ConsumerScript) -> None:
    """testDynamicBrokerAndGroupConfigs: the group's interval wins."""
    s.cluster("orders:4")
    s.enter("m1", epoch=2)
    s.configure(consumer_assignment_interval_ms=0)
    s.enter("m2", epoch=3)
    s.configure(consumer_assignment_interval_ms=2_000)
    s.enter("m3", epoch=3)
    s.at(2_999)
    s.ack("m3", epoch=3)
    s.at(3_000)
    s.ack("m3", epoch=4)
    s.configure(consumer_assignment_interval_ms=None)
    s.at(5_000)
    s.enter("m4", epoch=4)
    s.at(7_999)
    s.ack("m4", epoch=4)
    s.at(8_000)
    s.ack("m4", epoch=5)


@consumer_story(group_consumer_assignment_interval_ms=1_000)
def leaving_within_the_interval(s: ConsumerScript) -> None:
    """A member that leaves is taken out of nothing before the next target."""
    s.cluster("orders:4")
    s.enter("m1", epoch=2)
    s.at(2_000)
    s.enter("m2", epoch=3)
    s.quit("m1", epoch=-1, also=f"{GONE} +epoch=4")
    s.ack("m2", epoch=3, assigned="orders:23")
    s.at(3_000)
    s.ack("m2", epoch=4, assigned="orders:0123")


@consumer_story(group_consumer_assignment_interval_ms=1_000)
def a_static_member_returns_within_the_interval(s: ConsumerScript) -> None:
    """A return needs no new target."""
    s.cluster("orders:4")
    s.enter("m1", instance="i1", epoch=2)
    s.pause("m1")
    s.enter("n1", instance="i1", epoch=2, assigned="orders:0123")
    s.pause("n1")
    s.enter("o1", "orders audit", instance="i1", epoch=2, assigned="orders:0123")
    s.describe_consumers(state="Assigning", epoch=3, target_epoch=2)
    s.at(2_000)
    s.ack("o1", epoch=3)


@consumer_story(group_consumer_assignment_interval_ms=5_000)
def an_empty_group_waits_for_no_interval(s: ConsumerScript) -> None:
    """Where the last member has left, the next one gets everything at once."""
    s.cluster("orders:4")
    s.enter("m1", epoch=2)
    s.quit("m1", also=f"{GONE} +epoch=3 +targets=3")
    s.describe_consumers(state="Empty", epoch=3, target_epoch=3)
    s.enter("m2", epoch=4, assigned="orders:0123")
