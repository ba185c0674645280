"""Static members."""

from __future__ import annotations

from tests.conformance.live.cluster import Stage
from tests.conformance.live.real_story import real_story


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
