"""JoinGroup: the way into a group, and the initial rebalance (KIP-134, KIP-394)."""

from __future__ import annotations

from tests.conformance.language.lines import PARKED, subscription
from tests.conformance.language.script import Script
from tests.conformance.language.story import story


@story()
def first_member_waits_for_the_initial_delay(s: Script) -> None:
    """KIP-134: an empty group waits 3,000 ms for company before its first generation."""
    s.at(1_000)
    s.join("m1", error=79, also="+group")
    s.look()
    s.join("m1", error=PARKED, also="")
    s.describe()
    s.look()
    s.at(3_999)
    s.at(4_000, "JoinGroup=0")
    s.describe()
    s.look()
    s.sync("m1", 1, {"m1": b"all of it"}, also="+group")
    s.describe()
    s.look()


@story()
def each_newcomer_extends_the_initial_delay(s: Script) -> None:
    """KIP-134, testResetRebalanceDelayWhenNewMemberJoinsGroupDuringInitialRebalance."""
    s.join("m1", error=79)
    s.join("m1", error=PARKED)
    s.at(2_000)
    s.join("m2", error=79)
    s.join("m2", error=PARKED)
    s.at(3_000)
    s.at(5_999)
    s.join("m3", error=79)
    s.join("m3", error=PARKED)
    s.at(6_000)
    s.at(8_999)
    s.at(9_000, "JoinGroup=0 JoinGroup=0 JoinGroup=0")
    s.sync_all("m1", "m2", "m3", generation=1)


@story()
def rebalance_timeout_caps_the_initial_delay(s: Script) -> None:
    """KIP-134, testDelayRebalanceUptoRebalanceTimeout: newcomers extend it up to 7,000 ms here."""
    s.join("m1", version=3, rebalance=7_000, error=PARKED)
    s.at(2_500)
    s.join("m2", version=3, rebalance=7_000, error=PARKED)
    s.at(5_500)
    s.join("m3", version=3, rebalance=7_000, error=PARKED)
    s.at(6_999)
    s.at(7_000, "JoinGroup=0 JoinGroup=0 JoinGroup=0")


@story()
def a_longer_rebalance_timeout_of_a_newcomer_does_not_move_the_cap(s: Script) -> None:
    """KIP-134: the cap is the rebalance timeout of whoever came first."""
    s.join("m1", version=3, rebalance=4_000, error=PARKED)
    s.at(1_000)
    s.join("m2", version=3, rebalance=60_000, error=PARKED)
    s.at(3_999)
    s.at(4_000, "JoinGroup=0 JoinGroup=0")


@story(group_initial_rebalance_delay_ms=0)
def no_initial_delay_means_an_answer_at_once(s: Script) -> None:
    """With a delay of 0 the first member leads generation 1 right away."""
    s.join("m1", error=79)
    s.join("m1", also="")
    s.sync("m1", 1, {"m1": b"all"}, also="+group")
    s.join("m2", error=79)
    s.join("m2", error=PARKED)
    s.heartbeat("m1", 1, error=27)
    s.join("m1", also="JoinGroup=0")
    s.sync_all("m1", "m2", generation=2)
    s.describe()


@story()
def a_short_rebalance_timeout_still_waits_for_the_delay(s: Script) -> None:
    """The first wait is the delay itself, even where it is longer than the rebalance timeout."""
    s.join("m1", version=3, rebalance=1_000, error=PARKED)
    s.at(2_999)
    s.at(3_000, "JoinGroup=0")


@story()
def a_pending_member_lives_for_its_session_timeout(s: Script) -> None:
    """KIP-394, testHeartbeatExpirationShouldRemovePendingMember: 10,000 ms to come back."""
    s.join("m1", error=79)
    s.at(9_999)
    s.other("h").join("m2", error=79)
    s.at(10_000)
    s.join("m1", error=25, also="")
    s.look()
    s.at(19_998)
    s.other("h").join("m2", error=PARKED)


