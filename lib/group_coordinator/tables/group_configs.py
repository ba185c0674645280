"""The table group_configs: group configurations, including those of groups that do not exist yet or any more."""

from __future__ import annotations

from pyspark.sql.types import StringType, StructType

from group_coordinator.tables.definition import (
    CLUSTER_ID,
    CONFIG_KEY,
    GROUP_ID,
    UPDATE_BATCH_ID,
    UPDATED_AT,
    TableDefinition,
    required,
)

GROUP_CONFIGS = TableDefinition(
    "group_configs",
    "A row for each group configuration; the group need not exist",
    StructType(
        [
            CLUSTER_ID,
            GROUP_ID,
            required(
                "name", StringType(), "The name of the setting, as in IncrementalAlterConfigs"
            ),
            required("value", StringType(), "Its value, as DescribeConfigs shows it"),
            UPDATED_AT,
            UPDATE_BATCH_ID,
        ]
    ),
    key=CONFIG_KEY,
)
