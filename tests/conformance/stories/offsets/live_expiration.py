"""Expiration of what a live group has (KIP-211, KIP-496)."""

from __future__ import annotations

from tests.conformance.language.lines import PARKED
from tests.conformance.language.script import Script
from tests.conformance.language.story import story


@story(offsets_retention_ms=60_000, offsets_retention_check_interval_ms=1_000)
def a_subscribed_topic_never_expires(s: Script) -> None:
    """KIP-211: while the group is live, whatever the times, even past an explicit expiry."""
    s.form("m1", session=1_800_000)
    s.commit("orders-0=1", member="m1", generation=1)
    s.commit("orders-1=1", member="m1", generation=1, version=2, retention=1_000)
    s.at(600_000)
    s.fetch()


@story(offsets_retention_ms=60_000, offsets_retention_check_interval_ms=1_000)
def an_unsubscribed_topic_expires_by_its_commit(s: Script) -> None:
    """KIP-496: the offsets of a topic that a live group no longer reads."""
    s.form("m1", topics="orders audit", session=1_800_000)
    s.commit("orders-0=1", "audit-0=1", "audit-1=1", member="m1", generation=1)
    s.at(10_000)
    s.commit("audit-1=2", member="m1", generation=1)
    s.at(100_000)
    s.join("m1", topics="orders", session=1_800_000, also="")
    s.at(101_000)
    s.sync("m1", 2, {"m1": b"all"})
    s.at(102_000, "-offset:audit-0 -offset:audit-1")
    s.commit("audit-2=1", member="m1", generation=2)
    s.at(161_999)
    s.at(162_000, "-offset:audit-2")
    s.look()


@story(offsets_retention_ms=60_000, offsets_retention_check_interval_ms=1_000)
def a_live_group_that_lost_its_last_offset_stays(s: Script) -> None:
    """Only an Empty group is removed."""
    s.form("m1", topics="orders", session=1_800_000)
    s.commit("audit-0=1", member="m1", generation=1)
    s.at(63_000, "-offset:audit-0")
    s.at(200_000)
    s.describe()


@story(offsets_retention_ms=60_000, offsets_retention_check_interval_ms=1_000)
def nothing_expires_during_a_rebalance(s: Script) -> None:
    """KAFKA-13636: PreparingRebalance and CompletingRebalance hold every offset."""
    s.join("m1", version=3, session=1_800_000, rebalance=120_000, error=PARKED)
    s.at(3_000, "JoinGroup=0")
    s.sync("m1", 1, {"m1": b"all"})
    s.commit("audit-0=1", member="m1", generation=1)
    s.commit("audit-1=1", member="m1", generation=1, version=2, retention=0)
    s.join("m2", version=3, session=1_800_000, rebalance=120_000, error=PARKED)
    s.at(70_000)
    s.fetch()
    s.join("m1", version=3, session=1_800_000, rebalance=120_000, also="JoinGroup=0")
    s.at(110_000)
    s.fetch()
    s.sync_all("m1", "m2", generation=2)
    s.at(111_000, "-offset:audit-0 -offset:audit-1")


@story(offsets_retention_ms=60_000, offsets_retention_check_interval_ms=1_000)
def unknown_subscriptions_hold_every_offset(s: Script) -> None:
    """A member whose subscription cannot be read might read anything."""
    s.join("m1", version=3, protocols={"range": b""}, session=600_000, error=PARKED)
    s.at(3_000, "JoinGroup=0")
    s.sync("m1", 1, {"m1": b"all"})
    s.commit("audit-0=1", member="m1", generation=1)
    s.commit("audit-1=1", member="m1", generation=1, version=2, retention=0)
    s.at(500_000)
    s.fetch()
    s.leave("m1", also="+group")
    s.at(501_000, "-offset:audit-1")
    s.at(560_000, "-offset:audit-0 -group")


@story(offsets_retention_ms=60_000, offsets_retention_check_interval_ms=1_000)
def a_live_group_of_another_kind_holds_every_offset(s: Script) -> None:
    """KIP-211 for e.g. Connect: nothing expires until it is Empty, then all by that time."""
    s.join("m1", version=3, protocol_type="connect", session=600_000, error=PARKED)
    s.at(3_000, "JoinGroup=0")
    s.sync("m1", 1, {"m1": b"all"}, protocol_type="connect")
    s.commit("status-0=1", member="m1", generation=1)
    s.at(500_000)
    s.leave("m1", also="+group")
    s.at(559_999)
    s.at(560_000, "-offset:status-0 -group")


@story(offsets_retention_ms=60_000, offsets_retention_check_interval_ms=10_000)
def several_groups_in_one_sweep(s: Script) -> None:
    """Each by its own rule, all at the same point of the grid."""
    simple, former, live = s.other("simple"), s.other("former"), s.other("live")
    for group, name in ((former, "m1"), (live, "m2")):
        group.join(name, version=3, topics="orders", session=600_000, error=PARKED)
    s.at(3_000, "JoinGroup=0 JoinGroup=0")
    former.sync("m1", 1, {"m1": b"all"})
    live.sync("m2", 1, {"m2": b"all"})
    former.commit("orders-0=1", "audit-0=1", member="m1", generation=1)
    live.commit("orders-0=1", "audit-0=1", member="m2", generation=1)
    simple.commit("orders-0=1", "audit-0=1")
    s.at(6_000)
    former.leave("m1", also="+group")
    s.at(
        70_000,
        "-offset:orders-0 -offset:audit-0 -group "
        "-offset:orders-0 -offset:audit-0 -group "
        "-offset:audit-0",
    )
    live.fetch()
