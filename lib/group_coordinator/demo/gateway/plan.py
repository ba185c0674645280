"""Options of the demo, and the settings that follow."""

from __future__ import annotations

from dataclasses import dataclass

from group_coordinator.demo.folder import DemoFolder
from group_coordinator.local.ports import LOOPBACK, free_row

STORY_S = 90
"""Default length of the story: long enough for offsets to expire after a minute."""
_START_S, _END_S = 45, 12
"""Approximate time until all clients are at work, and from the end of the story to the closing words."""
# From this length on the offsets of a group that leaves at the beginning expire within the story.
_EXPIRY_S = 80
# Retention of unprotected offsets; by default a cluster keeps them for a week.
_RETENTION_MS = 60_000
_PORTS = 4
"""Ports of the gateway: bootstrap, node 0, node 1, and health; the broker that the demo starts is node 1."""


@dataclass(frozen=True, slots=True)
class GatewayPlan:
    """Length of the demo, and if all files stay."""

    duration_s: int
    keep: bool

    @property
    def sees_expiry(self) -> bool:
        """True if offsets expire before the end."""
        return self.duration_s >= _EXPIRY_S

    @property
    def expected_s(self) -> float:
        """Approximate length of the whole demo."""
        return _START_S + self.remaining_s

    @property
    def remaining_s(self) -> float:
        """Approximate time from the beginning of the story."""
        return self.duration_s + _END_S


@dataclass(frozen=True, slots=True)
class GatewayPorts:
    """Addresses of the gateway, HOST:PORT."""

    listen: str
    health: str

    @classmethod
    def free(cls) -> GatewayPorts:
        """Return addresses that were free a moment ago."""
        first = free_row(_PORTS)
        return cls(f"{LOOPBACK}:{first}", f"{LOOPBACK}:{first + _PORTS - 1}")


def settings_of(
    folder: DemoFolder, bootstrap_servers: str, ports: GatewayPorts
) -> dict[str, str | int]:
    """Return the settings that differ from conf/coordinator.toml."""
    return {
        "bootstrap.servers": bootstrap_servers,
        "cluster.id": "shop",
        "gateway.listen": ports.listen,
        "gateway.health.listen": ports.health,
        "tables.root": str(folder.tables),
        "checkpoint.location": str(folder.checkpoint),
        "offsets.retention.ms": _RETENTION_MS,
        "offsets.retention.check.interval.ms": 5_000,
        "compaction.interval.ms": 5_000,
    }
