"""KIP-848: the assignor of a group is the one that most of its members ask for."""

from __future__ import annotations

from tests.conformance.language.consumer_script import ConsumerScript
from tests.conformance.language.story import consumer_story


@consumer_story()
def another_assignor_brings_a_rebalance(s: ConsumerScript) -> None:
    """The epoch grows once another assignor is the one that most ask for, and only then."""
    s.cluster("orders:3", "audit:3")
    s.gather("m1", "m2", topics="orders audit")
    s.describe_consumers(epoch=3)
    moved = "+target:m1 +target:m2 +targets=4 +current:m1"
    s.beat("m1", assignor="range", epoch=3, also=f"+member:m1 +epoch=4 {moved}")
    s.settle("m1", "m2")
    s.beat("m2", assignor="range", epoch=4, also="+member:m2")
    s.beat("m2", assignor="range", epoch=4, also="")
    s.describe_consumers(state="Stable", epoch=4)


@consumer_story()
def the_default_by_its_name_is_no_other_assignor(s: ConsumerScript) -> None:
    """Who asks for the assignor that is the default anyway changes nothing."""
    s.cluster("orders:4")
    s.gather("m1", "m2")
    s.beat("m1", assignor="uniform", epoch=3, also="+member:m1")
    s.describe_consumers(state="Stable", epoch=3)


@consumer_story()
def the_larger_part_chooses_the_assignor(s: ConsumerScript) -> None:
    """Two of three members change their minds: the second one brings the rebalance."""
    s.cluster("orders:6")
    for name in ("m1", "m2", "m3"):
        s.enter(name, assignor="uniform")
    s.settle("m1", "m2", "m3", rounds=4)
    s.describe_consumers(state="Stable", epoch=4)
    s.beat("m1", assignor="range", epoch=4, also="+member:m1")
    s.beat("m2", assignor="range")
    s.settle("m1", "m2", "m3", rounds=4)
    s.describe_consumers(state="Stable", epoch=5)


@consumer_story()
def one_each_for_two_assignors(s: ConsumerScript) -> None:
    """Kafka counts a tie anew with every heartbeat, and whoever asks alone for an assignor wins it then."""
    s.cluster("orders:4")
    s.enter("m1", assignor="uniform")
    s.enter("m2", assignor="range")
    s.settle("m1", "m2")
    s.look()


@consumer_story()
def a_member_without_a_wish_decides_nothing(s: ConsumerScript) -> None:
    """Its coming and going leaves the assignor to those that ask for one."""
    s.cluster("orders:4")
    s.enter("m1", assignor="range")
    s.enter("m2")
    s.settle("m1", "m2")
    s.describe_consumers(state="Stable", epoch=3)
    s.quit("m1")
    s.beat("m2", epoch=4)
    s.settle("m2")
    s.describe_consumers(state="Stable", epoch=4)


@consumer_story()
def static_members_come_back_with_another_assignor(s: ConsumerScript) -> None:
    """testStaticMembersRejoinWithNewServerAssignor: the copy that makes it the most wanted one brings the rebalance."""
    s.cluster("orders:6")
    for number in "123":
        s.enter(f"m{number}", instance=f"i{number}", assignor="uniform")
    s.settle("m1", "m2", "m3", rounds=4)
    for number in "123":
        s.pause(f"m{number}")
    s.enter("n2", instance="i2", assignor="range", epoch=4)
    s.describe_consumers(epoch=4)
    s.enter("n3", instance="i3", assignor="range", epoch=5)
    s.enter("n1", instance="i1", assignor="range", epoch=5)
    s.settle("n1", "n2", "n3", rounds=4)
    s.describe_consumers(state="Stable", epoch=5)


@consumer_story()
def a_classic_copy_keeps_the_wish(s: ConsumerScript) -> None:
    """The wish goes with the place, and a JoinGroup brings no rebalance."""
    s.cluster("orders:4")
    s.enter("m1", instance="i1", assignor="uniform")
    s.enter("m2", assignor="range")
    s.settle("m1", "m2")
    s.classic("c1", chosen_id=False, instance="i1")
    s.look()


@consumer_story(group_consumer_assignors="range,uniform")
def the_first_assignor_of_the_list_is_the_default(s: ConsumerScript) -> None:
    """Another default, and the one that was it before is another assignor."""
    s.cluster("orders:4")
    s.gather("m1", "m2")
    s.beat("m1", assignor="range", epoch=3, also="+member:m1")
    s.beat("m1", assignor="uniform", epoch=4)
    s.settle("m1", "m2")
    s.describe_consumers(state="Stable", epoch=4)


@consumer_story()
def a_wish_is_never_taken_back(s: ConsumerScript) -> None:
    """A member that comes again and names no assignor still wants the one it named."""
    s.cluster("orders:4")
    s.enter("m1", assignor="range")
    s.enter("m1", epoch=2, also="")
    s.beat("m1", assignor="uniform", epoch=3)
    s.describe_consumers(state="Stable", epoch=3)


@consumer_story(group_consumer_assignment_interval_ms=5_000)
def another_assignor_within_the_interval(s: ConsumerScript) -> None:
    """The epoch grows at once, the target follows when it may."""
    s.cluster("orders:4", "audit:3")
    s.enter("m1", "orders audit", epoch=2)
    s.beat("m1", assignor="range", epoch=2, also="+member:m1 +epoch=3")
    s.describe_consumers(state="Assigning", epoch=3, target_epoch=2)
    s.at(6_000)
    s.ack("m1", epoch=3)


@consumer_story()
def a_classic_copy_of_a_member_with_a_wish(s: ConsumerScript) -> None:
    """A JoinGroup asks for no assignor: a tie is not counted anew with it, as it is with a heartbeat."""
    s.cluster("orders:4")
    s.enter("m1", assignor="uniform")
    s.enter("m2", instance="i1", assignor="range", epoch=3)
    s.pause("m2")
    s.classic("c1", chosen_id=False, instance="i1")
    s.describe_consumers(epoch=3)
