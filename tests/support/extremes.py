"""Groups with numbers and times at the limits of Kafka, which must not change the rows of other groups."""

from __future__ import annotations

from pathlib import Path

from deltalake import Transaction, write_deltalake

from group_coordinator.core.model import requests
from group_coordinator.tables.catalog import TableCatalog
from group_coordinator.tables.compaction import compaction
from group_coordinator.tables.compaction.rows import ENTRY_COLUMNS, GroupKey
from group_coordinator.tables.coordinator_log import COORDINATOR_LOG
from group_coordinator.tables.timestamps import FIRST_MS, LAST_MS
from tests.support.group_history import GroupHistory, tables_of
from tests.support.log_rows import member
from tests.support.mirrored_log import MINUTE, MirroredLog, table_rows
from tests.support.samples import sample

LOWEST, HIGHEST = -(2**63), 2**63 - 1
LOWEST_INT, HIGHEST_INT = -(2**31), 2**31 - 1
YEARS_MS = {"year-1": FIRST_MS, "year-1600": -11_676_096_000_000, "year-9999": LAST_MS - 10_000}
"""Of mirrored records, which have the times that their clients gave them. Nanoseconds of 64 bits have the years 1677 to 2262."""


def extreme_groups() -> list[GroupHistory]:
    """What an ordinary client may ask of the coordinator."""
    return [
        *(_offsets(f"offset-{offset}", offset) for offset in (LOWEST, -1, HIGHEST)),
        *(_commit_time(f"time-{at_ms}", at_ms) for at_ms in (LOWEST, -1, HIGHEST)),
        *(_retention(f"retention-{kept_ms}", kept_ms) for kept_ms in (LOWEST, 0, HIGHEST)),
        _setting("setting", HIGHEST),
        _far_behind(),
    ]


def _offsets(group_id: str, offset: int) -> GroupHistory:
    """Both partitions go there twice, and one of them is lost there."""
    group = GroupHistory(group_id)
    for each in (5, offset, 7, offset):
        group.commit({"orders": {0: each, 1: each}})
        group.sleep(1_000)
    group.delete_offsets({"orders": [1]})
    return group


def _commit_time(group_id: str, at_ms: int) -> GroupHistory:
    """By version 1 of OffsetCommit."""
    group = GroupHistory(group_id)
    commits = (requests.PartitionCommit(0, 5, HIGHEST_INT, "", at_ms),)
    topics = (requests.TopicCommit("orders", None, commits),)
    group.send(
        requests.OffsetCommit(
            group_id=group_id,
            generation=None,
            member_id="",
            group_instance_id=None,
            retention_time_ms=None,
            topics=topics,
        ),
        1,
    )
    return group


def _retention(group_id: str, kept_ms: int) -> GroupHistory:
    group = GroupHistory(group_id)
    group.commit({"orders": {0: 5}}, retention_ms=kept_ms, version=4)
    return group


def _setting(group_id: str, kept_ms: int) -> GroupHistory:
    group = GroupHistory(group_id)
    group.alter_configs({"offsets.retention.ms": str(kept_ms)})
    group.commit({"orders": {0: 5}})
    return group


def _far_behind() -> GroupHistory:
    """The sum of what it is behind has more than 64 bits."""
    group = GroupHistory("far-behind")
    group.commit({"far": {0: 0, 1: 0}})
    return group


def mirrored_extremes() -> list[MirroredLog]:
    """What another coordinator may have written."""
    logs = [_mirrored(f"{name}", at_ms, {"generation": 1}, {}) for name, at_ms in YEARS_MS.items()]
    for number in (LOWEST_INT, HIGHEST_INT):
        timeouts = {"sessionTimeout": number, "rebalanceTimeout": number}
        logs.append(_mirrored(f"int-{number}", 1_000, {"generation": number}, timeouts))
    for number in (LOWEST, HIGHEST):
        times = {"currentStateTimestamp": number}
        logs.append(_mirrored(f"long-{number}", 1_000, times, {}))
        logs[-1].commit("orders", 0, 5, expireTimestamp=number, commitTimestamp=number)
        logs[-1].commit("orders", HIGHEST_INT, 5, leaderEpoch=HIGHEST_INT)
        logs[-1].commit("orders", LOWEST_INT, 5, leaderEpoch=LOWEST_INT)
    return logs


def _mirrored(
    group_id: str, at_ms: int, group: dict[str, int], timeouts: dict[str, int]
) -> MirroredLog:
    """A member comes and commits, goes back, loses an offset, and goes."""
    log = MirroredLog(now_ms=at_ms, key=GroupKey("test", group_id))
    known = {"protocolType": "consumer", "generation": 1, "protocol": "range", "leader": "m"}
    times = {"currentStateTimestamp": at_ms}
    log.record(
        2,
        known | times | group | {"members": [member("m", ["orders"], {"orders": [0]}) | timeouts]},
    )
    for offset in (5, 3):
        log.commit("orders", 0, offset)
    log.commit("orders", 1, 3)
    log.forget("orders", 1)
    log.record(2, known | times | group | {"members": [], "leader": None})
    return log


def add_mirrored_extremes(root: Path) -> None:
    """To tables that are there, as a mirror and its compaction do."""
    for version, log in enumerate(mirrored_extremes()):
        rows = table_rows(log)
        write_deltalake(root / COORDINATOR_LOG.name, rows, mode="append")
        entries = rows.select([*GroupKey._fields, *ENTRY_COLUMNS])
        once = Transaction("extremes", version)
        compaction.compact(TableCatalog(str(root)), log.key.cluster_id, entries, MINUTE, once)


def extreme_tables(root: Path) -> Path:
    """All of these groups, and samples of what they read."""
    tables_of(root, *extreme_groups())
    add_mirrored_extremes(root)
    sample(root, 60, "orders", {0: 1_000, 1: 1_000})
    sample_far_ends(root, 60)
    return root


def sample_far_ends(root: Path, at_s: float) -> None:
    """A topic that is as long as a topic can be."""
    sample(root, at_s, "far", {0: HIGHEST, 1: HIGHEST})
