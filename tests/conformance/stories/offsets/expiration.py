"""Expiration of groups without members, and of all they have (KIP-211)."""

from __future__ import annotations

from tests.conformance.language.lines import PARKED
from tests.conformance.language.script import Script
from tests.conformance.language.story import story

DAY = 86_400_000


@story(offsets_retention_ms=60_000, offsets_retention_check_interval_ms=1_000)
def an_empty_group_expires_by_the_time_it_became_empty(s: Script) -> None:
    """KIP-211: not by the times of its commits; offsets and group go together."""
    s.form("m1")
    s.commit("orders-0=1", "orders-1=2", member="m1", generation=1)
    s.at(8_000)
    s.heartbeat("m1", 1)
    s.at(12_000)
    s.leave("m1", also="+group")
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
    s.leave("m1", also="+group")
    s.at(62_000)
    s.commit("orders-0=2", "orders-1=1", also="+offset:orders-0 +offset:orders-1")
    s.at(62_999)
    s.at(63_000, "-offset:orders-0 -offset:orders-1 -group")


@story(offsets_retention_ms=60_000, offsets_retention_check_interval_ms=1_000)
def a_commit_to_a_group_whose_time_is_over_goes_with_the_next_sweep(s: Script) -> None:
    """Only an offset with a time of its own keeps such a group; what comes late is overdue at once."""
    s.form("m1")
    s.commit("orders-0=1", member="m1", generation=1, version=4, retention=600_000)
    s.leave("m1")
    s.at(90_500)
    s.commit("orders-1=1")
    s.at(90_999)
    s.at(91_000, "-offset:orders-1")
    s.look()


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
    s.leave("m2", also="+group")
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


@story(offsets_retention_check_interval_ms=5_000)
def an_empty_group_without_offsets_goes_at_once(s: Script) -> None:
    """No retention for a group that has nothing to keep: the next sweep takes it."""
    s.form("m1")
    s.at(5_000)
    s.at(6_000)
    s.leave("m1", also="+group")
    s.at(9_999)
    s.at(10_000, "-group")
    s.look()


@story(offsets_retention_check_interval_ms=5_000)
def a_group_of_pending_ids_goes_at_once(s: Script) -> None:
    """Seen on a broker: an id from 79 does not outlive the sweep."""
    s.at(4_000)
    s.join("m1", error=79, also="+group")
    s.at(5_000, "-group")
    s.join("m1", error=25, also="")
    s.at(6_000)
    s.join("m2", error=79, also="+group")
    s.join("m2", error=PARKED, also="")
    s.at(9_000, "JoinGroup=0")


@story(offsets_retention_check_interval_ms=5_000)
def deleting_the_last_offset_ends_an_empty_group(s: Script) -> None:
    """After OffsetDelete nothing is left to keep, in a simple group and in a former one."""
    s.commit("orders-0=1")
    s.delete_offsets("orders-0", also="-offset:orders-0")
    s.look()
    former = s.other("former")
    former.form("m1")
    former.commit("orders-0=1", member="m1", generation=1)
    s.at(5_000, "-group")
    s.look()
    former.leave("m1")
    s.at(10_000)
    former.delete_offsets("orders-0", also="-offset:orders-0")
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
    s.join("m2", error=79, also="+group")
    s.join("m2", error=PARKED)
    s.at(66_000, "JoinGroup=0")
    s.sync("m2", 1, {"m2": b"all"})
    s.fetch("orders-0")


@story(offsets_retention_ms=60_000, offsets_retention_check_interval_ms=1_000)
def a_group_that_never_completed_a_generation(s: Script) -> None:
    """A simple group, then an initial delay without members in the end."""
    s.commit("orders-0=1")
    s.at(58_000)
    s.join("m1", error=79)
    s.join("m1", error=PARKED)
    s.at(60_000)
    s.leave("m1", also="JoinGroup=25")
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
    s.sync("m2", 3, {"m2": b"all"}, also="+group")
    s.at(300_000)
    s.fetch("orders-0")


@story(offsets_retention_check_interval_ms=1_000)
def a_session_that_ends_at_a_sweep_ends_before_it(s: Script) -> None:
    """Deadlines of one millisecond come in the order they were set: the session was, 10,000 ms ago."""
    s.form("m1")
    s.at(12_999)
    s.at(13_000, "+group -group")


@story(offsets_retention_check_interval_ms=13_000)
def a_session_that_ends_at_a_sweep_ends_after_it(s: Script) -> None:
    """The sweep was set first, 13,000 ms ago: it finds the group live; the next one takes it."""
    s.form("m1")
    s.at(13_000, "+group")
    s.at(25_999)
    s.at(26_000, "-group")
