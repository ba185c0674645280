"""Heartbeats, and the sessions that they keep."""

from __future__ import annotations

from tests.conformance.language.lines import PARKED
from tests.conformance.language.script import Script
from tests.conformance.language.story import story


@story()
def a_session_ends_to_the_millisecond(s: Script) -> None:
    """testClassicGroupMemberSessionTimeout: 10,000 ms after the join was answered."""
    s.join("m1", version=3, error=PARKED)
    s.at(3_000, "JoinGroup=0")
    s.at(4_000)
    s.sync("m1", 1, {"m1": b"all"})
    s.at(13_999)
    s.describe()
    s.at(14_000, "+group")
    s.heartbeat("m1", 1, error=25)
    s.at(14_001)
    s.describe()


@story()
def a_heartbeat_a_millisecond_early_saves_the_session(s: Script) -> None:
    """testClassicGroupMemberHeartbeatMaintainsSession."""
    s.form("m1")
    s.at(12_999)
    s.heartbeat("m1", 1)
    s.at(22_998)
    s.heartbeat("m1", 1)
    s.jump(32_998)
    s.heartbeat("m1", 1, error=25, also="+group")


@story()
def deadlines_come_before_the_event_of_their_millisecond(s: Script) -> None:
    """A heartbeat at the very end of the session is too late."""
    s.form("m1", "m2")
    s.at(10_000)
    s.heartbeat("m1", 1)
    s.jump(16_000)
    s.heartbeat("m2", 1, error=25)
    s.heartbeat("m1", 1, error=27)
    s.join("m1", also="")
    s.sync("m1", 2, {"m1": b"all"})


@story()
def a_refused_heartbeat_saves_nothing(s: Script) -> None:
    """An illegal generation does not keep the session."""
    s.form("m1")
    s.at(9_000)
    s.heartbeat("m1", 0, error=22)
    s.heartbeat("m1", 2, error=22)
    s.at(12_999)
    s.at(13_000, "+group")


@story()
def a_commit_keeps_the_session(s: Script) -> None:
    """testGenericGroupOffsetCommitMaintainsSession; a commit that is refused does not."""
    s.form("m1")
    s.at(12_000)
    s.commit("orders-0=7", member="m1", generation=1, also="+offset:orders-0")
    s.at(20_000)
    s.commit("orders-0=8", member="m1", generation=0, error=22)
    s.fetch("orders-0")
    s.at(21_999)
    s.at(22_000, "+group")


@story()
def a_sync_that_is_answered_at_once_keeps_nothing(s: Script) -> None:
    """In a Stable group neither SyncGroup nor an unchanged JoinGroup starts the session anew."""
    s.form("m1", "m2", "m3")
    s.at(12_000)
    s.heartbeat("m1", 1)
    s.sync("m2", 1)
    s.join("m3", also="")
    s.at(15_999)
    s.heartbeat("m2", 1)
    s.at(16_000)
    s.heartbeat("m3", 1, error=25)
    s.heartbeat("m2", 1, error=27)


@story()
def heartbeats_in_every_state(s: Script) -> None:
    """testHeartbeatUnknownGroup, -EmptyGroup, -DuringPreparingRebalance, -DuringCompletingRebalance."""
    s.heartbeat("m1", 0, error=25)
    s.commit("orders-0=1")
    s.heartbeat("m1", 0, error=25)
    s.join("m1", version=3, error=PARKED)
    s.join("m2", version=3, error=PARKED)
    s.heartbeat("m1", 0, error=25)
    s.at(3_000)
    s.at(6_000, "JoinGroup=0 JoinGroup=0")
    s.heartbeat("m1", 1)
    s.heartbeat("m1", 0, error=22)
    s.heartbeat("nobody", 1, error=25)
    s.sync("m2", 1, error=PARKED)
    s.heartbeat("m2", 1)
    s.sync("m1", 1, {"m1": b"1", "m2": b"2"})
    s.heartbeat("m2", 1)
    s.join("m1", version=3, error=PARKED)
    s.heartbeat("m2", 1, error=27)
    s.heartbeat("m2", 2, error=22)
    s.heartbeat("m1", 1, error=27)
    s.leave("m1", "m2")
    s.heartbeat("m1", 2, error=25)


@story()
def heartbeats_during_the_initial_delay(s: Script) -> None:
    """A member that waits for generation 1 is in generation 0."""
    s.join("m1", error=79)
    s.join("m1", error=PARKED)
    s.heartbeat("m1", 0, error=27)
    s.heartbeat("m1", 1, error=22)
    s.commit("orders-0=1", member="m1", generation=0, also="+offset:orders-0")
    s.sync("m1", 0, protocol=None, protocol_type=None, version=4, error=27)
    s.at(3_000, "JoinGroup=0")


@story()
def a_session_can_change_with_a_rebalance(s: Script) -> None:
    """The timeouts of the last JoinGroup of a rebalance count from its end on."""
    s.form("m1")
    s.at(4_000)
    s.join("m1", session=20_000, also="")
    s.at(5_000)
    s.sync("m1", 2, {"m1": b"all"}, also="+group")
    s.at(24_999)
    s.describe()
    s.at(25_000, "+group")


