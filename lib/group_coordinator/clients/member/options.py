"""Options and states of a member."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import Literal, NamedTuple


class MemberState(StrEnum):
    """States in the life of a member; a poll may change the state."""

    UNJOINED = "unjoined"
    """The next poll sends a join."""
    JOINING = "joining"
    """A join is pending. A JoinGroup of the classic protocol waits until all members have joined."""
    SYNCING = "syncing"
    """SyncGroup waits for the leader's assignment; in the classic protocol only."""
    STABLE = "stable"
    """Membership with an assignment; polls send heartbeats."""
    FAILED = "failed"
    """Rejected for good; polls raise the reason."""
    LEFT = "left"
    """Left the group; polls do nothing."""


class SubscriptionPattern(NamedTuple):
    """A regular expression (RE2) of topic names, resolved by the coordinator; in the consumer protocol only."""

    regex: str


@dataclass(frozen=True, slots=True)
class MemberOptions:
    """Kafka's consumer settings of the same names.

    A response takes about a second (the job works in batches), so the session must outlast several heartbeats. In the
    consumer protocol (KIP-848) the group's settings have the session timeout and the heartbeat interval.
    """

    client_id: str = "group-coordinator-member"
    group_instance_id: str | None = None
    group_protocol: Literal["classic", "consumer"] = "classic"
    session_timeout_ms: int = 45_000
    """Classic protocol only."""
    rebalance_timeout_ms: int = 60_000
    heartbeat_interval_ms: int = 3_000
    """Classic protocol only."""
    retry_backoff_ms: int = 500
    group_remote_assignor: str | None = None
    """uniform or range; None: the group's first. Consumer protocol only."""
    client_rack: str | None = None
    """Consumer protocol only."""
