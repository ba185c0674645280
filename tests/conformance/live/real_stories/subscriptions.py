"""Subscriptions, and the topics that there are."""

from __future__ import annotations

import time
from typing import Final

from tests.conformance.live.cluster import Stage
from tests.conformance.live.real_consumer import all_consumed
from tests.conformance.live.real_story import real_story

_LOOKED_UP_AGAIN_S: Final = 10.0
"""Regular expressions are not looked up more often, whatever happens to the topics (KIP-848)."""


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
    stage.until(lambda: all_consumed(6, m1, m2) and set(m1.partitions) <= {"audit-0", "audit-1"})


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
    stage.until(lambda: all_consumed(5, m1, m2))
