"""The broker's assignors."""

from __future__ import annotations

from tests.conformance.live.cluster import Stage
from tests.conformance.live.real_consumer import all_consumed
from tests.conformance.live.real_story import real_story


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
    stage.until(lambda: all_consumed(9, m1, m2, m3) and m3.partitions)
