"""The broker's assignors."""

from __future__ import annotations

from tests.conformance.live.cluster import LiveCluster
from tests.conformance.live.real_consumer import all_consumed
from tests.conformance.live.real_story import real_story


@real_story
def the_range_assignor(cluster: LiveCluster) -> None:
    """Three topics of three partitions are shared topic by topic."""
    _share_three_topics(cluster, "range")


@real_story
def the_uniform_assignor(cluster: LiveCluster) -> None:
    """Three topics of three partitions are shared evenly."""
    _share_three_topics(cluster, "uniform")


def _share_three_topics(cluster: LiveCluster, assignor: str) -> None:
    names = ("orders", "audit", "bills")
    cluster.topics(*(f"{name}:3" for name in names))
    m1, m2 = (
        cluster.consumer(name, *names, group_remote_assignor=assignor) for name in ("m1", "m2")
    )
    most, least = (6, 3) if assignor == "range" else (5, 4)
    cluster.until(lambda: sorted((len(m1.partitions), len(m2.partitions))) == [least, most])
    m3 = cluster.consumer("m3", "orders", group_remote_assignor=assignor)
    cluster.until(lambda: all_consumed(9, m1, m2, m3) and m3.partitions)
