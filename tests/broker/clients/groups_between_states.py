"""Consumer groups that a real broker holds on their way to Stable, for as long as their members are not missed.

A broker goes on with a group when a member sends a heartbeat: these send none after they have joined, and are missed
after a minute. So such a group is there for one test alone.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager

from group_coordinator.clients.admin.client import AdminClient
from group_coordinator.clients.member.member import GroupMember
from tests.broker.clients.fleet import DEADLINE_S
from tests.broker.clients.groups_matrix import ASSIGNING, RECONCILING
from tests.broker.clients.groups_of_every_kind import modern_member
from tests.broker.clients.kafka_as_channel import KafkaAsChannel
from tests.support.until import until

_STATES = {ASSIGNING: "Assigning", RECONCILING: "Reconciling"}
_ASSIGNMENT_INTERVALS_MS = {ASSIGNING: "15000", RECONCILING: "0"}
"""The longest one, within which a second member waits for the next assignment; and none."""
_SESSION_MS = "60000"
"""The longest one."""


@contextmanager
def groups_between_states(
    kafka: KafkaAsChannel, admin: AdminClient, topic_ids: Mapping[str, str]
) -> Iterator[None]:
    """One whose second member is in no assignment yet, and one whose first member has not given back what the second one waits for."""
    for group, interval_ms in _ASSIGNMENT_INTERVALS_MS.items():
        configs = {
            "consumer.assignment.interval.ms": interval_ms,
            "consumer.session.timeout.ms": _SESSION_MS,
        }
        admin.alter_group_configs({group: configs}).all()
    members = [
        modern_member(kafka, topic_ids, group, name)
        for group in _STATES
        for name in ("first", "second")
    ]
    try:
        for first, second in zip(members[::2], members[1::2], strict=True):
            first.join()
            second.poll()
        until(
            lambda: _states(admin) == _STATES,
            seconds=DEADLINE_S,
            awaited=lambda: f"{_states(admin)}",
        )
        yield
        assert _states(admin) == _STATES
    finally:
        _end(members, admin)


def _states(admin: AdminClient) -> dict[str, str | None]:
    return {
        group: described.state
        for group, described in admin.describe_consumer_groups([*_STATES]).items()
    }


def _end(members: list[GroupMember], admin: AdminClient) -> None:
    for member in members:
        member.leave()
    admin.delete_consumer_groups([*_STATES]).all()
