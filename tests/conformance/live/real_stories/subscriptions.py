"""Subscriptions, and the topics that there are."""

from __future__ import annotations

import time
from typing import Final

from tests.conformance.live.cluster import LiveCluster
from tests.conformance.live.real_consumer import all_consumed
from tests.conformance.live.real_story import real_story

_LOOKED_UP_AGAIN_S: Final = 10.0
"""Regular expressions are not looked up more often, whatever happens to the topics (KIP-848)."""


@real_story
def a_subscription_is_changed(cluster: LiveCluster) -> None:
    """One topic, two, then the other one alone."""
    cluster.topics("orders:2", "audit:2")
    m1 = cluster.consumer("m1", "orders")
    cluster.until_shared((m1, 2))
    m1.subscribe("orders", "audit")
    cluster.until_shared((m1, 4))
    m1.subscribe("audit")
    cluster.until(lambda: m1.partitions == ["audit-0", "audit-1"])


@real_story
def a_regular_expression(cluster: LiveCluster) -> None:
    """The broker looks up the topics of a pattern, once for all who have it; others may name topics."""
    cluster.topics("orders:2", "ordinals:2", "audit:2")
    m1 = cluster.consumer("m1", "^ord.*")
    cluster.until_shared((m1, 4))
    m2 = cluster.consumer("m2", "^ord.*", "audit")
    cluster.until_shared((m1, 3), (m2, 3))
    m1.subscribe("audit")
    cluster.until(lambda: all_consumed(6, m1, m2) and set(m1.partitions) <= {"audit-0", "audit-1"})


@real_story
def a_topic_grows(cluster: LiveCluster) -> None:
    """New partitions are shared too."""
    cluster.topics("orders:2")
    m1, m2 = (cluster.consumer(name, "orders") for name in ("m1", "m2"))
    cluster.until_shared((m1, 1), (m2, 1))
    cluster.topics("orders:4")
    cluster.until_shared((m1, 2), (m2, 2))


@real_story
def a_topic_is_deleted(cluster: LiveCluster) -> None:
    """Its partitions are taken away, its offsets go with it."""
    cluster.topics("orders:2", "audit:2")
    m1 = cluster.consumer("m1", "orders", "audit")
    cluster.until_shared((m1, 4))
    assert m1.commit("orders-0=5", "audit-0=6") == 0
    cluster.topics("orders:2")
    cluster.until(lambda: m1.partitions == ["orders-0", "orders-1"])


@real_story
def a_topic_is_created_for_a_regular_expression(cluster: LiveCluster) -> None:
    """It is found when the patterns are looked up again, and so are those of a new pattern, the broker's own topics too."""
    cluster.topics("orders:2")
    m1 = cluster.consumer("m1", "^ord.*")
    cluster.until_shared((m1, 2))
    looked_up_s = cluster.conversation.first_heard_s("m1")
    cluster.topics("orders:2", "ordinals:2")
    cluster.wait(looked_up_s + _LOOKED_UP_AGAIN_S / 2 - time.monotonic())
    m2 = cluster.consumer("m2", "^.*_offsets$|^ordinals$")
    cluster.wait(looked_up_s + _LOOKED_UP_AGAIN_S - 0.5 - time.monotonic())
    with cluster.silence():
        cluster.wait(looked_up_s + _LOOKED_UP_AGAIN_S + 1.0 - time.monotonic())
    cluster.until(lambda: all_consumed(5, m1, m2))
