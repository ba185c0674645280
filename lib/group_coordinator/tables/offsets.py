"""The committed offsets of the groups that exist."""

from __future__ import annotations

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F
from pyspark.sql.types import IntegerType, LongType, StringType, StructType, TimestampType

from group_coordinator.tables.definition import TableDefinition, optional, required
from group_coordinator.tables.forecast import Forecast
from group_coordinator.tables.keys import GROUP_KEY, OFFSET_KEY
from group_coordinator.tables.merging import as_struct, with_action

OFFSETS = TableDefinition(
    "offsets",
    "One row a committed offset",
    StructType(
        [
            required("cluster_id", StringType(), "The Kafka cluster, setting cluster.id"),
            required("group_id", StringType(), "The group"),
            required("topic", StringType(), "The topic"),
            optional("topic_id", StringType(), "The topic's id; null: the commit had none"),
            required("partition", IntegerType(), "The partition"),
            required("committed_offset", LongType(), "Where the group will go on reading"),
            optional("leader_epoch", IntegerType(), "Of the last record read; null: not known"),
            optional("metadata", StringType(), "What the client wrote beside the offset"),
            required("commit_timestamp", TimestampType(), "When it was committed"),
            optional("expire_timestamp", TimestampType(), "The end its client asked for"),
            optional("expires_at", TimestampType(), "When it will go; null: something protects it"),
            required(
                "updated_at", TimestampType(), "Event time of the record that changed the row"
            ),
            required("batch_id", LongType(), "The coordinator's batch that changed the row"),
        ]
    ),
    clustered_by=("cluster_id", "group_id"),
)

_COMMITTED = (
    *("topic_id", "committed_offset", "leader_epoch", "metadata"),
    *("commit_timestamp", "expire_timestamp"),
)


def rows_after(
    changes: DataFrame, offsets: DataFrame, situations: DataFrame, forecast: Forecast
) -> DataFrame:
    """Rows of the table for the touched groups, each with what to do about it (`action`).

    What has not been committed anew is there too: a change of its group may have changed its expiry.
    """
    before = offsets.join(situations, [*GROUP_KEY], "left_semi")
    group = situations.select(
        *GROUP_KEY, "situation", "now", F.col("batch_id").alias("now_batch_id")
    )
    after = (
        as_struct(changes, OFFSET_KEY, "change")
        .join(as_struct(before, OFFSET_KEY, "before"), [*OFFSET_KEY], "full_outer")
        .join(group, [*GROUP_KEY])
        .select("*", *_committed(), *_expiration_rule())
        .withColumn("expires_at", forecast.expires_at(F.col("now")))
        .select(
            *OFFSET_KEY,
            *_COMMITTED,
            "expires_at",
            *_changed_by(),
            "before",
            F.expr("coalesce(change.exists, true)").alias("exists"),
        )
    )
    return with_action(after, [*_COMMITTED, "expires_at"])


def totals(rows: DataFrame) -> DataFrame:
    """What the groups table says about a group's offsets."""
    return (
        rows.where("exists")
        .groupBy(*GROUP_KEY)
        .agg(
            F.count("*").alias("offset_count"),
            F.min("expires_at").alias("next_expiration"),
        )
    )


def _committed() -> list[Column]:
    committed_anew = F.col("change").isNotNull()
    return [
        F.when(committed_anew, F.col(f"change.{name}"))
        .otherwise(F.col(f"before.{name}"))
        .alias(name)
        for name in _COMMITTED
    ]


def _expiration_rule() -> list[Column]:
    """The group's; an offset without a group would be a simple group's."""
    return [
        F.coalesce("situation.expiration_base", F.lit("commit")).alias("expiration_base"),
        F.coalesce("situation.protected_topics", F.array()).alias("protected_topics"),
        F.col("situation.empty_since").alias("empty_since"),
    ]


def _changed_by() -> list[Column]:
    """The commit, or else the record of the group that moved the expiry."""
    moved = ~F.col("expires_at").eqNullSafe(F.col("before.expires_at"))
    return [
        F.when(F.col("change").isNotNull(), F.col(f"change.{name}"))
        .when(moved, F.col(of_group))
        .otherwise(F.col(f"before.{name}"))
        .alias(name)
        for name, of_group in (("updated_at", "now"), ("batch_id", "now_batch_id"))
    ]
