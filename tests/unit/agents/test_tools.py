"""The tools of `group-coordinator mcp`, called by the SDK's own client over standard input and output."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from anyio.from_thread import BlockingPortal, start_blocking_portal
from mcp import ClientSession

from tests.unit.agents.calls import HOSTILE, Call, caller, only, over_stdio


@pytest.fixture(scope="module")
def session(tables: Path) -> Iterator[tuple[BlockingPortal, ClientSession]]:
    with (
        start_blocking_portal() as portal,
        portal.wrap_async_context_manager(over_stdio("--tables", str(tables))) as session,
    ):
        yield portal, session


@pytest.fixture(scope="module")
def call(session: tuple[BlockingPortal, ClientSession]) -> Call:
    return caller(*session)


def test_all_tools_only_read_and_describe_their_arguments_and_rows(
    session: tuple[BlockingPortal, ClientSession],
) -> None:
    portal, client = session

    tools = {tool.name: tool for tool in portal.call(client.list_tools).tools}

    assert list(tools) == ["groups", "lag", "timeline", "lost", "expiring", "at_risk", "explain"]
    assert all(tool.annotations.read_only_hint for tool in tools.values())
    described = [
        (name, argument)
        for name, tool in tools.items()
        for argument, schema in tool.input_schema["properties"].items()
        if not schema["description"]
    ]
    assert described == []
    assert tools["lag"].input_schema["required"] == ["group_id"]
    assert tools["lag"].input_schema["properties"]["limit"]["maximum"] == 500
    rows = tools["lost"].output_schema["properties"]["rows"]["items"]["properties"]
    assert rows["last_offset"]["description"] == "The offset that was lost"


def test_groups_the_worst_first(call: Call) -> None:
    found = call("groups", cluster_id="eu-1")

    assert found["total_rows"] == 2
    assert only(found, "group_id", "status", "state", "total_lag", "owner") == [
        {
            "group_id": "billing",
            "status": "LOSS",
            "state": "Empty",
            "total_lag": 10,
            "owner": "payments",
        },
        {
            "group_id": HOSTILE,
            "status": None,
            "state": "Empty",
            "total_lag": None,
            "owner": None,
        },
    ]


@pytest.mark.parametrize(
    ("filters", "groups"),
    [
        ({"owner": "payments"}, ["billing"]),
        ({"status": "LOSS"}, ["billing"]),
        ({"status": "OK"}, []),
        ({"group_id": HOSTILE}, [HOSTILE]),
    ],
)
def test_groups_by_owner_status_and_name(
    call: Call, filters: dict[str, str], groups: list[str]
) -> None:
    assert [row["group_id"] for row in call("groups", **filters)["rows"]] == groups


def test_rows_that_are_cut_are_counted(call: Call) -> None:
    found = call("groups", limit=1)

    assert (found["total_rows"], len(found["rows"])) == (3, 1)


def test_the_lag_of_partitions_and_since_when(call: Call) -> None:
    found = call("lag", group_id="billing", cluster_id="eu-1")

    columns = ("topic", "partition", "status", "lag", "lost", "behind_since", "member_id")
    assert only(found, *columns) == [
        {
            "topic": "orders",
            "partition": 0,
            "status": "LOSS",
            "lag": 10,
            "lost": 2,
            "behind_since": "1970-01-01T00:15:00.250000Z",
            "member_id": None,
        }
    ]


def test_an_earlier_time(call: Call) -> None:
    found = call("lag", group_id="billing", cluster_id="eu-1", as_of="1970-01-01 00:30")

    assert only(found, "partition", "status", "committed_offset", "lag") == [
        {"partition": 0, "status": "OK", "committed_offset": 10, "lag": 0},
        {"partition": 1, "status": None, "committed_offset": 40, "lag": None},
    ]


def test_the_timeline_begins_with_the_newest_change(call: Call) -> None:
    found = call("timeline", group_id="billing", cluster_id="eu-1", limit=2)

    assert found["total_rows"] == 3
    assert only(found, "at", "what", "members", "detail") == [
        {"at": "1970-01-01T00:00:03Z", "what": "emptied", "members": 0, "detail": "leave"},
        {"at": "1970-01-01T00:00:03Z", "what": "rebalanced", "members": 1, "detail": "sync"},
    ]


def test_lost_offsets(call: Call) -> None:
    assert only(call("lost"), "group_id", "partition", "last_offset", "lost_at", "principal") == [
        {
            "group_id": "billing",
            "partition": 1,
            "last_offset": 40,
            "lost_at": "1970-01-01T01:00:00Z",
            "principal": "User:anna",
        }
    ]


def test_expirations_within_hours_of_a_time(call: Call) -> None:
    when = {"cluster_id": "eu-1", "group_id": "billing", "as_of": "1970-01-01T01:00:00Z"}

    assert call("expiring", **when) == {"total_rows": 0, "rows": []}
    assert only(call("expiring", **when, within_hours=168), "partition", "expires_at") == [
        {"partition": 0, "expires_at": "1970-01-08T00:10:00Z"}
    ]


def test_records_at_risk(call: Call) -> None:
    assert only(call("at_risk"), "group_id", "partition", "lost", "readable_lag", "used_up") == [
        {"group_id": "billing", "partition": 0, "lost": 2, "readable_lag": 10, "used_up": 1.0}
    ]


def test_an_explanation_has_the_facts_with_their_times(call: Call) -> None:
    found = call("explain", group_id="billing", cluster_id="eu-1")

    assert only(found["status"], "status", "state") == [{"status": "LOSS", "state": "Empty"}]
    assert only(found["partitions"], "partition", "silent_since") == [
        {"partition": 0, "silent_since": "1970-01-01T01:00:00Z"}
    ]
    assert only(found["rebalances"], "ended_at", "members_after") == [
        {"ended_at": "1970-01-01T00:00:03Z", "members_after": 0},
        {"ended_at": "1970-01-01T00:00:03Z", "members_after": 1},
    ]
    assert only(found["offset_changes"], "at", "change", "before", "after", "principal") == [
        {
            "at": "1970-01-01T01:00:00Z",
            "change": "reset",
            "before": 10,
            "after": 4,
            "principal": "User:anna",
        },
        {
            "at": "1970-01-01T01:00:00Z",
            "change": "deleted",
            "before": 40,
            "after": None,
            "principal": "User:anna",
        },
    ]
    assert only(found["readiness"], "verdict") == [{"verdict": "empty"}]
    assert {name: part["total_rows"] for name, part in found.items()} == {
        "status": 1,
        "partitions": 1,
        "timeline": 3,
        "rebalances": 2,
        "offset_changes": 2,
        "lost": 1,
        "at_risk": 1,
        "expiring": 1,
        "readiness": 1,
    }


@pytest.mark.parametrize(
    ("tool", "arguments", "sentence"),
    [
        (
            "lag",
            {"group_id": "grupo"},
            "the tables have no group with group_id = 'grupo': the tool groups lists clusters and groups",
        ),
        (
            "explain",
            {"group_id": "billing", "as_of": "1969-12-31"},
            "the tables have no group with group_id = 'billing' as of 1969-12-31: the tool groups lists clusters and groups",
        ),
        (
            "lost",
            {"cluster_id": "eu-1' OR true --"},
            "the tables have no group with cluster_id = 'eu-1'' OR true --': the tool groups lists clusters and groups",
        ),
        (
            "groups",
            {"as_of": "yesterday"},
            "'yesterday' is not a time: give one such as 2024-01-02T03:04:05Z or 2024-01-02 03:04 (UTC): the arguments are {'as_of': 'yesterday'}, and the tool's schema has their names and limits",
        ),
        (
            "groups",
            {"limit": 501},
            "Expected `int` <= 500 - at `$.limit`: the arguments are {'limit': 501}, and the tool's schema has their names and limits",
        ),
        (
            "timeline",
            {"group": "billing"},
            "Object contains unknown field `group`: the arguments are {'group': 'billing'}, and the tool's schema has their names and limits",
        ),
        (
            "drop",
            {},
            "'drop' is not a tool: the tools are groups, lag, timeline, lost, expiring, at_risk, explain",
        ),
    ],
)
def test_a_mistake_is_a_sentence(
    call: Call, tool: str, arguments: dict[str, Any], sentence: str
) -> None:
    assert call(tool, **arguments) == sentence


def test_no_tables(tmp_path: Path) -> None:
    with (
        start_blocking_portal() as portal,
        portal.wrap_async_context_manager(over_stdio("--tables", str(tmp_path))) as session,
    ):
        found = caller(portal, session)("groups")

    assert found == f"tables.root = {tmp_path} has no tables: run `group-coordinator init`"
