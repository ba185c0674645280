"""What the user asks of the demo, and the settings that follow."""

from __future__ import annotations

from dataclasses import dataclass

from group_coordinator.demo.cast import PARTITION_COUNTS
from group_coordinator.demo.folder import DemoFolder

STORY_S = 85
"""How long the fleet works by default: long enough to see all offsets expire that will."""
_START_S, _END_S = 55, 12
"""About how long it takes until the fleet can start, and from its end to the closing words."""

RETENTION_MS = 60_000
"""How long an offset is kept when nothing protects it; by default a cluster keeps it for a week."""
_EVENTS, _RESPONSES = "group-events", "group-responses"


@dataclass(frozen=True, slots=True)
class Plan:
    """How large a demo, how long, where, and whether everything stays.

    `bootstrap_servers` None: a broker of its own; on a cluster that others use too, `topic_prefix` keeps the demo's
    topics apart.
    """

    group_count: int
    member_count: int
    duration_s: int
    keep: bool
    bootstrap_servers: str | None = None
    topic_prefix: str = ""

    @property
    def expected_s(self) -> float:
        """About how long the whole demo takes."""
        return _START_S + self.remaining_s

    @property
    def remaining_s(self) -> float:
        """About how long it takes from the beginning of the story."""
        return self.duration_s + _END_S

    @property
    def topics(self) -> list[str]:
        """All topics that the demo makes."""
        return [self.topic(name) for name in (_EVENTS, _RESPONSES, *PARTITION_COUNTS)]

    def topic(self, name: str) -> str:
        """What a topic is called on this cluster."""
        return self.topic_prefix + name


def settings_of(
    plan: Plan, folder: DemoFolder, bootstrap_servers: str, metrics_address: str
) -> dict[str, str | int]:
    """Where the settings differ from conf/coordinator.toml."""
    return {
        "bootstrap.servers": bootstrap_servers,
        "cluster.id": "demo",
        "events.topic": plan.topic(_EVENTS),
        "responses.topic": plan.topic(_RESPONSES),
        "tables.root": str(folder.tables),
        "checkpoint.location": str(folder.checkpoint),
        "offsets.retention.ms": RETENTION_MS,
        "offsets.retention.check.interval.ms": 5_000,
        "compaction.interval.ms": 5_000,
        "metrics.listen": metrics_address,
        "metrics.interval.ms": 5_000,
    }
