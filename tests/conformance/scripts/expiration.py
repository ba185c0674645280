"""Expiration of offsets and groups (KIP-211; KIP-496 for the topics of a live group)."""

from __future__ import annotations

from tests.conformance.lines import PARKED
from tests.conformance.script import Script, story

DAY = 86_400_000


@story(offsets_retention_ms=60_000, offsets_retention_check_interval_ms=1_000)
def an_empty_group_expires_by_the_time_it_became_empty(s: Script) -> None:
    """KIP-211: not by the times of its commits; offsets and group go together."""
    s.form("m1")
    s.commit("orders-0=1", "orders-1=2", member="m1", generation=1)
    s.at(8_000)
    s.heartbeat("m1", 1)
    s.at(12_000)
    s.leave("m1", gives="+group")
    s.at(63_000)
    s.at(71_999)
    s.fetch()
    s.at(72_000, "-offset:orders-0 -offset:orders-1 -group")
    s.look()
    s.describe(error=69)


@story(offsets_retention_ms=60_000, offsets_retention_check_interval_ms=1_000)
def a_lapsed_group_expires_from_its_lapse(s: Script) -> None:
    """The session ended at 13,000, seen or not: one line tells the whole end."""
    s.form("m1")
    s.commit("orders-0=1", member="m1", generation=1)
    s.at(DAY, "+group -offset:orders-0 -group")


@story(offsets_retention_ms=60_000, offsets_retention_check_interval_ms=1_000)
def a_commit_to_an_empty_group_prolongs_nothing(s: Script) -> None:
    """The group's clock rules: even the newest offset goes with the others."""
    s.form("m1")
    s.commit("orders-0=1", member="m1", generation=1)
    s.leave("m1", gives="+group")
    s.at(62_000)
    s.commit("orders-0=2", "orders-1=1", gives="+offset:orders-0 +offset:orders-1")
    s.at(62_999)
    s.at(63_000, "-offset:orders-0 -offset:orders-1 -group")


@story(offsets_retention_ms=60_000, offsets_retention_check_interval_ms=1_000)
def a_simple_group_expires_offset_by_offset(s: Script) -> None:
    """KIP-211: every offset by its own last commit; the group goes with the last one."""
    s.commit("orders-0=1", "orders-1=1")
    s.at(30_000)
    s.commit("orders-1=2")
    s.at(59_999)
    s.at(60_000, "-offset:orders-0")
    s.look()
    s.at(89_999)
    s.at(90_000, "-offset:orders-1 -group")
    s.look()


@story(offsets_retention_ms=60_000, offsets_retention_check_interval_ms=1_000)
def coming_back_resets_the_clock(s: Script) -> None:
    """KIP-211: a group that gets members again before its time keeps everything."""
    s.form("m1")
    s.commit("orders-0=1", member="m1", generation=1)
    s.leave("m1")
    s.at(62_000)
    s.join("m2", session=300_000, error=79)
    s.join("m2", session=300_000, error=PARKED)
    s.at(65_000, "JoinGroup=0")
    s.sync("m2", 3, {"m2": b"all"})
    s.at(200_000)
    s.leave("m2", gives="+group")
    s.at(259_999)
    s.fetch("orders-0")
    s.at(260_000, "-offset:orders-0 -group")


@story(offsets_retention_ms=60_000, offsets_retention_check_interval_ms=1_000)
def a_pending_id_does_not_reset_the_clock(s: Script) -> None:
    """MEMBER_ID_REQUIRED leaves the group Empty; it expires, and the id with it."""
    s.form("m1")
    s.commit("orders-0=1", member="m1", generation=1)
    s.leave("m1")
    s.at(62_000)
    s.join("m2", error=79)
    s.at(63_000, "-offset:orders-0 -group")
    s.join("m2", error=25)


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


@story(offsets_retention_check_interval_ms=5_000)
def an_empty_group_without_offsets_goes_at_once(s: Script) -> None:
    """No retention for a group that has nothing to keep: the next sweep takes it."""
    s.form("m1")
    s.at(5_000)
    s.at(6_000)
    s.leave("m1", gives="+group")
    s.at(9_999)
    s.at(10_000, "-group")
    s.look()


