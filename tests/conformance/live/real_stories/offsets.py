"""Commits, and what is fetched of them."""

from __future__ import annotations

from typing import Final

from tests.conformance.live.cluster import LiveCluster
from tests.conformance.live.real_story import real_story

UNKNOWN_MEMBER_ID: Final = 25


@real_story
def commits_during_a_rebalance(cluster: LiveCluster) -> None:
    """What is given up is committed first, and others commit what they keep."""
    cluster.topics("orders:6")
    m1 = cluster.consumer("m1", "orders")
    m1.commits_when_revoked = True
    cluster.until_shared((m1, 6))
    m2 = cluster.consumer("m2", "orders")
    m3 = cluster.consumer("m3", "orders")
    cluster.until(lambda: len(m1.partitions) < 6)
    assert m1.commit(f"{m1.partitions[0]}=3") == 0
    cluster.until_shared((m1, 2), (m2, 2), (m3, 2))
    assert m3.commit(*(f"{one}=8" for one in m3.partitions)) == 0


@real_story
def a_commit_after_fencing(cluster: LiveCluster) -> None:
    """A member that was not heard of for too long is none any more, and may not commit; then it comes back."""
    cluster.topics("orders:2")
    cluster.configure("consumer.session.timeout.ms", "2000")
    m1 = cluster.consumer("m1", "orders")
    cluster.until_shared((m1, 2))
    cluster.wait(0.3)
    with cluster.silence():
        cluster.until_log_grows()
        m1.begin_to_commit("orders-0=1")
        cluster.wait(0.3)
    cluster.until(lambda: m1.commits)
    assert m1.commits == [UNKNOWN_MEMBER_ID]
    cluster.wait(0.5)
    cluster.until_shared((m1, 2))
    assert m1.commit("orders-0=2") == 0


@real_story
def offsets_are_fetched(cluster: LiveCluster) -> None:
    """With metadata or without, of partitions that were never committed, of a topic that there is not."""
    cluster.topics("orders:2")
    m1 = cluster.consumer("m1", "orders")
    cluster.until_shared((m1, 2))
    assert m1.commit("orders-0=5") == 0
    assert m1.committed("orders-0", "orders-1") == ["orders-0=5", "orders-1=-1001"]
    assert m1.committed("nowhere-0") == ["nowhere-0=-1001"]


@real_story
def two_groups_at_once(cluster: LiveCluster) -> None:
    """Each has the topic for itself."""
    cluster.topics("orders:4")
    other = f"{cluster.group}.other"
    m1, m2 = (cluster.consumer(name, "orders") for name in ("m1", "m2"))
    o1, o2 = (cluster.consumer(name, "orders", group=other) for name in ("o1", "o2"))
    cluster.until_shared((m1, 2), (m2, 2), (o1, 2), (o2, 2))
    assert m1.commit(f"{m1.partitions[0]}=1") == 0
    assert o1.commit(f"{o1.partitions[0]}=2") == 0
    o1.close()
    cluster.until_shared((m1, 2), (m2, 2), (o2, 4))
