"""Topics that come, go and come again: what the cluster's metadata does to offsets."""

from __future__ import annotations

from tests.conformance.language.lines import PARKED
from tests.conformance.language.script import Script
from tests.conformance.language.story import story


@story()
def offsets_go_with_their_topic(s: Script) -> None:
    """testOnTopicsDeletedWithMatchingTopicId: in every group, in every state, without retention."""
    s.cluster("orders:2", "audit:1")
    simple, former, live = s.other("simple"), s.other("former"), s.other("live")
    simple.commit("orders-0=1", "orders-1=1", "audit-0=1")
    for group, name in ((former, "m1"), (live, "m2")):
        group.join(name, version=3, topics="orders", error=PARKED)
    s.at(3_000, "JoinGroup=0 JoinGroup=0")
    former.sync("m1", 1, {"m1": b"all"})
    live.sync("m2", 1, {"m2": b"all"})
    former.commit("orders-0=1", "audit-0=1", member="m1", generation=1)
    live.commit("orders-0=1", "audit-0=1", member="m2", generation=1)
    former.leave("m1")
    s.at(5_000)
    s.cluster(
        "audit:1",
        also="-offset:orders-0 -offset:orders-1 -offset:orders-0 -offset:orders-0",
    )
    live.heartbeat("m2", 1)
    for group in (simple, former, live):
        group.fetch(version=9)
        group.look()


@story()
def offsets_from_before_the_ids_go_too(s: Script) -> None:
    """testOnTopicsDeletedWithZeroTopicId: no id is stored where topics were not known."""
    s.commit("orders-0=1")
    s.commit("orders-1=1", version=4, retention=100_000)
    s.cluster("orders:2")
    s.commit("orders-0=2", also="+offset:orders-0")
    s.cluster(also="-offset:orders-0 -offset:orders-1")


@story()
def a_topic_that_is_made_again(s: Script) -> None:
    """testFetchOffsetsWithRecreatedTopic: a new id, and nothing committed."""
    s.cluster("orders:2")
    s.commit("orders-0=1", version=10)
    s.cluster("orders#2:2", also="-offset:orders-0")
    s.fetch("orders-0", version=9)
    s.fetch("orders-0", version=10, error=(0, 100))
    s.fetch("orders#2-0", version=10)
    s.commit("orders-0=2", version=10, error=100, also="")
    s.commit("orders#2-0=3", version=10, also="+offset:orders-0")
    s.fetch(version=10)
    s.fetch("orders-0", version=8)


@story()
def offsets_of_another_incarnation_stay(s: Script) -> None:
    """testOnTopicsDeletedWithMixedTopicIds."""
    s.commit("orders-0=1")
    s.cluster("orders:3")
    s.commit("orders-1=1")
    s.cluster("orders:3", "audit:1")
    s.cluster("audit:1", also="-offset:orders-0 -offset:orders-1")
    s.commit("orders-2=1", error=3)
    s.cluster("orders#2:3", "audit:1")
    s.commit("orders-2=1", also="+offset:orders-2")
    s.fetch(version=9)


@story()
def more_partitions_and_more_topics(s: Script) -> None:
    """Nothing happens to offsets; what was unknown is known."""
    s.cluster("orders:1")
    s.commit("orders-1=1", error=3)
    s.cluster("orders:2", "audit:1")
    s.commit("orders-1=1", "audit-0=1", also="+offset:orders-1 +offset:audit-0")
    s.cluster("orders:2", "audit:1")


@story(offsets_retention_check_interval_ms=5_000)
def a_group_that_lost_its_last_topic_goes_at_the_sweep(s: Script) -> None:
    """Topic deletion leaves an Empty group without offsets: the next sweep takes it."""
    s.cluster("orders:1")
    s.commit("orders-0=1")
    s.at(1_000)
    s.cluster(also="-offset:orders-0")
    s.look()
    s.at(5_000, "-group")


@story()
def a_group_that_learns_of_topics_later(s: Script) -> None:
    """Every group knows the cluster's topics, also one that is made after they were told."""
    s.cluster("orders:1")
    s.at(1_000)
    late = s.other("late")
    late.commit("orders-0=1", also="+offset:orders-0")
    late.commit("orders-1=1", error=3)
    late.delete_offsets("orders-1", error=(0, 3))
    late.delete()
    late.commit("nope-0=1", error=3)
    late.commit("orders-0=1", also="+offset:orders-0")


@story(offsets_retention_ms=60_000, offsets_retention_check_interval_ms=1_000)
def a_group_that_comes_again_knows_the_topics(s: Script) -> None:
    """Whatever ended the group before: expiry, or an administrator."""
    s.cluster("orders:1")
    s.commit("orders-0=1")
    s.at(60_000, "-offset:orders-0 -group")
    s.commit("orders-0=1", "nope-0=1", error=(0, 3))
    s.delete()
    s.commit("orders-0=1", "nope-0=1", error=(0, 3))


@story()
def events_of_the_system_are_not_answered(s: Script) -> None:
    """A Tick is just time; it changes nothing and is answered by nobody."""
    s.commit("orders-0=1")
    s.other("").silent().send("Tick", 0, {}, also="")
    s.look()
