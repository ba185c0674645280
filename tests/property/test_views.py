"""Views tell of random groups what the state machine made of them: one table, many lives, one question a view."""

from __future__ import annotations

import json
from datetime import timedelta
from itertools import groupby
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from deltalake import write_deltalake

from group_coordinator.clients.sql_tables import query
from group_coordinator.codecs.records import log_entry
from group_coordinator.core.model.group import Group
from group_coordinator.core.replay import replay_record
from group_coordinator.tables.coordinator_log import COORDINATOR_LOG
from tests.conformance.kafka.coordinators import Ours
from tests.conformance.language.transcript import play
from tests.conformance.random_scripts.classic import RandomClassicScript
from tests.conformance.random_scripts.consumer import RandomConsumerScript
from tests.support.log_rows import EPOCH

SEEDS = range(150)
Json = dict[str, Any]
Key = tuple[str, str]


class Lives:
    """The rows of all scripts, each script a cluster of its own, and what was asked for them."""

    def __init__(self) -> None:
        self.rows: list[Json] = []
        for seed in SEEDS:
            self._play(f"classic-{seed:03}", RandomClassicScript(seed).story("classic"))
            self._play(f"consumer-{seed:03}", RandomConsumerScript(seed).story("consumer"))

    def _play(self, cluster_id: str, story: Any) -> None:
        transcript = play(story, Ours())
        for said, outputs in zip(transcript.said, transcript.outputs, strict=True):
            event = json.loads(said).get("event", {})
            for output in outputs:
                if output["kind"] == "record":
                    self._take(cluster_id, event, output)

    def _take(self, cluster_id: str, event: Json, record: Json) -> None:
        key, value = record["key"], record["value"]
        is_offset = key["type"] == 1
        when = EPOCH + timedelta(milliseconds=record["at"])
        body = event.get("body", {}) if event.get("api") == "OffsetCommit" else {}
        self.rows.append(
            {
                "cluster_id": cluster_id,
                "group_id": record["groupId"],
                "record_type": key["type"],
                "key": json.dumps(key),
                "value": None if value is None else json.dumps(value),
                "topic": key["data"].get("topic"),
                "partition": key["data"].get("partition"),
                "member_id": key["data"].get("memberId"),
                "offset": value["data"]["offset"] if is_offset and value else None,
                "reason": record["reason"],
                # Who commits, so that the answer can be compared with it.
                "principal": "member" if body.get("generationIdOrMemberEpoch", -1) >= 0 else "",
                "event_time": when,
                "batch_id": len(self.rows),
                "seq": 0,
                "ingested_at": when,
            }
        )

    def groups(self) -> dict[Key, Group]:
        """As core replays them."""
        replayed = {}
        by_key = sorted(self.rows, key=lambda row: (row["cluster_id"], row["group_id"]))
        for key, rows in groupby(by_key, lambda row: (row["cluster_id"], row["group_id"])):
            group = replayed[key] = Group(key[1])
            for row in rows:
                replay_record(group, log_entry.decode(row["key"], row["value"]), 0)
        return replayed


@pytest.fixture(scope="module")
def lives() -> Lives:
    return Lives()


@pytest.fixture(scope="module")
def tables(lives: Lives, tmp_path_factory: pytest.TempPathFactory) -> Path:
    root = tmp_path_factory.mktemp("tables")
    COORDINATOR_LOG.create_on_disk(root / "coordinator_log")
    schema = COORDINATOR_LOG.no_rows().schema
    rows = [{name: row.get(name) for name in schema.names} for row in lives.rows]
    write_deltalake(root / "coordinator_log", pa.Table.from_pylist(rows, schema), mode="append")
    return root


def test_the_last_changes_are_the_offsets_of_now(lives: Lives, tables: Path) -> None:
    changes = query(
        str(tables),
        "SELECT cluster_id, group_id, topic, `partition`, `before`, `after` FROM offset_changes "
        "ORDER BY batch_id, topic, `partition`",
    ).to_pylist()

    found: dict[tuple[Any, ...], int | None] = {}
    for change in changes:
        *partition, before, after = change.values()
        assert found.get(tuple(partition)) == before
        found[tuple(partition)] = after
    assert {partition: after for partition, after in found.items() if after is not None} == {
        (*key, topic, partition): offset.offset
        for key, group in lives.groups().items()
        for topic, partitions in group.offsets.items()
        for partition, offset in partitions.items()
    }
    assert sum(after is None for after in found.values()) >= 10


def test_commits_of_members_are_told_from_those_of_others(tables: Path) -> None:
    """Here the principal is member, or empty, as the request says."""
    counts = query(
        str(tables),
        "SELECT by_member, principal, count(*) AS commits FROM offset_changes "
        "WHERE reason = 'offset-commit' AND by_member IS NOT NULL GROUP BY 1, 2",
    ).to_pylist()

    found = {(row["by_member"], row["principal"]): row["commits"] for row in counts}
    # Of a member that waits for its generation, and commits with the one before it, the log has nothing yet.
    assert found.pop((False, "member")) == 1
    assert found.keys() == {(True, "member"), (False, "")}
    assert min(found.values()) >= 10


def test_the_last_happening_has_the_members_of_now(lives: Lives, tables: Path) -> None:
    told = query(
        str(tables),
        "SELECT cluster_id, group_id, members, generation_or_epoch FROM group_timeline "
        "ORDER BY batch_id",
    ).to_pylist()

    found = {(row["cluster_id"], row["group_id"]): row["members"] for row in told}
    for key, group in lives.groups().items():
        members = 0 if group.membership is None else len(group.membership.members)
        assert found.get(key, 0) == members, key
    assert len(found) > len(SEEDS)
