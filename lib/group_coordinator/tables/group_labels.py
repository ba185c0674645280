"""The table group_labels: owners and objectives of groups by patterns of their ids, replaced as a whole for each cluster."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import NamedTuple

import pyarrow as pa
from deltalake import DeltaTable, write_deltalake
from pyspark.sql import SparkSession

from group_coordinator.tables.append import spark_write_errors, with_later_columns, write_errors
from group_coordinator.tables.catalog import TableCatalog, commit_of_deltalake
from group_coordinator.tables.definition import CLUSTER_ID, described, quoted, table_of
from group_coordinator.tables.thinning import LEFT_TO_MAINTENANCE
from group_coordinator.tables.views.definition import in_datafusion
from group_coordinator.tables.views.labels import LABELS, MOST_STARS

GROUP_LABELS = table_of(
    LABELS,
    "A row for each pattern of group ids: the labels of the groups that match it, and no more specific pattern",
    [
        CLUSTER_ID,
        *described(
            f"""
            pattern string A group id, in which a star stands for any characters, also none; at most {MOST_STARS} stars
            owner? string The owner of the groups; null: none
            tier? string The importance of the groups, in the owner's own words; null: none
            objective_seconds? int The longest lag in time that the owner wants; null: none
            """
        ),
    ],
    key=(CLUSTER_ID.name, "pattern"),
)


class GroupLabels(NamedTuple):
    """A pattern and its labels; the fields are columns of group_labels, which has their meanings."""

    pattern: str
    owner: str | None
    tier: str | None
    objective_seconds: int | None


def label_rows(cluster_id: str, labels: Iterable[GroupLabels]) -> pa.Table:
    return pa.Table.from_pylist(
        [each._asdict() | {"cluster_id": cluster_id} for each in labels],
        schema=GROUP_LABELS.no_rows().schema,
    )


def replace_labels_in_folder(folder: Path | str, cluster_id: str, rows: pa.Table) -> None:
    """Replace a cluster's rows, in a single commit. Raises TableWriteError."""
    with write_errors(folder), commit_of_deltalake(folder):
        table = DeltaTable(folder)
        write_deltalake(
            table,
            with_later_columns(rows, table),
            mode="overwrite",
            predicate=f"{CLUSTER_ID.name} = {in_datafusion(cluster_id)}",
            post_commithook_properties=LEFT_TO_MAINTENANCE,
        )


def replace_labels_by_spark(
    spark: SparkSession, catalog: TableCatalog, cluster_id: str, rows: pa.Table
) -> None:
    """Replace a cluster's rows, in a single commit. Raises TableWriteError."""
    with spark_write_errors(catalog.location(LABELS)):
        frame = spark.createDataFrame(rows, GROUP_LABELS.schema).coalesce(1)
        writer = frame.write.format("delta").mode("overwrite")
        of_cluster = f"{CLUSTER_ID.name} = {quoted(cluster_id)}"
        catalog.save(writer.option("replaceWhere", of_cluster), LABELS)
