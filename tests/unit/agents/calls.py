"""Calls of the SDK's own client, and the parts of responses that tests compare."""

from __future__ import annotations

import json
import sys
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from typing import Any

from anyio.from_thread import BlockingPortal
from mcp import ClientSession, StdioServerParameters, stdio_client

ARGUMENTS = ["-m", "group_coordinator.cli.main", "mcp"]
HOSTILE = "x' OR '1'='1"
"""Name of a group that a client chose to attack a query."""
Call = Callable[..., Any]
Rows = list[dict[str, Any]]


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


def only(found: Any, *columns: str) -> Rows:
    return [{column: row[column] for column in columns} for row in found["rows"]]
