"""What members of a consumer group hold, give back and wait for until each has its target."""

from __future__ import annotations

from tests.conformance.consumer_script import UNCHANGED, ConsumerScript
from tests.conformance.story import consumer_story


@consumer_story()
def first_member_gets_everything(s: ConsumerScript) -> None:
    """testMemberJoinsEmptyConsumerGroup: epoch 2, as a new group begins with epoch 1."""
    s.cluster("orders:4")
    s.enter(
        "m1",
        tells=2,
        gets="orders:0123",
        gives="+member:m1 +epoch=2 +target:m1 +targets=2 +current:m1",
    )
    s.describe_consumers(
        state="Stable", epoch=2, target_epoch=2, holds={"m1": "orders:0123"}
    )
    s.ack("m1", tells=2, gets=UNCHANGED, gives="")
    s.look()


@consumer_story(group_consumer_assignment_interval_ms=0)
def second_member_waits_for_what_the_first_gives_back(s: ConsumerScript) -> None:
    """testReconciliationProcess: revoke, acknowledge, assign."""
    s.cluster("orders:4")
    s.enter("m1", gets="orders:0123")
    s.enter("m2", tells=3, gets="")
    s.describe_consumers(state="Reconciling", epoch=3, holds={"m1": "orders:0123", "m2": ""})
    s.beat("m1")
    s.ack("m1")
    s.beat("m2")
    s.ack("m1")
    s.beat("m2")
    s.describe_consumers(state="Stable")
