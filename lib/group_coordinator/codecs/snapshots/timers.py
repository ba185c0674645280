"""The keys of timers as texts: a beginning that names the kind, then the member id."""

from __future__ import annotations

from collections.abc import Mapping

from group_coordinator.core.model.timers import Timer, TimerKey, TimerKind

BEGINNINGS = {
    TimerKind.SESSION: "session:",
    TimerKind.JOIN_PHASE: "join",
    TimerKind.SYNC_PHASE: "sync",
    TimerKind.REBALANCE: "rebalance:",
    TimerKind.MEMBER_JOIN: "join:",
    TimerKind.MEMBER_SYNC: "sync:",
    TimerKind.REGEX: "regex",
}
KINDS = {beginning: kind for kind, beginning in BEGINNINGS.items()}


def by_text(timers: Mapping[TimerKey, Timer]) -> dict[str, Timer]:
    """The timers by their keys as texts."""
    return {BEGINNINGS[key.kind] + key.member_id: timer for key, timer in timers.items()}


def key_of(text: str) -> TimerKey:
    """The key that a text stands for."""
    name, colon, member_id = text.partition(":")
    return TimerKey(KINDS[name + colon], member_id)
