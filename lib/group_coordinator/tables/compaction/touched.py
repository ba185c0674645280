"""Which groups a stretch of the log touches, said so that Delta finds the files that may have them."""

from __future__ import annotations

from collections.abc import Sequence
from functools import reduce
from typing import NamedTuple

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F

from group_coordinator.tables.definition import CLUSTER_ID, GROUP_ID

_MOST_GROUPS = 10_000
"""Group ids that the driver may hold; more than these are in every file anyway."""
_MOST_RANGES = 128
"""Comparisons with the least and the greatest group of a file cost little, and there are hundreds of files at most."""


class Range(NamedTuple):
    """From one group to another, with both."""

    first: str
    last: str


def ranges_of(groups: Sequence[str]) -> list[Range]:
    """Few ranges that have these groups, and not many others; in the order of their bytes, as Delta's statistics."""
    ordered = sorted(groups)
    size = -(-len(ordered) // _MOST_RANGES) or 1
    parts = (ordered[start : start + size] for start in range(0, len(ordered), size))
    return [Range(part[0], part[-1]) for part in parts]


def touched_groups(log: DataFrame) -> list[Range] | None:
    """Ranges with the groups of a stretch of the log; None: they are too many."""
    found = log.select(GROUP_ID.name).distinct().limit(_MOST_GROUPS + 1).collect()
    return None if len(found) > _MOST_GROUPS else ranges_of([row[0] for row in found])


def condition(cluster_id: str, ranges: Sequence[Range] | None, table: str) -> Column:
    """Whether a row of the table, by its alias, may be of these groups.

    With values, not with columns of a join: Delta compares them with what it knows of each file. Not as a text: in texts
    Spark puts variables of the driver's environment in the place of ${env:...}, and clients choose the ids of groups.
    """
    of_cluster = F.col(f"{table}.{CLUSTER_ID.name}") == F.lit(cluster_id)
    if not ranges:
        return of_cluster
    group = F.col(f"{table}.{GROUP_ID.name}")
    within = (group.between(F.lit(first), F.lit(last)) for first, last in ranges)
    return of_cluster & reduce(Column.__or__, within)
