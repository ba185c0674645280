"""Members come and go."""

from __future__ import annotations

import time
from typing import Final

from tests.conformance.live.cluster import LiveCluster
from tests.conformance.live.real_consumer import all_consumed
from tests.conformance.live.real_story import real_story

LEAVING: Final = -1
"""The member epoch of who leaves for good."""


@real_story
def one_member(cluster: LiveCluster) -> None:
    """It gets everything and goes."""
    cluster.topics("orders:4")
    m1 = cluster.consumer("m1", "orders")
    cluster.until_shared((m1, 4))


@real_story
def two_join(cluster: LiveCluster) -> None:
    """The second gets what the first gives up."""
    cluster.topics("orders:4")
    m1 = cluster.consumer("m1", "orders")
    cluster.until_shared((m1, 4))
    m2 = cluster.consumer("m2", "orders")
    cluster.until_shared((m1, 2), (m2, 2))


@real_story
def three_and_one_leaves(cluster: LiveCluster) -> None:
    """What it had is shared by the others."""
    cluster.topics("orders:6")
    m1, m2, m3 = (cluster.consumer(name, "orders") for name in ("m1", "m2", "m3"))
    cluster.until_shared((m1, 2), (m2, 2), (m3, 2))
    m3.close()
    cluster.until_shared((m1, 3), (m2, 3))


@real_story
def a_member_closes_and_another_goes_on(cluster: LiveCluster) -> None:
    """An empty group keeps its offsets for whoever comes."""
    cluster.topics("orders:2")
    m1 = cluster.consumer("m1", "orders")
    cluster.until_shared((m1, 2))
    assert m1.commit("orders-0=5", "orders-1=6") == 0
    m1.close()
    m2 = cluster.consumer("m2", "orders")
    cluster.until_shared((m2, 2))
    assert m2.committed("orders-0", "orders-1") == ["orders-0=5", "orders-1=6"]


@real_story
def a_member_is_killed(cluster: LiveCluster) -> None:
    """Its session ends, and what it had goes to the one that is left."""
    cluster.topics("orders:4")
    cluster.configure("consumer.session.timeout.ms", "3000")
    m1 = cluster.consumer("m1", "orders")
    with cluster.process("m2", "orders") as victim:
        cluster.until_shared((m1, 2))
        cluster.wait(0.5)
        victim.kill()
        victim.wait()
        killed_s = time.monotonic()
    cluster.wait(killed_s + 2.3 - time.monotonic())
    with cluster.silence():
        cluster.until_log_grows()
    cluster.until_shared((m1, 4))


@real_story
def a_pause_longer_than_the_poll_interval(cluster: LiveCluster) -> None:
    """Who did not poll for too long leaves as soon as it does, and comes back with nothing."""
    cluster.topics("orders:4")
    m1 = cluster.consumer("m1", "orders", max_poll_interval_ms=1_000)
    m2 = cluster.consumer("m2", "orders")
    cluster.until_shared((m1, 2), (m2, 2))
    cluster.pause(m1)
    cluster.wait(2.0)
    cluster.resume(m1)
    cluster.until(lambda: LEAVING in cluster.conversation.epochs("m1"))
    cluster.until(lambda: m1.partitions and all_consumed(4, m1, m2))
