"""Requests with damaged bytes: whatever Kafka's protocol lets through is answered, and the job takes every event."""

from __future__ import annotations

import asyncio
from typing import NamedTuple

from hypothesis import given
from hypothesis import strategies as st

from group_coordinator.clients.channel import Body
from group_coordinator.codecs import wire
from group_coordinator.gateway.login import Caller
from tests.broker.gateway.ask import Ask
from tests.broker.gateway.conversation import everything
from tests.broker.gateway.test_same_answers import replaced
from tests.unit.gateway.groups_driver import ORDERS, Groups, answered

CALLER = Caller("someone", "/10.0.0.7", "User:someone", None)
CONFIGS = ("DescribeConfigs", "IncrementalAlterConfigs")
REQUESTS = [
    ask._replace(body=replaced(ask.body, {"$orders": ORDERS, "$member": "someone"}))
    for ask in everything()
]


class Damage(NamedTuple):
    """At a place of a request so many bytes are replaced by others."""

    place: float
    taken: int
    given: bytes


DAMAGES = st.builds(
    Damage,
    st.floats(0, 1),
    st.integers(0, 3),
    st.lists(st.sampled_from([0, 1, 2, 3, 0x7F, 0x80, 0xFF]), max_size=3).map(bytes),
)


def damaged(ask: Ask, damages: list[Damage]) -> Body | None:
    """None: Kafka would hang up on it."""
    message = f"{ask.api}Request"
    data = wire.encode(message, ask.version, ask.body)
    for place, taken, given_instead in damages:
        at = int(place * len(data))
        data = data[:at] + given_instead + data[at + taken :]
    try:
        return wire.decode(message, ask.version, data)
    except wire.WireError:
        return None


@given(
    st.lists(
        st.tuples(st.sampled_from(REQUESTS), st.lists(DAMAGES, max_size=3)), min_size=1, max_size=8
    )
)
def test_every_request_is_answered(requests: list[tuple[Ask, list[Damage]]]) -> None:
    found = [(ask, damaged(ask, damages)) for ask, damages in requests]
    asyncio.run(all_answered([(ask, body) for ask, body in found if body is not None]))


async def all_answered(requests: list[tuple[Ask, Body]]) -> None:
    groups = Groups(answer_timeout_ms=1)
    for ask, body in requests:
        if ask.api in CONFIGS:
            # Other resources never come here.
            body["resources"] = [each | {"resourceType": 32} for each in body["resources"]]
        answering = answered(groups.apis, groups.topics, ask.api, ask.version, body, CALLER)
        await asyncio.wait([answering], timeout=0.05)
        if answering.done():
            wire.encode(f"{ask.api}Response", ask.version, answering.result())
        else:
            # Parked: it waits for others of its group.
            assert ask.api in ("JoinGroup", "SyncGroup")
            answering.cancel()
    assert groups.job.refused == []
