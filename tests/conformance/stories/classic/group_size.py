"""group.max.size: who has a place in a full group."""

from __future__ import annotations

from tests.conformance.language.lines import FORGOTTEN, PARKED
from tests.conformance.language.script import Script
from tests.conformance.language.story import story


@story(group_max_size=2)
def places_go_to_the_first_who_come(s: Script) -> None:
    """testDynamicMembersJoinGroupWithMaxSizeAndNotRequiredKnownMember: no id is asked for."""
    s.join("m1", version=3, error=PARKED)
    s.join("m2", version=3, error=PARKED)
    s.join("m3", version=3, member="", error=81, also="")
    s.at(3_000)
    s.at(6_000, "JoinGroup=0 JoinGroup=0")
    s.join("m1", version=3, also="")
    s.join("m3", version=3, member="", error=81, also="")
    s.join("m2", version=3, also="")


@story(group_max_size=2)
def who_has_a_place_may_say_it_again(s: Script) -> None:
    """testDynamicMembersCanRejoinGroupWithMaxSizeWhileRebalancing."""
    s.join("m1", error=79)
    s.join("m2", error=79)
    s.join("m3", error=79)
    s.join("m1", error=FORGOTTEN)
    s.join("m2", error=FORGOTTEN)
    s.join("m3", error=81, also="")
    s.join("m1", error=PARKED)
    s.join("m3", error=81, also="")
    s.join("m2", error=PARKED)
    s.at(3_000)
    s.at(6_000, "JoinGroup=0 JoinGroup=0")
    s.sync_all("m1", "m2", generation=1)


@story(group_max_size=2)
def static_members_join_up_to_the_size(s: Script) -> None:
    """testStaticMembersJoinGroupWithMaxSize: with their ids they may join again."""
    s.join("m1", instance="i1", error=PARKED)
    s.join("m2", instance="i2", error=PARKED)
    s.join("m3", member="", instance="i3", error=81, also="")
    s.at(3_000)
    s.at(6_000, "JoinGroup=0 JoinGroup=0")
    s.join("m2", instance="i2", also="")
    s.join("m3", member="", instance="i3", error=81, also="")
    s.join("m1", instance="i1", also="")
    s.sync_all("m1", "m2", generation=1)


@story(group_max_size=2)
def the_last_to_rejoin_has_no_place(s: Script) -> None:
    """testLastJoiningMembersAreKickedOutWhenRejoiningGroupWithMaxSize: who waits is counted."""
    s.form("m1", "m2", session=120_000)
    s.join("m1", session=120_000, error=PARKED)
    s.join("m3", version=3, session=120_000, error=PARKED)
    s.join("m2", session=120_000, error=81, also="")
    s.heartbeat("m2", 1, error=25)
    s.at(65_999)
    s.at(66_000, "JoinGroup=0 JoinGroup=0")
    s.sync_all("m1", "m3", generation=2)
    s.describe()
