"""Commits as rows of coordinator_log, written down minute by minute."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import timedelta
from pathlib import Path
from typing import Any

import pyarrow as pa
from deltalake import write_deltalake

from group_coordinator.tables.coordinator_log import COORDINATOR_LOG
from tests.support.log_rows import EPOCH

VALUE = '{"version":4,"data":{"offset":%d,"leaderEpoch":-1,"metadata":"","commitTimestamp":0%s}}'
Row = dict[str, Any]


def commit(minute: int, offset: int | None, more: str = "", **columns: Any) -> Row:
    """An ordinary commit of group g, but for the columns that are given; without an offset a tombstone.

    Its batch is the minute, counted from the epoch. `more` goes into the JSON of its value.
    """
    when = EPOCH + timedelta(minutes=minute)
    row = {
        "cluster_id": "eu",
        "group_id": "g",
        "record_type": 1,
        "key": "{}",
        "value": None if offset is None else VALUE % (offset, more),
        "topic": "orders",
        "partition": 0,
        "offset": offset,
        "reason": "mirrored",
        "event_time": when,
        "batch_id": minute,
        "seq": 0,
        "ingested_at": when,
    }
    return row | columns


def raw(minute: int, **columns: Any) -> Row:
    """A message of group g that could not be decoded."""
    key = '{"type":-3,"data":{"raw":"AAE=","fault":"damaged"}}'
    record = {"record_type": -3, "key": key, "topic": None, "partition": None}
    return commit(minute, None, **record, **columns)


def append(folder: Path, rows: Iterable[Row]) -> None:
    """To the table in the folder, in one commit."""
    schema = COORDINATOR_LOG.no_rows().schema
    whole = [{name: row.get(name) for name in schema.names} for row in rows]
    write_deltalake(folder, pa.Table.from_pylist(whole, schema), mode="append")