@story()
def heartbeat_answers_of_all_versions(s: Script) -> None:
    """What a Heartbeat answer holds, version by version."""
    s.form("m1")
    for version in range(5):
        s.heartbeat("m1", 1, version=version)
        s.heartbeat("m1", 2, version=version, error=22)
    s.send("Heartbeat", 5, {"groupId": "g"}, error=35)
    s.send("Heartbeat", 4, {"groupId": "g"}, error=25)


@story()
def a_lapsed_follower_makes_the_others_rebalance(s: Script) -> None:
    """Only who fell silent is out; the others learn of it from their heartbeats."""
    s.form("m1", "m2", "m3")
    s.at(11_000)
    s.heartbeat("m1", 1)
    s.heartbeat("m2", 1)
    s.at(16_000)
    s.heartbeat("m3", 1, error=25)
    s.heartbeat("m1", 1, error=27)
    s.join("m1", error=PARKED)
    s.join("m2", also="JoinGroup=0")
    s.sync_all("m1", "m2", generation=2)


@story()
def lapsing_while_the_others_wait_completes_the_phase(s: Script) -> None:
    """testHeartbeatExpirationShouldRemoveMember: the one that everybody waited for lapses."""
    s.form("m1", "m2")
    s.at(9_000)
    s.join("m1", error=PARKED)
    s.at(15_999)
    s.at(16_000, "JoinGroup=0")
    s.sync("m1", 2, {"m1": b"all"})


@story()
def who_waits_does_not_lapse(s: Script) -> None:
    """testClassicGroupMemberSessionTimeoutDuringRebalance: parked members need no heartbeats."""
    s.form("m1", "m2", session=10_000)
    s.join("m1", error=PARKED)
    s.at(12_000)
    s.heartbeat("m2", 1, error=27)
    s.at(20_000)
    s.heartbeat("m2", 1, error=27)
    s.at(29_000)
    s.join("m2", also="JoinGroup=0")
    s.sync("m2", 2, error=PARKED)
    s.at(38_000)
    s.heartbeat("m1", 2)
    s.at(47_000)
    s.sync("m1", 2, {"m1": b"1", "m2": b"2"}, also="+group SyncGroup=0")


@story()
def a_lapse_in_completing_rebalance(s: Script) -> None:
    """testLeaderFailureInSyncGroup: the leader lapses before it syncs."""
    s.join("m1", version=3, error=PARKED)
    s.join("m2", version=3, error=PARKED)
    s.at(3_000)
    s.at(6_000, "JoinGroup=0 JoinGroup=0")
    s.sync("m2", 1, error=PARKED)
    s.at(15_999)
    s.at(16_000, "SyncGroup=27")
    s.join("m2", version=3, also="")
    s.sync("m2", 2, {"m2": b"all"})


@story()
def a_long_silence_is_told_in_order(s: Script) -> None:
    """One line over a day: every deadline fires at its own time."""
    s.form("m1", "m2")
    s.at(7_000)
    s.heartbeat("m2", 1)
    s.commit("orders-0=1", member="m2", generation=1)
    s.at(86_400_000, "+group")
    s.describe()


@story()
def the_five_minutes_of_a_newcomer_end_with_its_join(s: Script) -> None:
    """testNewMemberTimeoutCompletion: from then on its session counts, even a longer one."""
    s.join("m1", version=3, session=305_000, rebalance=600_000, error=PARKED)
    s.at(3_000, "JoinGroup=0")
    s.sync("m1", 1, {"m1": b"all"})
    s.at(303_000)
    s.describe()
    s.at(307_999)
    s.at(308_000, "+group")
    s.heartbeat("m1", 1, error=25)


@story()
def a_newcomer_has_its_session_once_the_phase_is_over(s: Script) -> None:
    """testNewMemberFailureAfterJoinGroupCompletion: both lapse before anybody has synced."""
    s.join("m1", version=3, session=6_000, rebalance=20_000, error=PARKED)
    s.at(3_000, "JoinGroup=0")
    s.sync("m1", 1, {"m1": b"all"})
    s.join("m2", version=3, session=6_000, rebalance=20_000, error=PARKED)
    s.join("m1", version=3, session=6_000, rebalance=20_000, also="JoinGroup=0")
    s.at(8_999)
    s.describe()
    s.at(9_000, "+group")
    s.describe()


@story(group_initial_rebalance_delay_ms=600_000)
def a_newcomer_that_lapses_ends_even_the_initial_delay(s: Script) -> None:
    """testHeartbeatExpirationShouldRemoveMember: nobody is left to wait for."""
    s.join("m1", version=3, rebalance=900_000, error=PARKED)
    s.at(299_999)
    s.at(300_000, "JoinGroup=25 +group")
    s.describe()


@story()
def a_pending_id_that_lapses_leaves_a_stable_group_alone(s: Script) -> None:
    """testSecondMemberPartiallyJoinAndTimeout: it asked for an id and never came."""
    s.form("m1")
    s.join("m2", error=79, also="")
    s.at(12_000)
    s.heartbeat("m1", 1)
    s.at(13_000)
    s.join("m2", error=25, also="")
    s.heartbeat("m1", 1)
    s.describe()
