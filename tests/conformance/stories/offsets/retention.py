"""Retention: the settings, the grid, and the times that requests bring (KIP-211)."""

from __future__ import annotations

from tests.conformance.language.script import Script
from tests.conformance.language.story import story

DAY = 86_400_000


@story(offsets_retention_ms=60_000, offsets_retention_check_interval_ms=10_000)
def expiry_happens_on_a_grid(s: Script) -> None:
    """offsets.retention.check.interval.ms: due at 61,234, done at 70,000."""
    s.at(1_234)
    s.commit("orders-0=1")
    s.at(10_000)
    s.commit("orders-1=1")
    s.at(61_234)
    s.at(69_999)
    s.fetch()
    s.at(70_000, "-offset:orders-0 -offset:orders-1 -group")


@story(offsets_retention_ms=60_000, offsets_retention_check_interval_ms=10_000)
def the_grid_starts_at_the_epoch(s: Script) -> None:
    """Not at the first event: here 7,777 on a grid of 10,000."""
    s.at(7_777)
    s.commit("orders-0=1")
    s.at(67_777)
    s.at(70_000, "-offset:orders-0 -group")


@story(offsets_retention_ms=0, offsets_retention_check_interval_ms=10_000)
def no_retention_at_all(s: Script) -> None:
    """A retention of 0: gone at the next sweep."""
    s.commit("orders-0=1")
    s.at(9_999)
    s.commit("orders-1=1")
    s.at(10_000, "-offset:orders-0 -offset:orders-1 -group")


@story()
def a_week_and_ten_minutes_by_default(s: Script) -> None:
    """offsets.retention.minutes = 10,080, offsets.retention.check.interval.ms = 600,000."""
    s.at(1)
    s.commit("orders-0=1")
    s.at(7 * DAY)
    s.fetch("orders-0")
    s.at(7 * DAY + 599_999)
    s.at(7 * DAY + 600_000, "-offset:orders-0 -group")


@story(offsets_retention_minutes=1, offsets_retention_check_interval_ms=500)
def retention_in_minutes(s: Script) -> None:
    """offsets.retention.minutes, Kafka's own setting."""
    s.at(250)
    s.commit("orders-0=1")
    s.at(60_250)
    s.at(60_500, "-offset:orders-0 -group")


@story(offsets_retention_ms=60_000, offsets_retention_check_interval_ms=1_000)
def an_explicit_expiry_decides_alone(s: Script) -> None:
    """KIP-211: v2 to v4 with a retention time, shorter and longer than the coordinator's."""
    s.commit("orders-0=1", version=2, retention=5_000)
    s.commit("orders-1=1", version=3, retention=100_000)
    s.commit("orders-2=1", version=4)
    s.at(4_999)
    s.at(5_000, "-offset:orders-0")
    s.at(60_000, "-offset:orders-2")
    s.at(99_999)
    s.at(100_000, "-offset:orders-1 -group")


@story(offsets_retention_ms=60_000, offsets_retention_check_interval_ms=1_000)
def an_explicit_expiry_and_a_group_that_becomes_empty(s: Script) -> None:
    """The clock of the Empty group does not touch an offset with an expiry of its own."""
    s.form("m1")
    s.commit("orders-0=1", member="m1", generation=1, version=4, retention=2_000)
    s.commit("orders-1=1", member="m1", generation=1, version=4, retention=90_000)
    s.commit("orders-2=1", member="m1", generation=1, version=4)
    s.at(5_000)
    s.at(12_000)
    s.leave("m1", also="+group")
    s.at(13_000, "-offset:orders-0")
    s.at(72_000, "-offset:orders-2")
    s.at(93_000, "-offset:orders-1 -group")


@story(offsets_retention_ms=60_000, offsets_retention_check_interval_ms=1_000)
def a_later_commit_lifts_an_explicit_expiry(s: Script) -> None:
    """The last record counts: without a retention time it is the coordinator's again."""
    s.commit("orders-0=1", version=2, retention=5_000)
    s.commit("orders-1=1", version=2, retention=0)
    s.at(500)
    s.commit("orders-0=2", version=8)
    s.at(1_000, "-offset:orders-1")
    s.at(60_499)
    s.at(61_000, "-offset:orders-0 -group")


@story(offsets_retention_ms=60_000, offsets_retention_check_interval_ms=1_000)
def a_retention_below_zero_may_leave_no_expiry(s: Script) -> None:
    """Where the time to expire is -1, Kafka reads its own record as one without."""
    s.at(5_000)
    s.commit("orders-0=1", version=2, retention=-5_001)
    s.commit("orders-1=1", version=2, retention=-5_002)
    s.commit("orders-2=1", version=2, retention=-5_000)
    s.at(6_000, "-offset:orders-1 -offset:orders-2")
    s.at(64_999)
    s.at(65_000, "-offset:orders-0 -group")
