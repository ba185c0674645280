from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path

import pyarrow as pa
import pytest
from deltalake import write_deltalake

EXPIRY = datetime(2024, 1, 2, 3, 4, 5, 678_000, tzinfo=UTC)


@pytest.fixture
def tables(tmp_path: Path) -> Path:
    offsets = pa.table(
        {
            "group_id": ["billing", "café"],
            "committed_offset": pa.array([42, None], pa.int64()),
            "expires_at": pa.array([EXPIRY, None], pa.timestamp("us", "UTC")),
            "topics": pa.array([["orders", "refunds"], None], pa.list_(pa.string())),
            "value": pa.array([b"\x00\xff", None], pa.binary()),
        }
    )
    write_deltalake(str(tmp_path / "offsets"), offsets)
    return tmp_path
