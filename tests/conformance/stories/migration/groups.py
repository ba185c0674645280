"""Groups that stories of migrations begin with."""

from __future__ import annotations

from tests.conformance.language.consumer_script import ConsumerScript
from tests.conformance.language.lines import PARKED

REBALANCE = 27


def lead_classic_group(s: ConsumerScript, assignments: dict[str, str], **others: object) -> None:
    """Make a Stable classic group of these members, the first its leader, with what each gets."""
    for name in assignments:
        s.classic(name, version=3, chosen_id=False, error=PARKED, **others)
    if len(assignments) > 1:
        s.at(4_000)
    s.at(7_000 if len(assignments) > 1 else 4_000, " ".join(["JoinGroup=0"] * len(assignments)))
    leader, *followers = assignments
    for name in followers:
        s.synced(name, error=PARKED)
    also = " ".join(["+group"] + ["SyncGroup=0"] * len(followers))
    s.lead(leader, assignments, also=also)


def mix(s: ConsumerScript, topics: str = "orders", **others: object) -> None:
    """Make a Stable consumer group of a consumer m1 and a classic member c1, epoch 3."""
    s.enter("m1", topics, rebalance=20_000)
    s.classic("c1", topics, **others)
    s.synced("c1")
    s.settle("m1")
    s.heartbeat("c1", "#c1", error=REBALANCE)
    s.classic("c1", topics, **others)
    s.synced("c1")
