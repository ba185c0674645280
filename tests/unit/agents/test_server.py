"""The server of `group-coordinator mcp`: signals, HTTP with its token, and wrong usage."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any, cast

import httpx2
import pytest
from anyio.from_thread import start_blocking_portal
from click.testing import CliRunner
from mcp import ClientSession
from mcp.client.streamable_http import streamable_http_client

from group_coordinator.cli.mcp import command
from tests.unit.agents.calls import ARGUMENTS, caller, only

TOKEN = "a-token-of-32-letters-0123456789"  # noqa: S105 - of this test alone


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
