"""Whatever timeouts members name, a group comes to rest: no timer is due at once again and again."""

from __future__ import annotations

from itertools import islice
from typing import NamedTuple

from hypothesis import given
from hypothesis import strategies as st

from group_coordinator.core import coordinator
from group_coordinator.core.model.classic_group import ClassicGroup
from group_coordinator.testing import GroupDriver

LONGEST_MS = 2**31 - 1
MEMBERS = 5
"""The most that a life has: of each step one, of which none leaves."""
REBALANCES_MS = st.sampled_from(
    [-LONGEST_MS - 1, -1, 0, 1, 2, 999, 1_000, 1_001, 4_000, LONGEST_MS]
)
LONGEST_SESSION_MS = 1_800_000
SESSIONS_MS = st.sampled_from([6_000, 10_000, LONGEST_SESSION_MS])
DELAYS_MS = st.sampled_from(
    [0, 1, 2, 998, 999, 1_000, 1_001, 3_000, 5_999, 6_000, 6_001, 299_999, 300_000, 600_000]
)
INSTANCES = st.sampled_from([None, "i1", "i2"])


class Step(NamedTuple):
    """What one member does, and how long it takes to the next step."""

    verb: str
    who: int
    instance_id: str | None
    session_ms: int
    rebalance_ms: int
    delay_ms: int


STEPS = st.builds(
    Step,
    st.sampled_from(["come", "join", "join", "sync", "beat", "leave", "wait"]),
    st.integers(0, MEMBERS),
    INSTANCES,
    SESSIONS_MS,
    REBALANCES_MS,
    DELAYS_MS,
)


@given(
    steps=st.lists(STEPS, min_size=1, max_size=20), initial_ms=st.sampled_from([0, 1, 1_000, 3_000])
)
def test_a_classic_group_comes_to_rest(steps: list[Step], initial_ms: int) -> None:
    driver = GroupDriver(group_initial_rebalance_delay_ms=initial_ms)
    for step in steps:
        take(driver, step)
        pass_time(driver, step.delay_ms)
    pass_time(driver, LONGEST_SESSION_MS)
    pass_time(driver, LONGEST_MS)
    pass_time(driver, LONGEST_MS)

    assert members_of(driver) == []


def take(driver: GroupDriver, step: Step) -> None:
    ids = members_of(driver)
    timeouts = {"session_timeout_ms": step.session_ms, "rebalance_timeout_ms": step.rebalance_ms}
    if step.verb == "come" and len(ids) < MEMBERS:
        version = 3 if step.instance_id is None else 9
        driver.join(instance_id=step.instance_id, version=version, **timeouts)
    if not ids:
        return
    member_id = ids[step.who % len(ids)]
    membership = driver.group.membership
    assert isinstance(membership, ClassicGroup)
    match step.verb:
        case "join":
            instance_id = membership.members[member_id].group_instance_id
            driver.join(member_id, instance_id=instance_id, **timeouts)
        case "sync":
            driver.sync(member_id, membership.generation)
        case "beat":
            driver.heartbeat(member_id, membership.generation)
        case "leave":
            driver.leave(member_id)


def members_of(driver: GroupDriver) -> list[str]:
    membership = driver.group.membership
    return sorted(membership.members) if isinstance(membership, ClassicGroup) else []


def pass_time(driver: GroupDriver, delay_ms: int) -> None:
    """Each timer that fires ends a phase or a session, but for a look at those who stay away."""
    most = 20 + 6 * MEMBERS + delay_ms // 1_000
    driver.now_ms += delay_ms
    fired = coordinator.advance(driver.group, driver.now_ms, driver.config)
    assert len(list(islice(fired, most))) < most
    assert (driver.next_deadline_ms or driver.now_ms + 1) > driver.now_ms
