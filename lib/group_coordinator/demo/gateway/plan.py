"""What the user asks of the demo, and the settings that follow."""

from __future__ import annotations

from dataclasses import dataclass

from group_coordinator.demo.folder import DemoFolder
from group_coordinator.local.ports import LOOPBACK, free_row

STORY_S = 90
"""How long the story is by default: long enough to see offsets expire after a minute."""
_START_S, _END_S = 45, 12
"""About how long it takes until everybody is at work, and from the end of the story to the closing words."""
_EXPIRY_S = 80
"""A story that is so long sees the offsets expire of who leaves at its beginning."""
_RETENTION_MS = 60_000
"""How long an offset is kept when nothing protects it; by default a cluster keeps it for a week."""
_PORTS = 4
"""Of the gateway: newcomers, node 0, node 1, and health; the broker that the demo starts is node 1."""


@dataclass(frozen=True, slots=True)
class GatewayPlan:
    """How long a demo, and whether everything stays."""

    duration_s: int
    keep: bool

    @property
    def sees_expiry(self) -> bool:
        """Whether offsets expire before the end."""
        return self.duration_s >= _EXPIRY_S

    @property
    def expected_s(self) -> float:
        """About how long the whole demo takes."""
        return _START_S + self.remaining_s

    @property
    def remaining_s(self) -> float:
        """About how long it takes from the beginning of the story."""
        return self.duration_s + _END_S


@dataclass(frozen=True, slots=True)
class GatewayPorts:
    """Where the gateway is, HOST:PORT."""

    listen: str
    health: str

    @classmethod
    def free(cls) -> GatewayPorts:
        """Where nobody listened a moment ago."""
        first = free_row(_PORTS)
        return cls(f"{LOOPBACK}:{first}", f"{LOOPBACK}:{first + _PORTS - 1}")


def settings_of(
    folder: DemoFolder, bootstrap_servers: str, ports: GatewayPorts
) -> dict[str, str | int]:
    """Where the settings differ from conf/coordinator.toml."""
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
