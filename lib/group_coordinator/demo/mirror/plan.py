"""What the user asks of the demo, and the settings that follow."""

from __future__ import annotations

import secrets
from dataclasses import dataclass

from group_coordinator.demo.folder import DemoFolder

CLUSTER = "shop"
"""What the tables call the cluster."""
STORY_S = 105
"""How long the story is by default: long enough to see offsets expire after a minute, and who commits no more."""
_START_S, _END_S = 8, 10
"""About how long it takes until everybody is at work, and from the end of the story to the closing words."""
_EXPIRY_S = 72
"""A story that is so long sees the offsets expire of who leaves at its beginning."""

BROKER_PROPERTIES = {
    # The shortest retention that a broker takes; by default it is a week.
    "offsets.retention.minutes": "1",
    "offsets.retention.check.interval.ms": "1000",
    # Nobody is to wait for a rebalance.
    "group.initial.rebalance.delay.ms": "0",
    "group.consumer.min.heartbeat.interval.ms": "1000",
    "group.consumer.heartbeat.interval.ms": "1000",
}


@dataclass(frozen=True, slots=True)
class MirrorPlan:
    """How long a demo, where, and whether everything stays.

    `bootstrap_servers` None: a broker of its own; on a cluster that others use too, the names of the demo's groups and
    topics begin with `prefix`.
    """

    duration_s: int
    keep: bool
    bootstrap_servers: str | None = None
    prefix: str = ""

    @property
    def sees_expiry(self) -> bool:
        """Whether offsets expire before the end: a cluster of somebody else keeps its own for days."""
        return self.bootstrap_servers is None and self.duration_s >= _EXPIRY_S

    @property
    def expected_s(self) -> float:
        """About how long the whole demo takes."""
        return _START_S + self.remaining_s

    @property
    def remaining_s(self) -> float:
        """About how long it takes from the beginning of the story."""
        return self.duration_s + _END_S

    def named(self, name: str) -> str:
        """What a group or a topic of the demo is called on this cluster."""
        return self.prefix + name


def unique_prefix() -> str:
    """What nothing else on a cluster begins with."""
    return f"demo-{secrets.token_hex(3)}-"


def settings_of(folder: DemoFolder, bootstrap_servers: str) -> dict[str, str | int]:
    """Where the settings differ from conf/coordinator.toml."""
    return {
        "bootstrap.servers": bootstrap_servers,
        "cluster.id": CLUSTER,
        "tables.root": str(folder.tables),
        "checkpoint.location": str(folder.checkpoint),
        "compaction.interval.ms": 3_000,
        "mirror.interval.ms": 1_000,
        "mirror.positions.interval.ms": 3_000,
    }
