"""Tables of a cluster that has every trouble of the alerts now, and of a cluster whose job is away."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pyarrow as pa
from deltalake import write_deltalake

from tests.support.group_history import GroupHistory, label, tables_of
from tests.support.log_rows import EPOCH
from tests.support.samples import sample

CLUSTER, AWAY = "eu-1", "eu-2"
HOUR_S = 3_600
ORDERS = "orders"
LOST, AHEAD, STOPPED = 0, 1, 2
"""Partitions by their trouble."""


def troubled_tables(root: Path, now_s: int) -> Path:
    histories = [_billing(now_s), _expired(now_s), _committing(now_s), _away(now_s)]
    tables_of(root, *histories)
    for ago_s, start in ((HOUR_S, 0), (1, 200)):
        ends = {LOST: 1_000, STOPPED: 500}
        sample(root, now_s - ago_s, ORDERS, ends, start=start, cluster_id=CLUSTER)
        sample(root, now_s - ago_s, ORDERS, {AHEAD: 3}, cluster_id=CLUSTER)
    sample(root, now_s - HOUR_S, ORDERS, {0: 1_000}, cluster_id=AWAY)
    label(root, ("bill*", "payments", None, 60), cluster_id=CLUSTER)
    _add_failed_events(root, datetime.fromtimestamp(now_s, UTC))
    return root


def _begun(group_id: str, at_s: float, cluster_id: str = CLUSTER, **settings: Any) -> GroupHistory:
    start_ms = round((at_s - EPOCH.timestamp()) * 1_000)
    return GroupHistory(group_id, cluster_id=cluster_id, start_ms=start_ms, **settings)


def _billing(now_s: int) -> GroupHistory:
    """Its member commits two hours ago, comes back half an hour ago, and leaves."""
    group = _begun("billing", now_s - 2 * HOUR_S, offsets_retention_minutes=600)
    for offsets in ({LOST: 100, AHEAD: 5, STOPPED: 310}, {}):
        [member] = group.form(topics=(ORDERS,))
        generation = group.group.membership.generation  # type: ignore[union-attr]
        if offsets:
            group.commit({ORDERS: offsets}, member, generation)
        group.leave(member)
        group.sleep(90 * 60_000)
    return group


def _expired(now_s: int) -> GroupHistory:
    group = _begun("weekend", now_s - 2 * HOUR_S, offsets_retention_minutes=80)
    group.commit({ORDERS: {LOST: 1_000}})
    group.sleep(2 * HOUR_S * 1_000)
    return group


def _committing(now_s: int) -> GroupHistory:
    group = _begun("shipping", now_s - 60)
    group.commit({ORDERS: {LOST: 1_000}})
    return group


def _away(now_s: int) -> GroupHistory:
    group = _begun("shipping", now_s - HOUR_S, AWAY)
    group.commit({ORDERS: {LOST: 1_000}})
    return group


def _add_failed_events(root: Path, now: datetime) -> None:
    """An event of an internal error, an invalid event, and a denied request."""
    event = {"source_topic": "group-events", "source_partition": 0, "source_offset": 7}
    batch = {"cluster_id": CLUSTER, "group_id": "billing", "batch_id": 1, "ingested_at": now}
    common = {**event, **batch, "event_time": now}
    resource = {"operation": "READ", "resource_type": "GROUP", "resource_name": "billing"}
    sender = {"api": "JoinGroup", "principal": "User:anna", "client_host": "/10.0.0.1"}
    for reason in ("defect: KeyError: 1", "no JSON"):
        _append(root / "dead_letters", {**common, "reason": reason})
    _append(root / "denials", {**common, **resource, **sender})


def _append(table: Path, row: Mapping[str, Any]) -> None:
    write_deltalake(table, pa.Table.from_pylist([dict(row)]), mode="append", schema_mode="merge")
