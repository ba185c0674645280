"""Members come and go."""

from __future__ import annotations

import time
from typing import Final

from tests.conformance.live.cluster import Stage
from tests.conformance.live.real_consumer import all_consumed
from tests.conformance.live.real_story import real_story

LEAVING: Final = -1
"""The member epoch of who leaves for good."""


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
    stage.until(lambda: m1.partitions and all_consumed(4, m1, m2))
