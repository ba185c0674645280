"""Stories that real consumers live through; each says what it shows."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Final, TypeAlias

from tests.conformance.real_consumer import RealConsumer
from tests.conformance.stage import Stage

RealStory: TypeAlias = Callable[[Stage], None]

STORIES: Final[dict[str, RealStory]] = {}
UNKNOWN_MEMBER_ID: Final = 25
LEAVING: Final = -1
"""The member epoch of who leaves for good."""
_LOOKED_UP_AGAIN_S: Final = 10.0
"""Regular expressions are not looked up more often, whatever happens to the topics (KIP-848)."""


def real_story(play: RealStory) -> RealStory:
    """Register a function that plays a story."""
    STORIES[play.__name__] = play
    return play


# ---- members come and go ------------------------------------------------------------------------


@real_story
def one_member(stage: Stage) -> None:
    """It gets everything and goes."""
    stage.topics("orders:4")
    m1 = stage.consumer("m1", "orders")
    stage.until_shared((m1, 4))


@real_story
def two_join(stage: Stage) -> None:
    """The second gets what the first gives up."""
    stage.topics("orders:4")
    m1 = stage.consumer("m1", "orders")
    stage.until_shared((m1, 4))
    m2 = stage.consumer("m2", "orders")
    stage.until_shared((m1, 2), (m2, 2))


@real_story
def three_and_one_leaves(stage: Stage) -> None:
    """What it had is shared by the others."""
    stage.topics("orders:6")
    m1, m2, m3 = (stage.consumer(name, "orders") for name in ("m1", "m2", "m3"))
    stage.until_shared((m1, 2), (m2, 2), (m3, 2))
    m3.close()
    stage.until_shared((m1, 3), (m2, 3))


@real_story
def a_member_closes_and_another_goes_on(stage: Stage) -> None:
    """An empty group keeps its offsets for whoever comes."""
    stage.topics("orders:2")
    m1 = stage.consumer("m1", "orders")
    stage.until_shared((m1, 2))
    assert m1.commit("orders-0=5", "orders-1=6") == 0
    m1.close()
    m2 = stage.consumer("m2", "orders")
    stage.until_shared((m2, 2))
    assert m2.committed("orders-0", "orders-1") == ["orders-0=5", "orders-1=6"]


@real_story
def a_member_is_killed(stage: Stage) -> None:
    """Its session ends, and what it had goes to the one that is left."""
    stage.topics("orders:4")
    stage.configure("consumer.session.timeout.ms", "3000")
    m1 = stage.consumer("m1", "orders")
    with stage.process("m2", "orders") as victim:
        stage.until_shared((m1, 2))
        stage.wait(0.5)
        victim.kill()
        victim.wait()
        killed_s = time.monotonic()
    stage.wait(killed_s + 2.3 - time.monotonic())
    with stage.silence():
        stage.until_log_grows()
    stage.until_shared((m1, 4))


@real_story
def a_pause_longer_than_the_poll_interval(stage: Stage) -> None:
    """Who did not poll for too long leaves as soon as it does, and comes back with nothing."""
    stage.topics("orders:4")
    m1 = stage.consumer("m1", "orders", max_poll_interval_ms=1_000)
    m2 = stage.consumer("m2", "orders")
    stage.until_shared((m1, 2), (m2, 2))
    stage.pause(m1)
    stage.wait(2.0)
    stage.resume(m1)
    stage.until(lambda: LEAVING in stage.conversation.epochs("m1"))
    stage.until(lambda: m1.partitions and _all_consumed(4, m1, m2))


# ---- subscriptions and topics -------------------------------------------------------------------


@real_story
def a_subscription_is_changed(stage: Stage) -> None:
    """One topic, two, then the other one alone."""
    stage.topics("orders:2", "audit:2")
    m1 = stage.consumer("m1", "orders")
    stage.until_shared((m1, 2))
    m1.subscribe("orders", "audit")
    stage.until_shared((m1, 4))
    m1.subscribe("audit")
    stage.until(lambda: m1.partitions == ["audit-0", "audit-1"])


@real_story
def a_regular_expression(stage: Stage) -> None:
    """The broker looks up the topics of a pattern, once for all who have it; others may name topics."""
    stage.topics("orders:2", "ordinals:2", "audit:2")
    m1 = stage.consumer("m1", "^ord.*")
    stage.until_shared((m1, 4))
    m2 = stage.consumer("m2", "^ord.*", "audit")
    stage.until_shared((m1, 3), (m2, 3))
    m1.subscribe("audit")
    stage.until(lambda: _all_consumed(6, m1, m2) and set(m1.partitions) <= {"audit-0", "audit-1"})


@real_story
def a_topic_grows(stage: Stage) -> None:
    """New partitions are shared too."""
    stage.topics("orders:2")
    m1, m2 = (stage.consumer(name, "orders") for name in ("m1", "m2"))
    stage.until_shared((m1, 1), (m2, 1))
    stage.topics("orders:4")
    stage.until_shared((m1, 2), (m2, 2))


@real_story
def a_topic_is_deleted(stage: Stage) -> None:
    """Its partitions are taken away, its offsets go with it."""
    stage.topics("orders:2", "audit:2")
    m1 = stage.consumer("m1", "orders", "audit")
    stage.until_shared((m1, 4))
    assert m1.commit("orders-0=5", "audit-0=6") == 0
    stage.topics("orders:2")
    stage.until(lambda: m1.partitions == ["orders-0", "orders-1"])


@real_story
def a_topic_is_created_for_a_regular_expression(stage: Stage) -> None:
    """It is found when the patterns are looked up again, and so are those of a new pattern, the broker's own topics too."""
    stage.topics("orders:2")
    m1 = stage.consumer("m1", "^ord.*")
    stage.until_shared((m1, 2))
    looked_up_s = time.monotonic()
    stage.topics("orders:2", "ordinals:2")
    stage.wait(_LOOKED_UP_AGAIN_S / 2)
    m2 = stage.consumer("m2", "^.*_offsets$|^ordinals$")
    stage.wait(looked_up_s + _LOOKED_UP_AGAIN_S - 0.5 - time.monotonic())
    with stage.silence():
        stage.wait(looked_up_s + _LOOKED_UP_AGAIN_S + 0.2 - time.monotonic())
    stage.until(lambda: _all_consumed(5, m1, m2))


