"""Connections that have logged in at their broker, which is bound to the connection."""

from __future__ import annotations

import asyncio

from group_coordinator.gateway.connection import Connection
from tests.unit.gateway.stage import Client, Stage, staged, until

HEARTBEAT = {"groupId": "billing", "generationId": 3, "memberId": "m-1"}
FETCH = {"maxWaitMs": 100, "minBytes": 1, "topics": []}
FOUR_MINUTES_S = 240.0


async def logged_in(stage: Stage) -> tuple[Client, Connection]:
    client = await stage.client()
    client.ask("ApiVersions", 0)
    await client.frame()
    [connection] = stage.gateway._connections  # noqa: SLF001 - no login reaches it yet
    connection.has_logged_in = True
    return client, connection


def test_a_broker_that_hears_nothing_is_asked_something_and_the_client_never_hears_of_it() -> None:
    async def scene() -> None:
        async with staged() as stage:
            del stage.broker.answers["ApiVersions"]
            stage.broker.answers["ApiVersions"] = lambda _asked: {"apiKeys": []}
            client, connection = await logged_in(stage)
            del stage.broker.answers["ApiVersions"]
            now_s = asyncio.get_running_loop().time()
            connection.keep_broker(now_s + FOUR_MINUTES_S - 1)
            connection.keep_broker(now_s + FOUR_MINUTES_S + 1)
            connection.keep_broker(now_s + FOUR_MINUTES_S + 1)
            number = client.ask("Fetch", 12, FETCH)
            kept, fetch = await stage.broker.asked(), await stage.broker.asked()
            kept.answer({"apiKeys": []})
            fetch.answer_bytes(b"\0fetched")

            assert (kept.api, fetch.api) == ("ApiVersions", "Fetch")
            frame = await client.frame()
            assert (int.from_bytes(frame[:4]), frame[5:]) == (number, b"fetched")

    asyncio.run(scene())


def test_without_a_login_a_broker_may_hang_up() -> None:
    async def scene() -> None:
        async with staged() as stage:
            client, connection = await logged_in(stage)
            connection.has_logged_in = False
            connection.keep_broker(asyncio.get_running_loop().time() + 2 * FOUR_MINUTES_S)
            client.ask("Fetch", 12, FETCH)

            assert (await stage.broker.asked()).api == "Fetch"

    asyncio.run(scene())


def test_a_broker_that_goes_takes_the_login_with_it() -> None:
    async def scene() -> None:
        async with staged() as stage:
            client, connection = await logged_in(stage)
            client.ask("Heartbeat", 4, HEARTBEAT)
            await stage.job.asked()
            upstream = connection.exchange.upstream
            assert upstream is not None
            for writer in tuple(stage.broker.writers):
                writer.transport.abort()

            assert await client.is_hung_up()
            await until(lambda: stage.gateway.gauges().connections == 0)

    asyncio.run(scene())
