"""Rows of topic_positions."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime, timedelta

import pyarrow as pa


def samples(first_at: datetime, ends: Sequence[int]) -> pa.Table:
    """Return a sample each second of the only partition of `orders`, of the cluster `shop`."""
    moments = [first_at + timedelta(seconds=second) for second in range(len(ends))]
    columns = {
        "cluster_id": ["shop"] * len(ends),
        "topic": ["orders"] * len(ends),
        "partition": pa.array([0] * len(ends), pa.int32()),
        "log_start_offset": [0] * len(ends),
        "log_end_offset": ends,
        "last_stable_offset": ends,
        "sampled_at": pa.array(moments, pa.timestamp("us", "UTC")),
    }
    return pa.table(columns)
