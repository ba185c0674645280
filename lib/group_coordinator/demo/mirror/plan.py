"""Options of the demo, and the settings that follow."""

from __future__ import annotations

import secrets
from dataclasses import dataclass

from group_coordinator.demo.folder import DemoFolder

CLUSTER = "shop"
"""The cluster's name in the tables."""
STORY_S = 105
"""Default length of the story: long enough for offsets to expire after a minute, and for the status STOP."""
_START_S, _END_S = 8, 10
"""Approximate time until all members are at work, and from the end of the story to the closing words."""
# From this length on the offsets of a group that leaves at the beginning expire within the story.
_EXPIRY_S = 72

BROKER_PROPERTIES = {
    # The shortest retention that a broker accepts; by default it is a week.
    "offsets.retention.minutes": "1",
    "offsets.retention.check.interval.ms": "1000",
    # No member should wait for a rebalance.
    "group.initial.rebalance.delay.ms": "0",
    "group.consumer.min.heartbeat.interval.ms": "1000",
    "group.consumer.heartbeat.interval.ms": "1000",
}


@dataclass(frozen=True, slots=True)
class MirrorPlan:
    """Length and place of a demo, and if all files stay.

    `bootstrap_servers` None: a broker of its own; on a shared cluster, the names of the demo's groups and topics begin
    with `prefix`.
    """

    duration_s: int
    keep: bool
    bootstrap_servers: str | None = None
    prefix: str = ""

    @property
    def sees_expiry(self) -> bool:
        """True if offsets expire before the end: a user's cluster keeps its offsets for days."""
        return self.bootstrap_servers is None and self.duration_s >= _EXPIRY_S

    @property
    def expected_s(self) -> float:
        """Approximate length of the whole demo."""
        return _START_S + self.remaining_s

    @property
    def remaining_s(self) -> float:
        """Approximate time from the beginning of the story."""
        return self.duration_s + _END_S

    def named(self, name: str) -> str:
        """Return the name of a group or a topic of the demo on this cluster."""
        return self.prefix + name


def unique_prefix() -> str:
    """Return a prefix that no other name on a cluster has."""
    return f"demo-{secrets.token_hex(3)}-"


def settings_of(folder: DemoFolder, bootstrap_servers: str) -> dict[str, str | int]:
    """Return the settings that differ from conf/coordinator.toml."""
    return {
        "bootstrap.servers": bootstrap_servers,
        "cluster.id": CLUSTER,
        "tables.root": str(folder.tables),
        "checkpoint.location": str(folder.checkpoint),
        "compaction.interval.ms": 3_000,
        "mirror.interval.ms": 1_000,
        "mirror.positions.interval.ms": 3_000,
    }
