"""What a batch of the log changes: the latest record of every offset and of every group."""

from __future__ import annotations

import pandas as pd
from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F
from pyspark.sql.pandas.functions import pandas_udf
from pyspark.sql.types import (
    ArrayType,
    IntegerType,
    LongType,
    StringType,
    StructField,
    StructType,
)

from group_coordinator.tables.group_values import group_row
from group_coordinator.tables.instants import instant, instant_or_null
from group_coordinator.tables.keys import GROUP_KEY, OFFSET_KEY
from group_coordinator.tables.members import TOPIC_PARTITIONS

LEGACY_OFFSET, OFFSET, GROUP = 0, 1, 2
_NO_TOPIC_ID = "A" * 22

_OFFSET_VALUE = StructType(
    [
        StructField(
            "data",
            StructType(
                [
                    StructField("offset", LongType()),
                    StructField("leaderEpoch", IntegerType()),
                    StructField("metadata", StringType()),
                    StructField("commitTimestamp", LongType()),
                    StructField("expireTimestamp", LongType()),
                    StructField("topicId", StringType()),
                ]
            ),
        )
    ]
)

_MEMBER_ROW = StructType(
    [
        StructField("member_id", StringType()),
        StructField("group_instance_id", StringType()),
        StructField("client_id", StringType()),
        StructField("client_host", StringType()),
        StructField("session_timeout_ms", IntegerType()),
        StructField("rebalance_timeout_ms", IntegerType()),
        StructField("subscribed_topics", ArrayType(StringType())),
        StructField("assigned_partitions", TOPIC_PARTITIONS),
    ]
)

_GROUP_ROW = StructType(
    [
        StructField("state", StringType()),
        StructField("protocol_type", StringType()),
        StructField("protocol", StringType()),
        StructField("generation_or_epoch", IntegerType()),
        StructField("leader", StringType()),
        StructField("empty_since_ms", LongType()),
        StructField("expiration_base", StringType()),
        StructField("protected_topics", ArrayType(StringType())),
        StructField("members", ArrayType(_MEMBER_ROW)),
    ]
)


def latest_records(log: DataFrame) -> DataFrame:
    """The latest record a key; `position` orders the records of a group."""
    position = F.struct("batch_id", "seq")
    record = F.struct("value", "event_time", "batch_id", position.alias("position"))
    return (
        log.where(F.col("record_type").isin(LEGACY_OFFSET, OFFSET, GROUP))
        .groupBy("record_type", *OFFSET_KEY)
        .agg(F.max_by(record, position).alias("latest"))
        .select("record_type", *OFFSET_KEY, "latest.*")
    )


def offset_changes(latest: DataFrame) -> DataFrame:
    """One row an offset that was committed (`exists`) or removed."""
    data = F.from_json("value", _OFFSET_VALUE)["data"]
    return latest.where(F.col("record_type") != GROUP).select(
        *OFFSET_KEY,
        F.col("value").isNotNull().alias("exists"),
        F.nullif(data["topicId"], F.lit(_NO_TOPIC_ID)).alias("topic_id"),
        data["offset"].alias("committed_offset"),
        F.nullif(data["leaderEpoch"], F.lit(-1)).alias("leader_epoch"),
        data["metadata"].alias("metadata"),
        instant(data["commitTimestamp"]).alias("commit_timestamp"),
        instant_or_null(data["expireTimestamp"]).alias("expire_timestamp"),
        F.col("event_time").alias("updated_at"),
        "batch_id",
        "position",
    )


def group_changes(latest: DataFrame) -> DataFrame:
    """One row a group with a new GroupMetadata value (`exists`), or with a tombstone."""
    decoded = F.from_json(_decoded("value"), _GROUP_ROW)
    return (
        latest.where(F.col("record_type") == GROUP)
        .withColumn("row", F.when(F.col("value").isNotNull(), decoded))
        .select(
            *GROUP_KEY,
            F.col("value").isNotNull().alias("exists"),
            "row.*",
            F.col("event_time").alias("updated_at"),
            "batch_id",
            "position",
        )
    )


def _decoded(column: str) -> Column:
    def decode(values: pd.Series) -> pd.Series:
        return values.map(group_row, na_action="ignore")

    make_column = pandas_udf(StringType())  # type: ignore[call-overload]  # the usual form, unknown to the hints
    decoded: Column = make_column(decode)(column)
    return decoded
