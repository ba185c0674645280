"""`group-coordinator mcp` and the SDK's own client, over standard input and output and over HTTP."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any, cast

import httpx2
import pytest
from anyio.from_thread import BlockingPortal, start_blocking_portal
from click.testing import CliRunner
from mcp import ClientSession, StdioServerParameters, stdio_client
from mcp.client.streamable_http import streamable_http_client

from group_coordinator.cli.mcp import command
from tests.support.group_history import GroupHistory, label, tables_of
from tests.support.samples import sample

ARGUMENTS = ["-m", "group_coordinator.cli.main", "mcp"]
HOUR_S = 3_600
HOSTILE = "x' OR '1'='1"
TOKEN = "a-token-of-32-letters-0123456789"  # noqa: S105 - of this test alone
Call = Callable[..., Any]
Rows = list[dict[str, Any]]


@pytest.fixture(scope="module")
def tables(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A group that stops, is set back and loses an offset; one with a hostile name; one of the same name elsewhere."""
    billing = GroupHistory("billing", cluster_id="eu-1")
    [member] = billing.form()
    billing.commit({"orders": {0: 10, 1: 40}}, member, 1)
    billing.leave(member)
    billing.principal = "User:anna"
    billing.at(HOUR_S * 1_000)
    billing.commit({"orders": {0: 4}})
    billing.delete_offsets({"orders": [1]})
    hostile = GroupHistory(HOSTILE, cluster_id="eu-1")
    hostile.commit({"clicks": {0: 1}})
    other = GroupHistory("billing", cluster_id="eu-2")
    other.commit({"orders": {0: 9}})
    root = tables_of(tmp_path_factory.mktemp("tables"), billing, hostile, other)
    for at_s, start, end in ((0.5, 0, 2), (1_800, 0, 10), (HOUR_S + 60, 6, 16)):
        sample(root, at_s, "orders", {0: end}, start=start, cluster_id="eu-1")
    label(root, ("bill*", "payments", "gold", 60), cluster_id="eu-1")
    return root


@asynccontextmanager
async def over_stdio(*arguments: str) -> AsyncIterator[ClientSession]:
    server = StdioServerParameters(command=sys.executable, args=[*ARGUMENTS, *arguments])
    async with stdio_client(server) as (read, write), ClientSession(read, write) as session:
        await session.initialize()
        yield session


def caller(portal: BlockingPortal, session: ClientSession) -> Call:
    def call(tool: str, **arguments: Any) -> Any:
        result = portal.call(session.call_tool, tool, arguments)
        [content] = result.content
        if result.is_error:
            return content.text
        # The text is for clients that do not read structured content.
        assert json.loads(content.text) == result.structured_content
        return result.structured_content

    return call


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


def only(found: Any, *columns: str) -> Rows:
    return [{column: row[column] for column in columns} for row in found["rows"]]


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


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_a_signal_ends_it_quietly_while_it_waits_for_a_request(number: int, tables: Path) -> None:
    with subprocess.Popen(  # noqa: S603 - this Python
        [sys.executable, *ARGUMENTS, "--tables", str(tables)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    ) as process:
        assert process.stdin is not None
        assert process.stdout is not None
        process.stdin.write('{"jsonrpc": "2.0", "id": 1, "method": "ping"}\n')
        process.stdin.flush()
        pong = json.loads(process.stdout.readline())
        process.send_signal(number)
        # Standard input stays open: nothing but the signal ends it.
        status = process.wait(timeout=15)
        said = process.stderr.read() if process.stderr else ""

    assert (pong["id"], status, said) == (1, 0, "")


@pytest.fixture(scope="module")
def address(tables: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    token = tmp_path_factory.mktemp("token") / "token"
    token.write_text(f"{TOKEN}\n")
    token.chmod(0o600)
    of_http = ["--http", "127.0.0.1:0", "--token-file", str(token), "--allowed-host", "proxy"]
    with subprocess.Popen(  # noqa: S603 - this Python
        [sys.executable, *ARGUMENTS, "--tables", str(tables), *of_http],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    ) as process:
        assert process.stderr is not None
        assert process.stdout is not None
        yield process.stderr.readline().split()[0]
        process.terminate()
        assert process.wait(timeout=15) == 0
        assert process.stdout.read() == ""


@asynccontextmanager
async def over_http(address: str) -> AsyncIterator[ClientSession]:
    headers = {"Authorization": f"Bearer {TOKEN}"}
    async with (
        httpx2.AsyncClient(headers=headers) as http,
        streamable_http_client(address, http_client=http) as (read, write),
        ClientSession(read, write) as session,
    ):
        await session.initialize()
        yield session


def test_over_http_with_the_token(address: str) -> None:
    with (
        start_blocking_portal() as portal,
        portal.wrap_async_context_manager(over_http(address)) as session,
    ):
        found = caller(portal, session)("lost", group_id="billing")

    assert only(found, "partition", "last_offset") == [{"partition": 1, "last_offset": 40}]


@pytest.mark.parametrize(
    ("headers", "status"),
    [
        ({}, 401),
        ({"Authorization": "Bearer another"}, 401),
        ({"Authorization": f"Bearer {TOKEN}é".encode()}, 401),
        ({"Authorization": f"Basic {TOKEN}"}, 401),
        ({"Authorization": f"Bearer {TOKEN}"}, 200),
        ({"Authorization": f"Bearer {TOKEN}", "Host": "proxy"}, 200),
        ({"Authorization": f"Bearer {TOKEN}", "Host": "rebound.example"}, 421),
        ({"Authorization": f"Bearer {TOKEN}", "Origin": "http://rebound.example"}, 403),
    ],
)
def test_http_requires_the_token_and_a_name_of_the_server(
    address: str, headers: dict[str, str | bytes], status: int
) -> None:
    accepted = {"Accept": "application/json, text/event-stream"}
    body = {"jsonrpc": "2.0", "id": 1, "method": "ping"}

    response = httpx2.post(address, json=body, headers=cast("Any", accepted | headers))

    assert response.status_code == status


def mcp(*arguments: str) -> tuple[int, str]:
    ended = CliRunner().invoke(command, arguments)
    return ended.exit_code, ended.stderr.splitlines()[-1]


def test_http_without_a_token_file_does_not_start() -> None:
    assert mcp("--http", "127.0.0.1:0") == (
        2,
        "Error: --http needs --token-file FILE: all who reach the port could read",
    )


def test_a_token_without_http_is_wrong_usage(tmp_path: Path) -> None:
    (tmp_path / "token").write_text(TOKEN)

    assert mcp("--token-file", str(tmp_path / "token")) == (
        2,
        "Error: --token-file has no effect without --http",
    )


@pytest.mark.parametrize("text", ["", "\n", "two words\n", "two\nlines\n"])
def test_a_token_file_with_another_text_is_wrong_usage(text: str, tmp_path: Path) -> None:
    file = tmp_path / "token"
    file.write_text(text)
    file.chmod(0o600)

    assert mcp("--http", "127.0.0.1:0", "--token-file", str(file)) == (
        2,
        f"Error: --token-file {file} must have one line, the token, without spaces",
    )
