"""The table topic_ids: topic names by id, for records of groups in a mirrored log, which have only ids."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from contextlib import AbstractContextManager
from dataclasses import dataclass, field
from functools import partial

import pyarrow as pa
from deltalake import DeltaTable
from pyspark.sql import SparkSession
from pyspark.sql import functions as F

from group_coordinator.tables.append import (
    append_few,
    commit_rows,
    spark_write_errors,
    write_errors,
)
from group_coordinator.tables.catalog import TableCatalog
from group_coordinator.tables.definition import CLUSTER_ID, required, table_of

TOPIC_IDS = table_of(
    "topic_ids",
    "A row for each topic id that was seen in a cluster; rows stay when the topic is deleted",
    [
        CLUSTER_ID,
        required(
            "topic_id", "string", "The topic's id; a topic that is created again gets another id"
        ),
        required("topic", "string", "The topic"),
        required("first_seen_at", "timestamp", "Time when it was first seen, by the wall clock"),
    ],
    key=(CLUSTER_ID.name, "topic_id"),
)


def topic_id_rows(cluster_id: str, topics: Mapping[str, str], seen_at_ms: int) -> pa.Table:
    of_all = {"cluster_id": cluster_id, "first_seen_at": seen_at_ms * 1_000}
    return pa.Table.from_pylist(
        [{"topic_id": topic_id, "topic": topic, **of_all} for topic_id, topic in topics.items()],
        schema=TOPIC_IDS.no_rows().schema,
    )


def topic_names_in(folder: str, cluster_id: str) -> dict[str, str]:
    ours = [(CLUSTER_ID.name, "=", cluster_id)]
    rows = DeltaTable(folder).to_pyarrow_table(filters=ours, columns=["topic_id", "topic"])
    return dict(zip(*(rows[name].to_pylist() for name in rows.column_names), strict=True))


def topic_names(spark: SparkSession, catalog: TableCatalog, cluster_id: str) -> dict[str, str]:
    folder = catalog.direct(TOPIC_IDS.name)
    if folder is not None:
        return topic_names_in(str(folder), cluster_id)
    rows = catalog.read(spark, TOPIC_IDS.name).where(F.col(CLUSTER_ID.name) == cluster_id)
    return {row["topic_id"]: row["topic"] for row in rows.select("topic_id", "topic").collect()}


@dataclass(slots=True)
class TopicIds:
    """A cluster's rows of the table, whose ids are read once. Two concurrent writers may both add an id.

    `names` reads the names by id, `append` commits rows, and inside `errors` a failure of either is a TableWriteError.
    """

    cluster_id: str
    names: Callable[[], Mapping[str, str]]
    append: Callable[[pa.Table], None]
    errors: Callable[[], AbstractContextManager[None]]
    _known: set[str] | None = field(default=None, init=False)

    def note(self, topics: Mapping[str, str], seen_at_ms: int) -> None:
        """Add the new ids of names by id, in a single commit. Raises TableWriteError."""
        with self.errors():
            # Read once: rows are only added, and the sampler runs for months.
            if self._known is None:
                self._known = set(self.names())
            new = {each: name for each, name in topics.items() if each not in self._known}
            if new:
                self.append(topic_id_rows(self.cluster_id, new, seen_at_ms))
                self._known |= new.keys()


def topic_ids_in_folder(catalog: TableCatalog, cluster_id: str) -> TopicIds:
    location = catalog.location(TOPIC_IDS.name)
    return TopicIds(
        cluster_id,
        partial(topic_names_in, location, cluster_id),
        # Opened for each commit: commits are rare, and another sampler may have written meanwhile.
        lambda rows: commit_rows(DeltaTable(location), rows),
        partial(write_errors, location),
    )


def topic_ids_by_spark(spark: SparkSession, catalog: TableCatalog, cluster_id: str) -> TopicIds:
    return TopicIds(
        cluster_id,
        partial(topic_names, spark, catalog, cluster_id),
        lambda rows: append_few(rows, spark, catalog, TOPIC_IDS),
        partial(spark_write_errors, catalog.location(TOPIC_IDS.name)),
    )
