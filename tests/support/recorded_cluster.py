"""What a real broker wrote while offsets and groups ended in every way, as the tables that a mirror makes of it.

    python -m tests.support.recorded_cluster FOLDER

The messages are those of endings.py. Nobody sampled the ends of the topics: there is no lag.
"""

from __future__ import annotations

import sys
from collections import defaultdict
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final

import pyarrow as pa
from deltalake import Transaction, write_deltalake
from msgspec import json

from group_coordinator.codecs.offsets_topic import OFFSETS_TOPIC
from group_coordinator.mirror.arrow_decoder import decode_batch
from group_coordinator.mirror.group_so_far import REPLAYED, GroupSoFar, LoggedRow
from group_coordinator.mirror.inference import ClusterFacts, infer_reasons
from group_coordinator.tables.catalog import TableCatalog
from group_coordinator.tables.compaction import compaction
from group_coordinator.tables.compaction.rows import ENTRY_COLUMNS, GroupKey, GroupRows, Retention
from group_coordinator.tables.coordinator_log import COORDINATOR_LOG
from group_coordinator.tables.creation import TABLES
from group_coordinator.tables.topic_ids import TOPIC_IDS, topic_id_rows
from tests.support.endings import RECORDED, RETENTION_MS
from tests.support.message_batches import SCHEMA

CLUSTER: Final = "recorded"
_BATCH: Final = 0


def recorded_cluster(root: Path) -> Path:
    """The tables under a folder."""
    for table in TABLES:
        table.create_on_disk(root / table.name)
    first, *messages = map(json.decode, RECORDED.read_bytes().splitlines())
    topics: dict[str, str] = first["topics"]
    names = {topic_id: name for name, topic_id in topics.items()}
    ids = topic_id_rows(CLUSTER, names, messages[0]["timestamp"])
    write_deltalake(root / TOPIC_IDS.name, ids, mode="append")
    rows = _with_reasons(_rows(messages), topics)
    log = pa.Table.from_pylist(rows, COORDINATOR_LOG.no_rows().schema)
    write_deltalake(root / COORDINATOR_LOG.name, log, mode="append")
    entries = log.select([*GroupKey._fields, *ENTRY_COLUMNS])
    retention = Retention(RETENTION_MS, check_interval_ms=1_000)
    compaction.compact(
        TableCatalog(str(root)), CLUSTER, entries, retention, Transaction(CLUSTER, _BATCH)
    )
    return root


def _rows(messages: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """A row for each message, with the columns of coordinator_log, by the decoder of whole batches."""
    read = [
        {
            "key": bytes.fromhex(message["key"]),
            "value": None if message["value"] is None else bytes.fromhex(message["value"]),
            "partition": 0,
            "offset": message["offset"],
            "timestamp": message["timestamp"] * 1_000,
        }
        for message in messages
    ]
    of_all = {
        "cluster_id": CLUSTER,
        "reason": "mirrored",
        "inferred": False,
        "source_topic": OFFSETS_TOPIC,
        "batch_id": _BATCH,
    }
    decoded = decode_batch(pa.RecordBatch.from_pylist(read, SCHEMA), {}).to_pylist()
    return [row | of_all | {"ingested_at": row["event_time"]} for row in decoded]


def _with_reasons(rows: list[dict[str, Any]], topics: Mapping[str, str]) -> list[dict[str, Any]]:
    by_group: dict[str, list[LoggedRow]] = defaultdict(list)
    for row in rows:
        fields = row | {"event_time": round(row["event_time"].timestamp() * 1_000)}
        if row["record_type"] in REPLAYED:
            logged = LoggedRow(**{name: fields[name] for name in LoggedRow._fields})
            by_group[row["group_id"]].append(logged)
    facts = ClusterFacts(RETENTION_MS, topics)
    found = {
        reason.source_offset: reason.reason
        for group_id, of_group in by_group.items()
        for reason in infer_reasons(GroupSoFar(group_id, GroupRows()), of_group, _BATCH, facts)
    }
    inferred = {offset: {"reason": reason, "inferred": True} for offset, reason in found.items()}
    return [row | inferred.get(row["source_offset"], {}) for row in rows]


if __name__ == "__main__":
    recorded_cluster(Path(sys.argv[1]))
