"""The groups that exist, as their latest records leave them."""

from __future__ import annotations

from collections.abc import Mapping

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F
from pyspark.sql.types import (
    ArrayType,
    IntegerType,
    LongType,
    StringType,
    StructType,
    TimestampType,
)

from group_coordinator.tables.definition import TableDefinition, optional, required
from group_coordinator.tables.instants import instant
from group_coordinator.tables.keys import GROUP_KEY
from group_coordinator.tables.merging import as_struct, with_action

GROUPS = TableDefinition(
    "groups",
    "One row a group that exists",
    StructType(
        [
            required("cluster_id", StringType(), "The Kafka cluster, setting cluster.id"),
            required("group_id", StringType(), "The group"),
            required("group_type", StringType(), "classic or consumer"),
            required("state", StringType(), "By the log: Stable with members, Empty without"),
            optional("protocol_type", StringType(), "Null: a simple group, it only stores offsets"),
            optional("protocol", StringType(), "The assignor its members agreed on"),
            required("generation_or_epoch", IntegerType(), "Counts the rebalances"),
            optional("leader", StringType(), "The member that assigns"),
            required("member_count", IntegerType(), "Members it has"),
            required("offset_count", IntegerType(), "Committed offsets it has"),
            optional(
                "empty_since", TimestampType(), "When its last member went; null: it has some"
            ),
            optional(
                "next_expiration", TimestampType(), "When its next offset goes, unless it commits"
            ),
            required(
                "updated_at", TimestampType(), "Event time of the record that changed the row"
            ),
            required("batch_id", LongType(), "The coordinator's batch that changed the row"),
            required("expiration_base", StringType(), "Its offsets age from: commit, empty, never"),
            required(
                "protected_topics", ArrayType(StringType()), "Topics whose offsets do not age"
            ),
        ]
    ),
    clustered_by=("cluster_id", "group_id"),
)

_OWN_CONTENT = (
    *("state", "protocol_type", "protocol", "generation_or_epoch", "leader", "member_count"),
    *("empty_since", "expiration_base", "protected_topics"),
)
"""What GroupMetadata records say; the rest is counted from the group's offsets."""


def situations(touched: DataFrame, changes: DataFrame, groups: DataFrame) -> DataFrame:
    """What every touched group is after the batch (`situation`, null: gone) and was before it (`before`).

    A group without GroupMetadata exists because of its offsets: the first one makes it, only a tombstone ends it.
    """
    return (
        touched.join(as_struct(changes, GROUP_KEY, "change"), [*GROUP_KEY], "left")
        .join(as_struct(groups, GROUP_KEY, "before"), [*GROUP_KEY], "left")
        .withColumn("situation", _situation())
        .drop("change", "last_commit")
    )


def rows_after(situation: DataFrame, offset_totals: DataFrame) -> DataFrame:
    """Rows of the table for the touched groups, each with what to do about it (`action`)."""
    after = situation.join(offset_totals, [*GROUP_KEY], "left").select(
        *GROUP_KEY,
        F.lit("classic").alias("group_type"),
        *(F.col(f"situation.{name}").alias(name) for name in _OWN_CONTENT),
        F.coalesce("offset_count", F.lit(0)).cast(IntegerType()).alias("offset_count"),
        "next_expiration",
        F.col("now").alias("updated_at"),
        "batch_id",
        "before",
        F.col("situation").isNotNull().alias("exists"),
    )
    content = [name for name in GROUPS.schema.names if name not in ("updated_at", "batch_id")]
    return with_action(after, content)


def _situation() -> Column:
    change, before, last_commit = F.col("change"), F.col("before"), F.col("last_commit")
    has_tombstone = ~change["exists"]
    came_back = last_commit > change["position"]
    return (
        F.when(change["exists"], _metadata_content())
        .when(has_tombstone & came_back, _simple_content())
        .when(has_tombstone, None)
        .when(before.isNotNull(), F.struct(*(before[name].alias(name) for name in _OWN_CONTENT)))
        .when(last_commit.isNotNull(), _simple_content())
    )


def _metadata_content() -> Column:
    change = F.col("change")
    computed = {
        "member_count": F.size(change["members"]),
        "empty_since": instant(change["empty_since_ms"]),
    }
    return _content({name: computed.get(name, change[name]) for name in _OWN_CONTENT})


def _simple_content() -> Column:
    """A group that only stores offsets; they age by their commit time."""
    said = {
        "state": F.lit("Empty"),
        "generation_or_epoch": F.lit(0),
        "member_count": F.lit(0),
        "expiration_base": F.lit("commit"),
        "protected_topics": F.array(),
    }
    return _content({name: said.get(name, F.lit(None)) for name in _OWN_CONTENT})


def _content(values: Mapping[str, Column]) -> Column:
    return F.struct(
        *(values[name].cast(GROUPS.schema[name].dataType).alias(name) for name in _OWN_CONTENT)
    )
