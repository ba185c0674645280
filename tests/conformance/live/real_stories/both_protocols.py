"""Groups with members of both protocols, and those that go from one to the other."""

from __future__ import annotations

from tests.conformance.live.cluster import LiveCluster
from tests.conformance.live.real_consumer import all_consumed
from tests.conformance.live.real_story import real_story


@real_story
def a_classic_group_is_upgraded(cluster: LiveCluster) -> None:
    """Member by member, and nobody stops."""
    cluster.topics("orders:4")
    c1, c2 = (
        cluster.classic(name, "orders", partition_assignment_strategy="range")
        for name in ("c1", "c2")
    )
    cluster.until_shared((c1, 2), (c2, 2))
    m1 = cluster.consumer("m1", "orders")
    cluster.until(lambda: all_consumed(4, c1, c2, m1) and m1.partitions)
    c1.close()
    m2 = cluster.consumer("m2", "orders")
    cluster.until(lambda: all_consumed(4, c2, m1, m2) and m2.partitions)
    c2.close()
    cluster.until_shared((m1, 2), (m2, 2))


@real_story
def an_assignor_that_only_clients_know_is_not_upgraded(cluster: LiveCluster) -> None:
    """A sticky member that had partitions when it last joined says so in user data: the broker does not take its place."""
    cluster.topics("orders:4")
    c1 = cluster.classic("c1", "orders", partition_assignment_strategy="cooperative-sticky")
    cluster.until_shared((c1, 4))
    c2 = cluster.classic("c2", "orders", partition_assignment_strategy="cooperative-sticky")
    cluster.until_shared((c1, 2), (c2, 2))
    m1 = cluster.consumer("m1", "orders")
    cluster.until(lambda: m1.errors)
    cluster.until_shared((c1, 2), (c2, 2))


@real_story
def a_consumer_group_is_downgraded(cluster: LiveCluster) -> None:
    """The last member of the new protocol goes, and a classic group is what stays."""
    cluster.topics("orders:4")
    m1, m2 = (cluster.consumer(name, "orders") for name in ("m1", "m2"))
    cluster.until_shared((m1, 2), (m2, 2))
    c1 = cluster.classic("c1", "orders", partition_assignment_strategy="cooperative-sticky")
    cluster.until(lambda: all_consumed(4, m1, m2, c1) and c1.partitions)
    m1.close()
    c2 = cluster.classic("c2", "orders", partition_assignment_strategy="cooperative-sticky")
    cluster.until(lambda: all_consumed(4, m2, c1, c2) and c2.partitions)
    m2.close()
    cluster.until_shared((c1, 2), (c2, 2))
    assert c1.commit(f"{c1.partitions[0]}=9") == 0


@real_story
def a_mixed_group_commits(cluster: LiveCluster) -> None:
    """Members of both protocols commit, each with its own epoch or generation, and fetch what the other committed."""
    cluster.topics("orders:4")
    c1 = cluster.classic("c1", "orders", partition_assignment_strategy="range")
    cluster.until_shared((c1, 4))
    m1 = cluster.consumer("m1", "orders")
    cluster.until_shared((c1, 2), (m1, 2))
    assert c1.commit(*(f"{one}=3" for one in c1.partitions)) == 0
    assert m1.commit(*(f"{one}=4" for one in m1.partitions)) == 0
    assert m1.committed(c1.partitions[0]) == [f"{c1.partitions[0]}=3"]
    assert c1.committed(m1.partitions[0]) == [f"{m1.partitions[0]}=4"]
