"""The same as thinning_in_folder, by Spark: for tables in a catalog or an object store."""

from __future__ import annotations

from pyspark.sql import SparkSession
from pyspark.sql import functions as F

from group_coordinator.tables.catalog import TableCatalog
from group_coordinator.tables.coordinator_log import COORDINATOR_LOG
from group_coordinator.tables.definition import CLUSTER_ID, GROUP_ID, quoted
from group_coordinator.tables.history.rule import Cut
from group_coordinator.tables.history.thinned_log import SORTED_FILE_BYTES, thinned_log
from group_coordinator.tables.views.definition import SPARK

_OLD = "old_rows_of_coordinator_log"


def thin_by_spark(spark: SparkSession, catalog: TableCatalog, cluster_id: str, cut: Cut) -> None:
    """Rewrite a cluster's rows in one commit.

    Args:
        spark: the session.
        catalog: where the tables are.
        cluster_id: whose rows.
        cut: where history changes.
    """
    closed = f"timestamp_millis({cut.closed_ms})"
    old = f"{CLUSTER_ID.name} = {quoted(cluster_id)} AND event_time < {closed}"
    catalog.read(spark, COORDINATOR_LOG.name).where(old).createOrReplaceTempView(_OLD)
    (size,) = (
        catalog.writable(spark, COORDINATOR_LOG.name).detail().select("sizeInBytes").collect()[0]
    )
    in_order = (
        spark.sql(thinned_log(_OLD, cut, SPARK))
        .repartitionByRange(max(size // SORTED_FILE_BYTES, 1), F.col(GROUP_ID.name))
        .sortWithinPartitions(GROUP_ID.name, "batch_id", "seq")
    )
    writer = in_order.write.format("delta").mode("overwrite").option("replaceWhere", old)
    catalog.save(writer, COORDINATOR_LOG.name)
    spark.catalog.dropTempView(_OLD)