# ---- static members -----------------------------------------------------------------------------


@real_story
def a_static_member_leaves_and_returns(stage: Stage) -> None:
    """What it had waits for it."""
    stage.topics("orders:4")
    m1 = stage.consumer("m1", "orders")
    m2 = stage.consumer("m2", "orders", group_instance_id="i2")
    stage.until_shared((m1, 2), (m2, 2))
    had = m2.partitions
    m2.close()
    stage.wait(0.5)
    assert len(m1.partitions) == 2
    m3 = stage.consumer("m3", "orders", group_instance_id="i2")
    stage.until(lambda: m3.partitions == had)


@real_story
def a_static_member_is_not_replaced_while_it_is_there(stage: Stage) -> None:
    """The second one of its instance id is refused."""
    stage.topics("orders:2")
    m1 = stage.consumer("m1", "orders", group_instance_id="i1")
    stage.until_shared((m1, 2))
    m2 = stage.consumer("m2", "orders", group_instance_id="i1")
    stage.until(lambda: m2.errors)
    stage.wait(0.3)
    assert len(m1.partitions) == 2


# ---- assignors ----------------------------------------------------------------------------------


@real_story
def the_range_assignor(stage: Stage) -> None:
    """Three topics of three partitions are shared topic by topic."""
    _share_three_topics(stage, "range")


@real_story
def the_uniform_assignor(stage: Stage) -> None:
    """Three topics of three partitions are shared evenly."""
    _share_three_topics(stage, "uniform")


def _share_three_topics(stage: Stage, assignor: str) -> None:
    names = ("orders", "audit", "bills")
    stage.topics(*(f"{name}:3" for name in names))
    m1, m2 = (stage.consumer(name, *names, group_remote_assignor=assignor) for name in ("m1", "m2"))
    most, least = (6, 3) if assignor == "range" else (5, 4)
    stage.until(lambda: sorted((len(m1.partitions), len(m2.partitions))) == [least, most])
    m3 = stage.consumer("m3", "orders", group_remote_assignor=assignor)
    stage.until(lambda: _all_consumed(9, m1, m2, m3) and m3.partitions)


# ---- offsets ------------------------------------------------------------------------------------


@real_story
def commits_during_a_rebalance(stage: Stage) -> None:
    """What is given up is committed first, and others commit what they keep."""
    stage.topics("orders:6")
    m1 = stage.consumer("m1", "orders")
    m1.commits_when_revoked = True
    stage.until_shared((m1, 6))
    m2 = stage.consumer("m2", "orders")
    m3 = stage.consumer("m3", "orders")
    stage.until(lambda: len(m1.partitions) < 6)
    assert m1.commit(f"{m1.partitions[0]}=3") == 0
    stage.until_shared((m1, 2), (m2, 2), (m3, 2))
    assert m3.commit(*(f"{one}=8" for one in m3.partitions)) == 0


@real_story
def a_commit_after_fencing(stage: Stage) -> None:
    """A member that was not heard of for too long is none any more, and may not commit; then it comes back."""
    stage.topics("orders:2")
    stage.configure("consumer.session.timeout.ms", "2000")
    m1 = stage.consumer("m1", "orders")
    stage.until_shared((m1, 2))
    stage.wait(0.3)
    with stage.silence():
        stage.until_log_grows()
        m1.begin_to_commit("orders-0=1")
        stage.wait(0.3)
    stage.until(lambda: m1.commits)
    assert m1.commits == [UNKNOWN_MEMBER_ID]
    stage.wait(0.5)
    stage.until_shared((m1, 2))
    assert m1.commit("orders-0=2") == 0


