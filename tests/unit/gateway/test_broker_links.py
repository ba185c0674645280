from __future__ import annotations

import asyncio
import time

import pytest

from group_coordinator.gateway.cluster import broker_links
from group_coordinator.gateway.cluster.broker_access import BrokerAccess
from group_coordinator.gateway.cluster.broker_links import FAILURES, BrokerLinks
from tests.unit.gateway.scripted_broker import ScriptedBroker
from tests.unit.gateway.stage import in_loop, until

LOGIN = BrokerAccess(
    {
        "security_protocol": "SASL_PLAINTEXT",
        "sasl_mechanism": "PLAIN",
        "sasl_plain_username": "gateway",
        "sasl_plain_password": "secret",
    }
)


@in_loop
async def test_a_question_that_fails_on_the_last_connection_leaves_the_next_one_alone(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """One is opened for the next before the session of the last one ends."""
    now_s = time.monotonic()
    monkeypatch.setattr(broker_links, "monotonic", lambda: now_s)

    async with ScriptedBroker() as broker:
        broker.session_ms = 60_000
        del broker.answers["DescribeAcls"]
        links = BrokerLinks(LOGIN)
        late = asyncio.create_task(links.ask(broker.address, "DescribeAcls", {}))
        asked = await broker.asked()
        now_s += 55.0
        await links.knows(broker.address, "Metadata")
        asked.hang_up()
        with pytest.raises(FAILURES):
            await late
        await until(lambda: asked.writer not in broker.writers)
        [second] = broker.writers
        await links.knows(broker.address, "Metadata")

        assert broker.writers == {second}
        links.close()
