"""Kafka's milliseconds as timestamps, and the time column of each append-only table. Imports no module of Spark."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import UTC, datetime
from types import MappingProxyType

FIRST_MS = -62_135_596_800_000
"""0001-01-01, the earliest timestamp."""
LAST_MS = 253_402_300_799_999
"""9999-12-31, the latest timestamp."""


def shown_ms(milliseconds: int) -> int:
    """Return the same time, or the nearest time that a calendar has: a client may commit with any 64-bit timestamp."""
    return min(max(milliseconds, FIRST_MS), LAST_MS)


def shown_ms_or_none(milliseconds: int | None) -> int | None:
    return None if milliseconds is None else shown_ms(milliseconds)


ROW_TIMES: Mapping[str, str] = MappingProxyType(
    {
        "coordinator_log": "event_time",
        "dead_letters": "event_time",
        "denials": "event_time",
        "writers": "claimed_at",
        "topic_positions": "sampled_at",
        "share_group_offsets": "sampled_at",
        "topic_ids": "first_seen_at",
    }
)
"""The time column by table."""


def time_from(text: str) -> datetime:
    """Parse a time of ISO 8601 to UTC, as all times in the tables are; without a zone it is UTC. Raises ValueError: the text is none."""
    try:
        found = datetime.fromisoformat(text)
        # A time without a zone has the tables' zone.
        return found.astimezone(UTC) if found.tzinfo else found.replace(tzinfo=UTC)
    except (OverflowError, ValueError) as error:
        raise ValueError(
            f"{text!r} is not a time: give one such as 2024-01-02T03:04:05Z or 2024-01-02 03:04 (UTC)"
        ) from error
