from __future__ import annotations

import asyncio
from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from deltalake import DeltaTable, write_deltalake

from group_coordinator.clients.channel import Body
from group_coordinator.gateway.groups import group_listing, group_tables
from group_coordinator.gateway.groups.group_tables import FreshTables, GroupTables
from tests.unit.gateway.groups_driver import START_MS, Groups, join_body
from tests.unit.gateway.stage import in_loop

_MONTH_MS = 30 * 24 * 3600 * 1000
ORDERS_0 = {"name": "orders", "partitions": [{"partitionIndex": 0, "committedOffset": 42}]}
BEAT = {
    "memberId": "a-member",
    "memberEpoch": 0,
    "rebalanceTimeoutMs": 30_000,
    "subscribedTopicNames": ["orders"],
    "topicPartitions": [],
}


@pytest.fixture(autouse=True)
def _always_read(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(group_tables, "_FRESH_S", 0.0)


def row(group_id: str, *, at_ms: int = 0, state: str = "Stable", **more: str) -> dict[str, Any]:
    at = datetime.fromtimestamp(at_ms / 1000, UTC)
    found = {"cluster_id": "default", "group_type": "classic", "protocol_type": "consumer"}
    return {"group_id": group_id, "state": state, "updated_at": at, **found, **more}


def write(root: Path, name: str, rows: Sequence[dict[str, Any]]) -> None:
    write_deltalake(root / name, pa.Table.from_pylist(list(rows)), mode="overwrite")


def over(root: Path) -> FreshTables:
    return FreshTables(GroupTables(str(root), "default"))


async def listed(groups: Groups, **filters: Any) -> list[tuple[str, str, str, str]]:
    answer = await groups.ask("ListGroups", 5, **filters)
    assert answer["errorCode"] == 0
    return sorted(
        (each["groupId"], each["groupType"], each["groupState"], each["protocolType"])
        for each in answer["groups"]
    )


async def commit(groups: Groups, group_id: str) -> Body:
    return await groups.ask(
        "OffsetCommit",
        9,
        groupId=group_id,
        memberId="",
        generationIdOrMemberEpoch=-1,
        topics=[ORDERS_0],
    )


@in_loop
async def test_groups_are_listed_as_soon_as_their_first_answer_passed_by() -> None:
    groups = Groups()

    await groups.stable("billing")
    await commit(groups, "simple")
    await groups.ask("ConsumerGroupHeartbeat", 1, groupId="modern", **BEAT)

    assert await listed(groups) == [
        ("billing", "classic", "Stable", "consumer"),
        ("modern", "consumer", "Stable", "consumer"),
        ("simple", "classic", "Empty", ""),
    ]


@in_loop
async def test_a_group_stays_although_its_first_join_was_refused() -> None:
    groups = Groups()

    refused = await groups.ask("JoinGroup", 9, **join_body("billing") | {"protocols": []})

    assert refused["errorCode"] == 23
    assert await listed(groups) == [("billing", "classic", "Empty", "")]


@in_loop
async def test_a_group_is_there_although_its_first_commit_had_too_much_metadata() -> None:
    groups = Groups()
    large = {"partitionIndex": 0, "committedOffset": 42, "committedMetadata": "x" * 5_000}
    topics = [{"name": "orders", "partitions": [large]}]

    refused = await groups.ask("OffsetCommit", 9, groupId="simple", topics=topics)

    assert refused["topics"][0]["partitions"][0]["errorCode"] == 12
    assert await listed(groups) == [("simple", "classic", "Empty", "")]


@in_loop
async def test_what_is_known_is_not_asked_again() -> None:
    groups = Groups()
    await groups.stable("billing")
    await listed(groups)
    asked = len(groups.job.asked)

    assert await listed(groups) == [("billing", "classic", "Stable", "consumer")]
    assert len(groups.job.asked) == asked


@in_loop
async def test_a_group_whose_member_left_is_empty() -> None:
    groups = Groups()
    member_id = await groups.stable("billing")
    await listed(groups)

    await groups.ask("LeaveGroup", 5, groupId="billing", members=[{"memberId": member_id}])

    assert await listed(groups) == [("billing", "classic", "Empty", "consumer")]


@in_loop
async def test_a_group_that_was_deleted_is_gone_and_comes_again() -> None:
    groups = Groups()
    await commit(groups, "simple")
    assert await listed(groups) == [("simple", "classic", "Empty", "")]

    await groups.ask("DeleteGroups", 3, groupsNames=["simple"])
    assert await listed(groups) == []

    await commit(groups, "simple")
    assert await listed(groups) == [("simple", "classic", "Empty", "")]


@in_loop
async def test_a_group_in_rebalance_says_so_by_its_heartbeats() -> None:
    groups = Groups()
    member_id = await groups.stable("billing")
    await listed(groups)
    newcomer = groups.send("JoinGroup", 3, **join_body("billing"))

    beat = {"groupId": "billing", "generationId": 1, "memberId": member_id}
    assert await groups.ask("Heartbeat", 4, **beat) == {"errorCode": 27}

    assert await listed(groups) == [("billing", "classic", "PreparingRebalance", "consumer")]
    newcomer.cancel()


@in_loop
async def test_a_consumer_group_that_lost_a_silent_member_says_so_by_its_epoch() -> None:
    groups = Groups(group_consumer_assignment_interval_ms=0)
    join = BEAT | {"groupId": "modern", "subscribedTopicNames": ["payments"]}
    beat = {"groupId": "modern", "memberId": "a-member", "memberEpoch": 2}
    await groups.ask("ConsumerGroupHeartbeat", 1, **join)
    await groups.ask("ConsumerGroupHeartbeat", 1, **join | {"memberId": "another"})
    assert await listed(groups) == [("modern", "consumer", "Reconciling", "consumer")]

    groups.now_ms += 30_000
    await groups.ask("ConsumerGroupHeartbeat", 1, **beat)
    assert await listed(groups) == [("modern", "consumer", "Stable", "consumer")]
    groups.now_ms += 20_000
    groups.job.pass_time()
    asked = len(groups.job.asked)
    assert (await groups.ask("ConsumerGroupHeartbeat", 1, **beat | {"memberEpoch": 3}))[
        "memberEpoch"
    ] == 4

    assert await listed(groups) == [("modern", "consumer", "Stable", "consumer")]
    assert len(groups.job.asked) == asked + 3


@in_loop
async def test_filters_ignore_case() -> None:
    groups = Groups()
    await groups.stable("billing")
    await commit(groups, "simple")

    assert [name for name, *_ in await listed(groups, statesFilter=["EMPTY"])] == ["simple"]
    assert [name for name, *_ in await listed(groups, typesFilter=["Classic"])] == [
        "billing",
        "simple",
    ]
    assert await listed(groups, typesFilter=["consumer"]) == []
    assert await listed(groups, statesFilter=["nonsense"]) == []


@in_loop
async def test_a_silent_job_leaves_groups_as_they_were_known_last() -> None:
    groups = Groups(answer_timeout_ms=20)
    member_id = await groups.stable("billing")
    await listed(groups)
    await groups.ask("LeaveGroup", 5, groupId="billing", members=[{"memberId": member_id}])
    groups.job.is_silent = True

    assert await listed(groups) == [("billing", "classic", "Stable", "consumer")]


@in_loop
async def test_tables_say_what_was_before_the_gateway(tmp_path: Path) -> None:
    write(tmp_path, "groups", [row("old", state="Empty"), row("another", cluster_id="other")])
    groups = Groups(tables=over(tmp_path))

    assert await listed(groups) == [("old", "classic", "Empty", "consumer")]
    assert groups.job.asked == []


@in_loop
async def test_tables_are_read_again_when_they_change(tmp_path: Path) -> None:
    write(tmp_path, "groups", [row("old")])
    groups = Groups(tables=over(tmp_path))
    await listed(groups)

    write(tmp_path, "groups", [row("older")])

    assert [name for name, *_ in await listed(groups)] == ["older"]


def test_a_commit_while_the_tables_are_read_is_for_the_next_list(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write(tmp_path, "groups", [row("older")])
    [older] = DeltaTable(tmp_path / "groups").history()

    def opened(path: str) -> DeltaTable:
        table = DeltaTable(path)
        write(tmp_path, "groups", [row("newer")])
        return table

    monkeypatch.setattr(group_tables, "open_table", opened)
    found = GroupTables(str(tmp_path), "default").groups()

    assert found is not None
    assert (list(found.rows), found.compacted_ms) == (["older"], older["timestamp"])


@in_loop
async def test_an_active_group_of_the_tables_is_not_asked_about(tmp_path: Path) -> None:
    write(tmp_path, "groups", [row("simple", state="Empty")])
    groups = Groups(tables=over(tmp_path))
    await commit(groups, "simple")

    assert await listed(groups) == [("simple", "classic", "Empty", "consumer")]
    assert [asked.api for asked in groups.job.asked] == ["OffsetCommit"]


@in_loop
async def test_what_passed_by_is_newer_than_the_tables(tmp_path: Path) -> None:
    now_ms = int(datetime.now(UTC).timestamp() * 1000)
    write(tmp_path, "groups", [row("gone", at_ms=now_ms - 60_000), row("there")])
    groups = Groups(tables=over(tmp_path))
    groups.now_ms = now_ms
    await commit(groups, "gone")
    await groups.ask("DeleteGroups", 3, groupsNames=["gone"])
    await commit(groups, "new")

    assert [name for name, *_ in await listed(groups)] == ["new", "there"]


@in_loop
async def test_a_newer_row_of_the_tables_counts(tmp_path: Path) -> None:
    """A session that ended silently: no answer says so."""
    now_ms = int(datetime.now(UTC).timestamp() * 1000)
    write(tmp_path, "groups", [row("billing", at_ms=now_ms + 45_000, state="Empty")])
    groups = Groups(tables=over(tmp_path))
    groups.now_ms = now_ms
    await groups.stable("billing")

    assert await listed(groups) == [("billing", "classic", "Empty", "consumer")]


@in_loop
async def test_what_passed_by_long_ago_is_left_to_the_tables(tmp_path: Path) -> None:
    groups = Groups(tables=over(tmp_path))
    groups.now_ms = START_MS
    await commit(groups, "expired")
    assert [name for name, *_ in await listed(groups)] == ["expired"]

    write(tmp_path, "groups", [row("other")])

    assert [name for name, *_ in await listed(groups)] == ["other"]


@in_loop
async def test_a_group_that_expires_before_it_is_in_the_tables_is_gone(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write(tmp_path, "groups", [row("other")])
    groups = Groups(tables=over(tmp_path))
    groups.now_ms = int(datetime.now(UTC).timestamp() * 1000)
    await commit(groups, "brief")
    assert [name for name, *_ in await listed(groups)] == ["brief", "other"]

    groups.now_ms += _MONTH_MS
    groups.job.pass_time()
    monkeypatch.setattr(group_listing, "_BELIEVED_S", 0.0)

    assert [name for name, *_ in await listed(groups)] == ["other"]


@in_loop
async def test_tables_that_cannot_be_read_stay_as_they_were(tmp_path: Path) -> None:
    write(tmp_path, "groups", [row("old")])
    groups = Groups(tables=over(tmp_path))
    await listed(groups)

    log = tmp_path / "groups" / "_delta_log"
    for file in log.iterdir():
        file.write_text("not a table", encoding="utf-8")

    assert [name for name, *_ in await listed(groups)] == ["old"]


@in_loop
async def test_tables_without_a_file_stay_as_they_were(tmp_path: Path) -> None:
    write(tmp_path, "groups", [row("old")])
    groups = Groups(tables=over(tmp_path))
    await listed(groups)

    write(tmp_path, "groups", [row("new")])
    for file in (tmp_path / "groups").glob("*.parquet"):
        file.unlink()

    assert [name for name, *_ in await listed(groups)] == ["old"]


@in_loop
async def test_lists_of_all_nodes_share_the_questions() -> None:
    groups = Groups()
    await commit(groups, "a")
    asked = len(groups.job.asked)

    await asyncio.gather(*(groups.ask("ListGroups", 5, node_id=node_id) for node_id in (1, 2)))

    assert [each.api for each in groups.job.asked[asked:]] == [
        "DescribeGroups",
        "ConsumerGroupDescribe",
    ]


@in_loop
async def test_settings_from_before_the_gateway_are_in_the_tables(tmp_path: Path) -> None:
    configs = [
        {"cluster_id": "default", "group_id": "billing", "name": "consumer.session.timeout.ms"},
        {"cluster_id": "default", "group_id": "audit", "name": "consumer.session.timeout.ms"},
        {"cluster_id": "other", "group_id": "elsewhere", "name": "consumer.session.timeout.ms"},
    ]
    write(tmp_path, "group_configs", configs)
    groups = Groups(tables=over(tmp_path))

    taken_back = {"name": "consumer.session.timeout.ms", "configOperation": 1, "value": None}
    resource = {"resourceType": 32, "resourceName": "audit", "configs": [taken_back]}
    await groups.ask("IncrementalAlterConfigs", 1, resources=[resource])

    assert await groups.apis.groups_with_settings() == ["billing"]
