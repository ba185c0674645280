"""Damaged requests end one connection at most: none meets a defect, and the gateway goes on."""

from __future__ import annotations

import asyncio
import logging
from typing import NamedTuple

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from group_coordinator.codecs import wire
from group_coordinator.gateway.api_versions import APIS
from tests.unit.gateway.stage import staged

REQUESTS = sorted((api.name, version) for api in APIS.values() for version in api.versions)


class Damage(NamedTuple):
    """Bytes of a request that are other ones, and how many of its last ones are missing."""

    changed: list[tuple[int, int]]
    missing: int

    def of(self, request: bytes) -> bytes:
        damaged = bytearray(request)
        for position, byte in self.changed:
            damaged[position % len(damaged)] = byte
        return bytes(damaged[: len(damaged) - self.missing])


BYTES = st.sampled_from([0, 1, 2, 16, 127, 128, 254, 255])
# The first four are the size, which would leave the gateway waiting for the rest most of the time.
PLACES = st.integers(4, 60)
DAMAGES = st.builds(
    Damage, st.lists(st.tuples(PLACES, BYTES), max_size=4), st.sampled_from([0, 0, 0, 1, 5])
)


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(sent=st.lists(st.tuples(st.sampled_from(REQUESTS), DAMAGES), min_size=5, max_size=30))
def test_damaged_requests(
    caplog: pytest.LogCaptureFixture, sent: list[tuple[tuple[str, int], Damage]]
) -> None:
    async def scene() -> None:
        async with staged() as stage:
            for (api, version), damage in sent:
                client = await stage.client()
                client.writer.write(damage.of(wire.request(api, version, 7, "a-client", {})))
                client.writer.write_eof()
            for client in stage.clients:
                await client.reader.read()
            await stage.client()
            last = await stage.client()
            last.ask("ApiVersions", 0)
            assert (await last.answer("ApiVersions", 0))[1]["errorCode"] == 0

    caplog.clear()
    with caplog.at_level(logging.ERROR, "group_coordinator"):
        asyncio.run(scene())
    assert [one.getMessage() for one in caplog.records if one.levelno >= logging.ERROR] == []
