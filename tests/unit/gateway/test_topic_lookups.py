"""Topics that the view does not know yet: asked for by name or id, together and not too often."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Iterator, Mapping
from threading import Thread, current_thread, main_thread
from typing import Any

import pytest

from group_coordinator.codecs import wire
from group_coordinator.gateway.cluster import cluster_view
from tests.unit.gateway.scripted_broker import NODE, ORDERS_ID, Asked, ScriptedBroker
from tests.unit.gateway.stage import in_loop, viewed

REFUNDS_ID = "AAAAAAAAAAAAAAAAAAAABA"


REFUNDS = {
    "name": "refunds",
    "topicId": REFUNDS_ID,
    "partitions": [{"partitionIndex": 0, "leaderId": NODE, "replicaNodes": [NODE]}],
}


class Looks:
    """A broker that has the topic refunds; what it is asked for is kept."""

    def __init__(self, broker: ScriptedBroker) -> None:
        self.asked: list[Any] = []
        self._broker = broker
        broker.answers["Metadata"] = self._answer

    def _answer(self, asked: Asked) -> Mapping[str, Any]:
        self.asked.append(asked.body["topics"])
        wanted = [(topic["name"], topic["topicId"]) for topic in asked.body["topics"]]
        found = [
            REFUNDS
            if "refunds" in each or REFUNDS_ID in each
            else {"name": each[0], "errorCode": 3}
            for each in wanted
        ]
        return {**self._broker.metadata(), "topics": found}


@pytest.mark.parametrize(
    ("names", "topic_ids"), [(["refunds"], []), ([], [REFUNDS_ID])], ids=["name", "id"]
)
@in_loop
async def test_a_new_topic_is_asked_for_alone(names: list[str], topic_ids: list[str]) -> None:
    async with viewed() as (broker, view):
        await view.look_again()
        looks = Looks(broker)
        await view.look_for(names, topic_ids)

        assert (view.name_of(REFUNDS_ID), view.partition_count("refunds")) == ("refunds", 1)
        assert view.knows("orders")
        assert len(looks.asked) == 1
        assert len(looks.asked[0]) == 1


@in_loop
async def test_a_missing_topic_is_asked_for_once_a_while(monkeypatch: pytest.MonkeyPatch) -> None:
    now_s = time.monotonic()
    monkeypatch.setattr(cluster_view, "monotonic", lambda: now_s)

    async with viewed(lookup_interval_ms=1_000) as (broker, view):
        looks = Looks(broker)
        for _ in range(50):
            await view.look_for(["nope"], ["AAAAAAAAAAAAAAAAAAAABQ"])
        # One by name and one by id, as brokers take no mixture.
        assert len(looks.asked) == 2
        now_s += 1.1
        await view.look_for(["nope"])
        assert len(looks.asked) == 3


@in_loop
async def test_who_looks_for_topics_meanwhile_shares_the_next_look() -> None:
    async with viewed(lookup_interval_ms=100) as (broker, view):
        await view.look_again()
        looks = Looks(broker)
        began_s = time.monotonic()
        await view.look_for(["first"])
        many = [asyncio.create_task(view.look_for([f"topic-{n}"])) for n in range(1_500)]
        await asyncio.sleep(0)
        many[0].cancel()
        await asyncio.wait(many)

        assert time.monotonic() - began_s >= 0.1
        # What is above a thousand stays unknown, until the gateway looks at all topics.
        assert [len(topics) for topics in looks.asked] == [1, 1_000]


@in_loop
async def test_a_name_that_no_topic_can_have_is_asked_of_nobody() -> None:
    async with viewed() as (broker, view):
        looks = Looks(broker)
        await view.look_for(["x" * 250])

        assert looks.asked == []


@in_loop
async def test_a_topic_that_was_made_anew_is_known_by_its_new_id_alone() -> None:
    async with viewed(lookup_interval_ms=100) as (broker, view):
        broker.answers["Metadata"] = lambda _asked: {
            **broker.metadata(),
            "topics": [{**REFUNDS, "topicId": ORDERS_ID}],
        }
        await view.look_again()
        Looks(broker)
        await view.look_for(["refunds"])
        ids = view.id_of("refunds"), view.name_of(ORDERS_ID)
        broker.answers["Metadata"] = lambda _asked: {
            **broker.metadata(),
            "topics": [{"name": "refunds", "errorCode": 3}],
        }
        await view.look_for(["refunds"])

        assert ids == (REFUNDS_ID, None)
        assert (view.knows("refunds"), view.name_of(REFUNDS_ID)) == (False, None)


@in_loop
async def test_all_topics_are_decoded_in_a_thread(monkeypatch: pytest.MonkeyPatch) -> None:
    decoded_in: list[Thread] = []
    decode = wire.response_elements

    def recorded(*what: Any) -> tuple[dict[str, Any], Iterator[dict[str, Any]]]:
        decoded_in.append(current_thread())
        return decode(*what)

    monkeypatch.setattr(wire, "response_elements", recorded)

    async with viewed() as (broker, view):
        topics = [{**REFUNDS, "name": f"topic-{number}"} for number in range(2_000)]
        broker.answers["Metadata"] = lambda _asked: {**broker.metadata(), "topics": topics}
        await view.look_again()

        assert len(view.topics) == 2_000
        assert [thread is main_thread() for thread in decoded_in] == [False]


@in_loop
async def test_brokers_that_take_no_ids_are_asked_for_all_topics() -> None:
    async with viewed() as (broker, view):
        entry = {"apiKey": 3, "minVersion": 0, "maxVersion": 11}
        broker.answers["ApiVersions"] = lambda _asked: {"apiKeys": [entry]}
        del broker.answers["Metadata"]
        look = asyncio.create_task(view.look_for(topic_ids=[ORDERS_ID]))
        asked = await broker.asked()
        asked.answer(broker.metadata())
        await look

        assert (asked.version, asked.body["topics"]) == (11, None)
        assert view.name_of(ORDERS_ID) == "orders"
