"""Options of the demo, and the settings that follow."""

from __future__ import annotations

from dataclasses import dataclass

from group_coordinator.demo.cast import PARTITION_COUNTS
from group_coordinator.demo.folder import DemoFolder

STORY_S = 85
"""Default length of the fleet's work: long enough for all expirations of the story."""
_START_S, _END_S = 55, 12
"""Approximate time until the fleet can start, and from its end to the closing words."""

RETENTION_MS = 60_000
"""Retention of unprotected offsets; by default a cluster keeps them for a week."""
_EVENTS, _RESPONSES = "group-events", "group-responses"


@dataclass(frozen=True, slots=True)
class Plan:
    """Size, length and place of a demo, and if all files stay.

    `bootstrap_servers` None: a broker of its own; on a shared cluster, `topic_prefix` separates the demo's topics.
    """

    group_count: int
    member_count: int
    duration_s: int
    keep: bool
    bootstrap_servers: str | None = None
    topic_prefix: str = ""

    @property
    def expected_s(self) -> float:
        """Approximate length of the whole demo."""
        return _START_S + self.remaining_s

    @property
    def remaining_s(self) -> float:
        """Approximate time from the beginning of the story."""
        return self.duration_s + _END_S

    @property
    def topics(self) -> list[str]:
        """All topics that the demo creates."""
        return [self.topic(name) for name in (_EVENTS, _RESPONSES, *PARTITION_COUNTS)]

    def topic(self, name: str) -> str:
        """Return the name of a topic on this cluster."""
        return self.topic_prefix + name


def settings_of(
    plan: Plan, folder: DemoFolder, bootstrap_servers: str, metrics_address: str
) -> dict[str, str | int]:
    """Return the settings that differ from conf/coordinator.toml."""
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