@real_story
def offsets_are_fetched(stage: Stage) -> None:
    """With metadata or without, of partitions that were never committed, of a topic that there is not."""
    stage.topics("orders:2")
    m1 = stage.consumer("m1", "orders")
    stage.until_shared((m1, 2))
    assert m1.commit("orders-0=5") == 0
    assert m1.committed("orders-0", "orders-1") == ["orders-0=5", "orders-1=-1001"]
    assert m1.committed("nowhere-0") == ["nowhere-0=-1001"]


@real_story
def two_groups_at_once(stage: Stage) -> None:
    """Each has the topic for itself."""
    stage.topics("orders:4")
    other = f"{stage.group}.other"
    m1, m2 = (stage.consumer(name, "orders") for name in ("m1", "m2"))
    o1, o2 = (stage.consumer(name, "orders", group=other) for name in ("o1", "o2"))
    stage.until_shared((m1, 2), (m2, 2), (o1, 2), (o2, 2))
    assert m1.commit(f"{m1.partitions[0]}=1") == 0
    assert o1.commit(f"{o1.partitions[0]}=2") == 0
    o1.close()
    stage.until_shared((m1, 2), (m2, 2), (o2, 4))


# ---- both protocols -----------------------------------------------------------------------------


@real_story
def a_classic_group_is_upgraded(stage: Stage) -> None:
    """Member by member, and nobody stops."""
    stage.topics("orders:4")
    c1, c2 = (
        stage.classic(name, "orders", partition_assignment_strategy="range")
        for name in ("c1", "c2")
    )
    stage.until_shared((c1, 2), (c2, 2))
    m1 = stage.consumer("m1", "orders")
    stage.until(lambda: _all_consumed(4, c1, c2, m1) and m1.partitions)
    c1.close()
    m2 = stage.consumer("m2", "orders")
    stage.until(lambda: _all_consumed(4, c2, m1, m2) and m2.partitions)
    c2.close()
    stage.until_shared((m1, 2), (m2, 2))


@real_story
def an_assignor_that_only_clients_know_is_not_upgraded(stage: Stage) -> None:
    """A sticky member that had partitions when it last joined says so in user data: the broker does not take its place."""
    stage.topics("orders:4")
    c1 = stage.classic("c1", "orders", partition_assignment_strategy="cooperative-sticky")
    stage.until_shared((c1, 4))
    c2 = stage.classic("c2", "orders", partition_assignment_strategy="cooperative-sticky")
    stage.until_shared((c1, 2), (c2, 2))
    m1 = stage.consumer("m1", "orders")
    stage.until(lambda: m1.errors)
    stage.until_shared((c1, 2), (c2, 2))


@real_story
def a_consumer_group_is_downgraded(stage: Stage) -> None:
    """The last member of the new protocol goes, and a classic group is what stays."""
    stage.topics("orders:4")
    m1, m2 = (stage.consumer(name, "orders") for name in ("m1", "m2"))
    stage.until_shared((m1, 2), (m2, 2))
    c1 = stage.classic("c1", "orders", partition_assignment_strategy="cooperative-sticky")
    stage.until(lambda: _all_consumed(4, m1, m2, c1) and c1.partitions)
    m1.close()
    c2 = stage.classic("c2", "orders", partition_assignment_strategy="cooperative-sticky")
    stage.until(lambda: _all_consumed(4, m2, c1, c2) and c2.partitions)
    m2.close()
    stage.until_shared((c1, 2), (c2, 2))
    assert c1.commit(f"{c1.partitions[0]}=9") == 0


@real_story
def a_mixed_group_commits(stage: Stage) -> None:
    """Members of both protocols commit, each with its own epoch or generation, and fetch what the other committed."""
    stage.topics("orders:4")
    c1 = stage.classic("c1", "orders", partition_assignment_strategy="range")
    stage.until_shared((c1, 4))
    m1 = stage.consumer("m1", "orders")
    stage.until_shared((c1, 2), (m1, 2))
    assert c1.commit(*(f"{one}=3" for one in c1.partitions)) == 0
    assert m1.commit(*(f"{one}=4" for one in m1.partitions)) == 0
    assert m1.committed(c1.partitions[0]) == [f"{c1.partitions[0]}=3"]
    assert c1.committed(m1.partitions[0]) == [f"{m1.partitions[0]}=4"]


def _all_consumed(count: int, *consumers: RealConsumer) -> bool:
    """Whether these consume so many partitions, none of them twice."""
    found = [partition for one in consumers for partition in one.partitions]
    return len(found) == len(set(found)) == count