@story()
def a_pending_member_may_not_do_anything_else(s: Script) -> None:
    """KIP-394: until it joins with its id, a pending member is unknown to the other requests."""
    s.join("m1", error=79)
    s.heartbeat("m1", 0, error=25)
    s.sync("m1", 0, error=25)
    s.commit("orders-0=1", member="m1", generation=0, error=25)
    s.commit("orders-0=1", member="m1", generation=-1, error=0)


@story()
def two_pending_members_and_one_that_joins(s: Script) -> None:
    """KIP-394, testJoinGroupCompletionWhenPendingMemberTimesOut: the phase waits for a pending id."""
    s.form("m1")
    s.join("m2", error=79)
    s.join("m3", session=20_000, error=79)
    s.heartbeat("m1", 1)
    s.join("m2", error=PARKED)
    s.at(4_000)
    s.heartbeat("m1", 1, error=27)
    s.join("m1", error=PARKED)
    s.at(22_999)
    s.at(23_000, "JoinGroup=0 JoinGroup=0")


@story()
def a_pending_member_that_joins_completes_the_phase(s: Script) -> None:
    """KIP-394, testJoinGroupCompletionWhenPendingMemberJoins."""
    s.form("m1")
    s.join("m2", error=79)
    s.join("m1", error=PARKED)
    s.at(5_000)
    s.join("m2", also="JoinGroup=0")


@story(group_initial_rebalance_delay_ms=20_000)
def a_pending_id_that_lapses_ends_even_the_initial_delay(s: Script) -> None:
    """Unlike the leave of a pending member: when it lapses, everybody is there, and that is it."""
    s.join("m1", error=79)
    s.join("m1", error=PARKED)
    s.at(1_000)
    s.join("m2", error=79)
    s.leave("m2", also="")
    s.join("m3", error=79)
    s.at(10_999)
    s.at(11_000, "JoinGroup=0")
    s.sync("m1", 1, {"m1": b"all"})


@story()
def an_id_that_nobody_gave_is_unknown(s: Script) -> None:
    """An unknown group knows no member ids; asking makes no group."""
    s.join("m1", member="m1-made-up", error=25, also="")
    s.look()
    s.form("m2")
    s.join("m1", member="m1-made-up", error=25, also="")
    s.leave("m2")
    s.join("m2", error=25, also="")


@story()
def session_timeouts_have_bounds(s: Script) -> None:
    """group.min.session.timeout.ms = 6,000 and group.max.session.timeout.ms = 1,800,000, inclusive."""
    s.join("m1", session=5_999, member="", error=26, also="")
    s.join("m1", session=1_800_001, member="", error=26, also="")
    s.join("m1", session=5_999, member="an id", error=26, also="")
    s.look()
    s.join("m1", session=6_000, error=79)
    s.join("m2", session=1_800_000, error=79)


@story(group_min_session_timeout_ms=100, group_max_session_timeout_ms=200)
def session_bounds_are_settings(s: Script) -> None:
    """The bounds are the coordinator's, not the client's."""
    s.join("m1", session=99, member="", error=26)
    s.join("m1", session=201, member="", error=26)
    s.join("m1", session=100, error=79)


@story()
def a_group_must_have_a_name_to_be_joined(s: Script) -> None:
    """INVALID_GROUP_ID for the empty group id, before anything else is looked at."""
    nameless = s.other("")
    nameless.join("m1", session=1, member="", error=24)
    nameless.sync("m1", 1, error=24)
    nameless.heartbeat("m1", 1, error=24)
    nameless.leave("m1", error=24)


@story()
def an_empty_group_wants_a_protocol(s: Script) -> None:
    """testJoinGroupWithEmptyProtocolType, testJoinGroupWithEmptyGroupProtocol."""
    s.join("m1", protocol_type="", member="", error=23)
    s.look()
    s.join("m1", protocols={}, member="", error=23)
    s.join("m1", version=3, protocols={}, member="", error=23)
    s.look()
    s.at(600_000, "-group")


