"""Static members."""

from __future__ import annotations

from tests.conformance.live.cluster import LiveCluster
from tests.conformance.live.real_story import real_story


@real_story
def a_static_member_leaves_and_returns(cluster: LiveCluster) -> None:
    """What it had waits for it."""
    cluster.topics("orders:4")
    m1 = cluster.consumer("m1", "orders")
    m2 = cluster.consumer("m2", "orders", group_instance_id="i2")
    cluster.until_shared((m1, 2), (m2, 2))
    had = m2.partitions
    m2.close()
    cluster.wait(0.5)
    assert len(m1.partitions) == 2
    m3 = cluster.consumer("m3", "orders", group_instance_id="i2")
    cluster.until(lambda: m3.partitions == had)


@real_story
def a_static_member_is_not_replaced_while_it_is_there(cluster: LiveCluster) -> None:
    """The second one of its instance id is refused."""
    cluster.topics("orders:2")
    m1 = cluster.consumer("m1", "orders", group_instance_id="i1")
    cluster.until_shared((m1, 2))
    m2 = cluster.consumer("m2", "orders", group_instance_id="i1")
    cluster.until(lambda: m2.errors)
    cluster.wait(0.3)
    assert len(m1.partitions) == 2
