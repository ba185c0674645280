"""When rows came, of the tables whose rows only come. It imports nothing of Spark."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

ROW_TIMES: Mapping[str, str] = MappingProxyType(
    {
        "coordinator_log": "event_time",
        "dead_letters": "event_time",
        "denials": "event_time",
        "writers": "claimed_at",
        "topic_positions": "sampled_at",
        "topic_ids": "first_seen_at",
    }
)
"""The column that says it, by table."""