@story(offsets_retention_check_interval_ms=5_000)
def a_group_of_pending_ids_goes_at_once(s: Script) -> None:
    """Seen on a broker: an id from 79 does not outlive the sweep."""
    s.at(4_000)
    s.join("m1", error=79, gives="+group")
    s.at(5_000, "-group")
    s.join("m1", error=25, gives="")
    s.at(6_000)
    s.join("m2", error=79, gives="+group")
    s.join("m2", error=PARKED, gives="")
    s.at(9_000, "JoinGroup=0")


@story(offsets_retention_check_interval_ms=5_000)
def deleting_the_last_offset_ends_an_empty_group(s: Script) -> None:
    """After OffsetDelete nothing is left to keep, in a simple group and in a former one."""
    s.commit("orders-0=1")
    s.delete_offsets("orders-0", gives="-offset:orders-0")
    s.look()
    former = s.other("former")
    former.form("m1")
    former.commit("orders-0=1", member="m1", generation=1)
    s.at(5_000, "-group")
    s.look()
    former.leave("m1")
    s.at(10_000)
    former.delete_offsets("orders-0", gives="-offset:orders-0")
    s.at(15_000, "-group")
    former.look()


@story(offsets_retention_ms=60_000, offsets_retention_check_interval_ms=1_000)
def the_name_of_an_expired_group_is_free(s: Script) -> None:
    """KIP-211: the group is Dead; whoever joins next founds a new one."""
    s.form("m1")
    s.commit("orders-0=1", member="m1", generation=1)
    s.leave("m1")
    s.at(63_000, "-offset:orders-0 -group")
    s.heartbeat("m1", 1, error=25)
    s.commit("orders-0=9", generation=1, member="m1", error=22)
    s.delete(error=69)
    s.join("m2", error=79, gives="+group")
    s.join("m2", error=PARKED)
    s.at(66_000, "JoinGroup=0")
    s.sync("m2", 1, {"m2": b"all"})
    s.fetch("orders-0")


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
    s.leave("m1", gives="+group")
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
    s.join("m1", topics="orders", session=1_800_000, gives="")
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
    s.join("m1", version=3, session=1_800_000, rebalance=120_000, gives="JoinGroup=0")
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
    s.leave("m1", gives="+group")
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
    s.leave("m1", gives="+group")
    s.at(559_999)
    s.at(560_000, "-offset:status-0 -group")


@story(offsets_retention_ms=60_000, offsets_retention_check_interval_ms=1_000)
def a_group_that_never_completed_a_generation(s: Script) -> None:
    """A simple group, then an initial delay without members in the end."""
    s.commit("orders-0=1")
    s.at(58_000)
    s.join("m1", error=79)
    s.join("m1", error=PARKED)
    s.at(60_000)
    s.leave("m1", gives="JoinGroup=25")
    s.at(60_999)
    s.at(61_000, "+group")
    s.describe()
    s.at(120_999)
    s.at(121_000, "-offset:orders-0 -group")


@story(offsets_retention_ms=60_000, offsets_retention_check_interval_ms=1_000)
def a_pending_id_keeps_a_simple_group(s: Script) -> None:
    """A simple group with a pending id is no longer simple: which clock rules? Kafka decides."""
    s.commit("orders-0=1")
    s.at(55_000)
    s.join("m1", session=30_000, error=79)
    s.at(60_000, "-offset:orders-0 -group")
    s.join("m1", session=30_000, error=25)


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
    former.leave("m1", gives="+group")
    s.at(
        70_000,
        "-offset:orders-0 -offset:audit-0 -group "
        "-offset:orders-0 -offset:audit-0 -group "
        "-offset:audit-0",
    )
    live.fetch()


@story(offsets_retention_ms=60_000, offsets_retention_check_interval_ms=1_000)
def a_generation_formed_on_the_sweeps_own_millisecond(s: Script) -> None:
    """A join just before the sweep that would have taken the group."""
    s.form("m1")
    s.commit("orders-0=1", member="m1", generation=1)
    s.leave("m1")
    s.at(62_999)
    s.join("m2", version=3, session=600_000, error=PARKED)
    s.at(63_000)
    s.fetch("orders-0")
    s.at(65_999, "JoinGroup=0")
    s.sync("m2", 3, {"m2": b"all"}, gives="+group")
    s.at(300_000)
    s.fetch("orders-0")
