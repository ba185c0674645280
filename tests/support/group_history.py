"""Tables as the job leaves them, made of what the state machine does, without Spark or a JVM."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import UTC, datetime, timedelta
from functools import cache, lru_cache
from pathlib import Path
from shutil import copytree
from tempfile import TemporaryDirectory
from typing import Any, Protocol

import pyarrow as pa
from deltalake import Transaction, write_deltalake
from msgspec.structs import asdict

from group_coordinator.clients.sql_tables import Session, session
from group_coordinator.core.coordinator import Step
from group_coordinator.core.model import requests
from group_coordinator.core.model.config import CoordinatorConfig
from group_coordinator.core.model.records import Record
from group_coordinator.runtime.outputs import LogRow, Outputs
from group_coordinator.tables.catalog import TableCatalog
from group_coordinator.tables.compaction import compaction
from group_coordinator.tables.compaction.rows import ENTRY_COLUMNS, GroupKey, Retention
from group_coordinator.tables.coordinator_log import COORDINATOR_LOG
from group_coordinator.tables.creation import TABLES
from group_coordinator.tables.group_labels import (
    GROUP_LABELS,
    GroupLabels,
    label_rows,
    replace_labels_in_folder,
)
from group_coordinator.tables.views.all_views import IN_PLACE_OF_LATER_TABLES, VIEWS, named_in
from group_coordinator.tables.views.definition import DATAFUSION
from group_coordinator.testing import GroupDriver
from group_coordinator.testing.outcome import Outcome
from tests.support.log_rows import EPOCH


class GroupHistory(GroupDriver):
    """A group whose records become rows of coordinator_log; each request, or time that passes, is a batch.

    `principal` is who sends what comes next; deadlines have none.
    """

    def __init__(self, group_id: str = "g", *, cluster_id: str = "test", **settings: Any) -> None:
        super().__init__(group_id, **settings)
        self.cluster_id = cluster_id
        self.principal: str | None = None
        self.rows: list[dict[str, Any]] = []
        self.timed_log: list[tuple[int, Record]] = []
        self._batches = 0

    def commit_in_transaction(
        self,
        producer_id: int,
        topic: str,
        partition: int,
        offset: int,
        *,
        since: int | None = None,
        epoch: int | None = None,
    ) -> None:
        """A commit that says, or does not, where the brokers' markers ended when it came."""
        entry = requests.PartitionCommit(partition, offset, None, "", None)
        topics = (requests.TopicCommit(topic, None, (entry,)),)
        request = requests.TxnOffsetCommit(
            group_id=self.group.group_id,
            producer_id=producer_id,
            generation=None,
            member_id="",
            group_instance_id=None,
            topics=topics,
            producer_epoch=epoch,
            markers_end_offset=since,
        )
        self.send(request, 3)

    def end_transaction(
        self,
        producer_id: int,
        *,
        is_commit: bool,
        at: int | None = None,
        since: int | None = None,
        epoch: int | None = None,
    ) -> None:
        """A marker that says, or does not, where the brokers wrote it."""
        self.send(
            requests.EndTxn(
                group_id=self.group.group_id,
                producer_id=producer_id,
                is_commit=is_commit,
                producer_epoch=epoch,
                marker_offset=at,
                since_offset=since,
            ),
            0,
        )

    def _outcome(self, correlation_id: str, steps: Iterable[Step]) -> Outcome[Any]:
        steps = list(steps)
        outputs = Outputs(self.group)
        for number, step in enumerate(steps):
            is_request = bool(correlation_id) and number == 0
            outputs.step(step, None, self.principal if is_request else None)
            self.timed_log += [(step.at_ms, record) for record in step.records]
        self.rows += [
            log_row(output, self.cluster_id, self._batches)
            for piece in outputs
            for output in piece.outputs
            if isinstance(output, LogRow)
        ]
        self._batches += 1
        return super()._outcome(correlation_id, steps)


def log_row(row: LogRow, cluster_id: str, batch_id: int) -> dict[str, Any]:
    """A row of coordinator_log, from what the state machine says of it."""
    when = EPOCH + timedelta(milliseconds=row.event_time_ms)
    return asdict(row) | {
        "cluster_id": cluster_id,
        "key": row.key.decode(),
        "value": None if row.value is None else row.value.decode(),
        "event_time": when,
        "batch_id": batch_id,
        "ingested_at": when,
    }


class Told(Protocol):
    """Whose rows become tables."""

    @property
    def cluster_id(self) -> str: ...
    @property
    def config(self) -> CoordinatorConfig: ...
    @property
    def rows(self) -> list[dict[str, Any]]: ...


def tables_of(root: Path, *histories: Told) -> Path:
    """The tables under a folder: the log, and what compaction makes of it."""
    copytree(_without_rows().name, root, dirs_exist_ok=True)
    schema = COORDINATOR_LOG.no_rows().schema
    for version, history in enumerate(histories):
        names = schema.names
        rows = [{name: row.get(name) for name in names} for row in history.rows]
        log = pa.Table.from_pylist(rows, schema)
        write_deltalake(root / COORDINATOR_LOG.name, log, mode="append")
        compaction.compact(
            TableCatalog(str(root)),
            history.cluster_id,
            log.select([*GroupKey._fields, *ENTRY_COLUMNS]),
            Retention(
                history.config.retention_ms, history.config.offsets_retention_check_interval_ms
            ),
            Transaction("story", version),
        )
    return root


@cache
def _without_rows() -> TemporaryDirectory[str]:
    folder = TemporaryDirectory()
    for table in TABLES:
        table.create_on_disk(Path(folder.name, table.name))
    return folder


def label(
    root: Path,
    *labels: tuple[str, str | None, str | None, int | None],
    cluster_id: str = "test",
) -> None:
    """Replace the cluster's labels: pattern, owner, tier and objective."""
    rows = label_rows(cluster_id, [GroupLabels(*each) for each in labels])
    replace_labels_in_folder(root / GROUP_LABELS.name, cluster_id, rows)


def asked(root: Path, sql: str) -> list[tuple[Any, ...]]:
    """The rows that a query returns. Views are computed once for all queries between two writes: a plan takes longer than a read."""
    tables, names = _opened(root, frozenset(root.glob("*/_delta_log/*.json")))
    wanted = named_in(sql) - names.keys()
    for view in VIEWS:
        if view.name in wanted:
            tables.sql(f"CREATE TABLE {view.name} AS {view.sql(DATAFUSION, names)}")
            names[view.name] = view.name
    return [tuple(row.values()) for row in tables.sql(sql).to_pylist()]


@lru_cache(maxsize=1)
def _opened(root: Path, commits: frozenset[Path]) -> tuple[Session, dict[str, str]]:
    with session(str(root), "") as tables:
        names = {commit.parent.parent.name: commit.parent.parent.name for commit in commits}
        return tables, {**IN_PLACE_OF_LATER_TABLES, **names}


def at(seconds: float) -> datetime:
    return datetime.fromtimestamp(seconds, UTC)
