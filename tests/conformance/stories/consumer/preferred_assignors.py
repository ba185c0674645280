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
