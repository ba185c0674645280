"""What a member can be told, and where it can stand."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum


class MemberState(StrEnum):
    """Where a member stands; each poll moves it on if it can."""

    UNJOINED = "unjoined"
    """Not asked yet, or asked to join again: the next poll sends JoinGroup."""
    JOINING = "joining"
    """JoinGroup is parked until the group has met."""
    SYNCING = "syncing"
    """SyncGroup is parked until the leader has assigned."""
    STABLE = "stable"
    """Has an assignment; polls send heartbeats."""
    FAILED = "failed"
    """Refused for good; polls raise the reason."""
    LEFT = "left"
    """Left the group; polls do nothing."""


@dataclass(frozen=True, slots=True)
class MemberOptions:
    """Kafka's consumer settings of the same names.

    An answer takes about a second (the job works in batches), so the session must outlast several heartbeats.
    """

    client_id: str = "group-coordinator-member"
    group_instance_id: str | None = None
    session_timeout_ms: int = 45_000
    rebalance_timeout_ms: int = 60_000
    heartbeat_interval_ms: int = 3_000
    retry_backoff_ms: int = 500
