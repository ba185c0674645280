"""Ordinary commits of a day, as they are left by the time that the year is over: thousands of them a row or two."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from group_coordinator.tables.thinning import DAY_MS, ThinningLimits
from tests.benchmarks.year.cluster import DAY_S, PARTITIONS, Cluster

HOUR_MS = 3_600_000


@dataclass(frozen=True, slots=True)
class Commits:
    """Of some partitions, in the order of time: group and partition by number, when, and where the group was."""

    group: np.ndarray
    partition: np.ndarray
    at_ms: np.ndarray
    offset: np.ndarray

    def where(self, mask: np.ndarray) -> Commits:
        return Commits(
            *(column[mask] for column in (self.group, self.partition, self.at_ms, self.offset))
        )


def commits_of_day(
    cluster: Cluster, begin_ms: int, a_day: int, random: np.random.Generator
) -> Commits:
    """So many of each partition, evenly but for some seconds."""
    partitions = np.arange(cluster.groups * PARTITIONS, dtype=np.int32)
    every_ms = DAY_MS // a_day
    rounds = np.arange(a_day)[None, :] * every_ms
    at_ms = begin_ms + rounds + random.integers(0, every_ms, (len(partitions), a_day))
    group = np.repeat(partitions // PARTITIONS, a_day)
    offset = offsets_at(group, at_ms.ravel())
    return Commits(group, np.repeat(partitions % PARTITIONS, a_day), at_ms.ravel(), offset)


def offsets_at(group: np.ndarray, at_ms: np.ndarray) -> np.ndarray:
    """Groups read between 1 and 10 records a second of a partition."""
    return (at_ms // 1_000 % (DAY_S * 3_650)) * (1 + group // 10 % 10)


def kept(commits: Commits, cut: ThinningLimits) -> Commits:
    """As thinning keeps them (tables/thinning.py); rows of a partition come one behind the other."""
    stretch = np.where(
        commits.at_ms < cut.daily_ms,
        commits.at_ms // DAY_MS * DAY_MS,
        np.where(commits.at_ms < cut.hourly_ms, commits.at_ms // HOUR_MS * HOUR_MS, commits.at_ms),
    )
    partition = commits.group.astype(np.int64) * PARTITIONS + commits.partition
    changes = (np.diff(stretch) != 0) | (np.diff(partition) != 0)
    is_first, is_last = np.insert(changes, 0, values=True), np.append(changes, values=True)
    return commits.where(is_first | is_last)


def rows(cluster: Cluster, commits: Commits) -> pa.Table:
    """Columns of coordinator_log, but for those of the batch."""
    names = cluster.names()
    in_text = (pc.cast(pa.array(column), pa.string()) for column in (commits.offset, commits.at_ms))
    offset, at_ms = in_text
    value = pc.binary_join_element_wise(
        '{"version":4,"data":{"offset":', offset,
        ',"leaderEpoch":-1,"metadata":"","commitTimestamp":', at_ms, "}}", "",
    )  # fmt: skip
    topics = pa.array([cluster.topic(number) for number in range(cluster.groups)])
    group = pa.array(commits.group)
    key = cluster.keys().take(pa.array(commits.group * PARTITIONS + commits.partition))
    return pa.table(
        {
            "group_id": names.take(group),
            "record_type": pa.repeat(pa.scalar(1, pa.int32()), len(group)),
            "key": key,
            "value": value,
            "topic": topics.take(group),
            "partition": pa.array(commits.partition, pa.int32()),
            "offset": pa.array(commits.offset, pa.int64()),
            "reason": pa.repeat("offset-commit", len(group)),
            "principal": pc.binary_join_element_wise("User:", names.take(group), ""),
            "at_ms": pa.array(commits.at_ms, pa.int64()),
            "group_number": pa.array(commits.group, pa.int32()),
        }
    )