@story()
def members_must_share_a_protocol(s: Script) -> None:
    """testClassicGroupJoinInconsistentProtocolType, testJoinGroupInconsistentGroupProtocol."""
    s.form("m1")
    s.join("m2", protocol_type="connect", member="", error=23, also="")
    s.join("m2", protocols={"sticky": subscription("orders")}, member="", error=23, also="")
    s.join("m2", protocols={}, member="", error=23, also="")
    s.join("m2", version=9, protocol_type="connect", member="", error=23, also="")
    s.join("m1", protocols={"sticky": subscription("orders")}, error=23, also="")
    s.describe()


@story()
def an_abandoned_initial_delay_takes_any_protocol(s: Script) -> None:
    """Nobody is left to share a protocol with, but the protocol type stays that of the first."""
    s.join("m1", error=79)
    s.join("m1", error=PARKED)
    s.leave("m1", also="JoinGroup=25")
    s.at(1_000)
    s.join("m2", protocol_type="connect", member="", error=23)
    s.join("m2", protocols={}, member="", error=23)
    s.join("m2", member="unheard of", error=25)
    s.join("m3", version=3, protocols={"sticky": subscription("orders")}, error=PARKED)
    s.join("m2", protocols={"range": subscription("orders")}, member="", error=23)
    s.at(3_000)
    s.at(6_000, "JoinGroup=0")
    s.sync("m3", 1, {"m3": b"all"}, protocol="sticky", also="+group")


@story()
def join_answers_of_all_versions(s: Script) -> None:
    """testJoinGroupReturnsTheProtocolType: what an answer holds, version by version."""
    for version in range(4):
        group = s.other(f"g{version}")
        group.join(f"m{version}", version=version, error=PARKED)
    for version in range(4, 10):
        group = s.other(f"g{version}")
        group.join(f"m{version}", version=version, reason="new here", error=79)
        group.join(f"m{version}", version=version, reason="with my id", error=PARKED)
    s.at(3_000, " ".join(["JoinGroup=0"] * 10))
    for version in range(10):
        group = s.other(f"g{version}")
        group.sync(f"m{version}", 1, {f"m{version}": b"all"})
        group.join(f"m{version}", version=version)
    s.other("g10").send("JoinGroup", 10, {"groupId": "g10"}, error=35)


@story()
def the_first_version_waits_for_its_session_timeout(s: Script) -> None:
    """JoinGroup v0 has no rebalance timeout: the session timeout is taken."""
    s.join("m1", version=0, session=8_000, error=PARKED)
    s.at(3_000, "JoinGroup=0")
    s.sync("m1", 1, {"m1": b"all"})
    s.join("m2", version=0, session=6_000, error=PARKED)
    s.at(4_000)
    s.heartbeat("m1", 1, error=27)
    s.at(10_999)
    s.heartbeat("m1", 1, error=27)
    s.at(11_000, "JoinGroup=0")
    s.describe()


@story()
def joining_without_a_correlation_id(s: Script) -> None:
    """Ours: with correlationId null there is no answer; everything else happens as usual."""
    quiet = s.silent()
    quiet.join("m1", version=3, member="", error=PARKED, also="+group")
    s.at(3_000)
    s.look()
    quiet.commit("orders-0=5", error=PARKED, also="")
    s.at(63_000, "+group")


@story()
def a_pending_member_must_bring_its_protocols(s: Script) -> None:
    """testJoinGroupSecondJoinInconsistentProtocol: refused with its id, it may try again."""
    s.join("m1", error=79)
    s.join("m1", protocols={}, error=23, also="")
    s.join("m1", error=PARKED)
    s.at(3_000, "JoinGroup=0")
    s.sync("m1", 1, {"m1": b"all"}, also="+group")


@story()
def a_protocol_without_a_name(s: Script) -> None:
    """Kafka takes an empty name; from version 7 on JoinGroup answers null in its place."""
    s.join("m1", version=9, protocols={"": b"any"}, error=79)
    s.join("m1", version=9, protocols={"": b"any"}, error=PARKED)
    s.at(3_000, "JoinGroup=0")
    s.sync("m1", 1, {"m1": b"all of it"}, version=4)
    s.look()
