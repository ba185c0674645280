"""DescribeGroups and the describe line, state by state and version by version."""

from __future__ import annotations

from tests.conformance.language.lines import PARKED
from tests.conformance.language.script import Script
from tests.conformance.language.story import story


@story()
def a_group_is_described_in_every_state(s: Script) -> None:
    """testDescribeGroupStable, testDescribeGroupRebalancing: metadata only when Stable."""
    s.describe(error=69)
    s.look()
    s.join("m1", error=79)
    s.describe()
    s.join("m1", error=PARKED)
    s.describe()
    s.look()
    s.at(3_000, "JoinGroup=0")
    s.describe()
    s.look()
    s.sync("m1", 1, {"m1": b"all"})
    s.commit("orders-0=5", member="m1", generation=1)
    s.describe()
    s.look()
    s.join("m2", version=3, error=PARKED)
    s.describe()
    s.leave("m1", also="JoinGroup=0")
    s.describe()
    s.leave("m2")
    s.describe()
    s.look()
    s.delete()
    s.describe(error=69)
    s.look()


@story()
def descriptions_of_all_versions(s: Script) -> None:
    """What a DescribeGroups answer holds, version by version, for a Stable group."""
    s.join("m1", instance="i1", error=PARKED)
    s.at(3_000, "JoinGroup=0")
    s.sync("m1", 1, {"m1": b"all"})
    for version in range(7):
        s.describe(version=version)
    s.send("DescribeGroups", 7, {"groups": ["g"]}, error=35)


@story()
def who_asks_is_told_what_he_may_do(s: Script) -> None:
    """KIP-430, without an authorizer: everything that one can do with a group, if it is there."""
    asked = {"groups": ["g"], "includeAuthorizedOperations": True}
    s.send("DescribeGroups", 5, asked)
    s.send("DescribeGroups", 6, asked, error=69)
    s.commit("orders-0=5")
    for version in (3, 4, 5, 6):
        s.send("DescribeGroups", version, asked)
        s.send("DescribeGroups", version, asked | {"includeAuthorizedOperations": False})


@story()
def unknown_groups_are_dead(s: Script) -> None:
    """KIP-1043: from v6 on GROUP_ID_NOT_FOUND, before that just the state Dead."""
    for version in range(6):
        s.describe(version=version)
    s.describe(version=6, error=69)
    s.other("").describe(version=5)
    s.other("").describe(version=6, error=69)


@story()
def a_simple_group_is_described(s: Script) -> None:
    """Empty, without a protocol type."""
    s.commit("orders-0=5")
    for version in (0, 5, 6):
        s.describe(version=version)
    s.look()


@story()
def describing_a_group_of_another_kind(s: Script) -> None:
    """The protocol type is whatever the members said; their bytes come back as they are."""
    s.join("m1", version=3, protocol_type="connect", protocols={"v1": b"\x00\xff"}, error=PARKED)
    s.at(3_000, "JoinGroup=0")
    s.sync("m1", 1, {"m1": b"\xff\x00"}, protocol_type="connect", protocol="v1")
    s.describe()
    s.look()
