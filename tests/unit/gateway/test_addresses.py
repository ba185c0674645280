from __future__ import annotations

import asyncio
from typing import Any

from group_coordinator.gateway.cluster.addresses import Address, coordinator_of
from group_coordinator.gateway.health_port import ready_page
from tests.unit.gateway.scripted_broker import NODE
from tests.unit.gateway.stage import Stage, on_stage, staged

ELSEWHERE = Address("kafka-3.example.com", 9092)
NO_PORT = 70_000


def places(entries: list[dict[str, Any]], id_field: str = "nodeId") -> dict[int, tuple[str, int]]:
    return {one[id_field]: (one["host"], one["port"]) for one in entries}


@on_stage()
async def test_brokers_are_shown_at_ports_of_the_gateway_and_a_new_one_takes_connections_at_once(
    stage: Stage,
) -> None:
    client = await stage.client()
    stage.broker.nodes[3] = stage.broker.address
    client.ask("Metadata", 12, {"topics": None})
    _, body = await client.answer("Metadata", 12)
    at_node_3 = await stage.client(3)
    at_node_3.ask("Metadata", 1, {"topics": None})
    _, there = await at_node_3.answer("Metadata", 1)

    assert places(body["brokers"]) == {
        1: ("127.0.0.1", stage.port + 2),
        3: ("127.0.0.1", stage.port + 4),
    }
    assert places(there["brokers"]) == places(body["brokers"])
    assert [topic["name"] for topic in body["topics"]] == ["orders"]


@on_stage()
async def test_a_node_without_a_port_of_its_own_is_not_shown_nor_named_as_the_controller(
    stage: Stage,
) -> None:
    client = await stage.client()
    stage.broker.nodes[NO_PORT] = ELSEWHERE
    found = []
    for controller in (NO_PORT, NODE, -1):
        said = {**stage.broker.metadata(), "controllerId": controller}
        stage.broker.answers["Metadata"] = lambda _asked, said=said: said  # type: ignore[misc]
        client.ask("Metadata", 12, {"topics": None})
        _, body = await client.answer("Metadata", 12)
        found.append((list(places(body["brokers"])), body["controllerId"]))

    assert found == [([NODE], NODE), ([NODE], NODE), ([NODE], -1)]


def test_a_broker_that_no_client_has_heard_of_gets_its_port_and_one_that_cannot_have_it_is_told() -> (
    None
):
    async def scene() -> None:
        async with staged() as stage:
            stage.broker.nodes |= {3: stage.broker.address, NO_PORT: ELSEWHERE}
            await stage.view.look_again()
            stage.gateway.open_ports()
            client = await stage.client(3)
            client.ask("Metadata", 1, {"topics": None})
            _, body = await client.answer("Metadata", 1)
            hidden = stage.gateway.nodes_without_port()
            page = ready_page([], hidden)
            del stage.broker.nodes[NO_PORT]
            await stage.view.look_again()

            assert list(places(body["brokers"])) == [NODE, 3]
            assert stage.gateway.nodes_without_port() == {}
            assert page.status == 200
            assert page.text == (
                f"ready\nclients cannot connect to node {NO_PORT}: the port {stage.port + 1 + NO_PORT} of node {NO_PORT} is "
                "above 65535: set a lower port in gateway.listen\n"
            )

    asyncio.run(scene())


@on_stage()
async def test_a_described_cluster_has_the_same_places(stage: Stage) -> None:
    client = await stage.client()
    client.ask("DescribeCluster", 2)
    broker = {"brokerId": NODE, "host": "kafka", "port": 9092, "rack": "a", "isFenced": True}
    (await stage.broker.asked()).answer({"clusterId": "c", "brokers": [broker]})
    _, body = await client.answer("DescribeCluster", 2)

    shown = {"host": "127.0.0.1", "port": stage.port + 2}
    assert body["brokers"] == [broker | shown]


@on_stage()
async def test_a_groups_coordinator_is_one_of_the_nodes_whoever_is_asked(stage: Stage) -> None:
    client = await stage.client(NODE)
    client.ask("FindCoordinator", 2, {"key": "billing", "keyType": 0})
    client.ask("FindCoordinator", 4, {"keyType": 0, "coordinatorKeys": ["a", "b"]})
    _, one = await client.answer("FindCoordinator", 2)
    _, several = await client.answer("FindCoordinator", 4)

    here = {"nodeId": NODE, "host": "127.0.0.1", "port": stage.port + 2, "errorCode": 0}
    assert {field: one[field] for field in here} == here
    assert [found["key"] for found in several["coordinators"]] == ["a", "b"]
    assert all(found.items() >= here.items() for found in several["coordinators"])
    assert stage.broker.is_idle()


@on_stage()
async def test_before_the_cluster_is_known_there_is_no_coordinator(stage: Stage) -> None:
    stage.view.brokers = {}
    client = await stage.client()
    client.ask("FindCoordinator", 4, {"keyType": 0, "coordinatorKeys": ["a"]})
    _, body = await client.answer("FindCoordinator", 4)

    [found] = body["coordinators"]
    assert (found["nodeId"], found["errorCode"]) == (-1, 15)


@on_stage()
async def test_a_transactions_coordinator_is_the_brokers_to_name(stage: Stage) -> None:
    client = await stage.client()
    client.ask("FindCoordinator", 1, {"key": "payments", "keyType": 1})
    client.ask("FindCoordinator", 4, {"keyType": 1, "coordinatorKeys": ["x", "y"]})
    old, new = await stage.broker.asked(), await stage.broker.asked()
    at_node_3 = {"nodeId": 3, **ELSEWHERE._asdict()}
    old.answer(at_node_3)
    nobody = {"key": "y", "nodeId": -1, "host": "", "port": -1, "errorCode": 15}
    new.answer({"coordinators": [{"key": "x", **at_node_3}, nobody]})
    _, one = await client.answer("FindCoordinator", 1)
    _, several = await client.answer("FindCoordinator", 4)

    assert places([one]) == {3: ("127.0.0.1", stage.port + 4)}
    assert places(several["coordinators"]) == {3: ("127.0.0.1", stage.port + 4), -1: ("", -1)}
    assert several["coordinators"][1]["errorCode"] == 15
    assert stage.view.addresses_of(3) == [ELSEWHERE]


@on_stage()
async def test_share_groups_have_no_coordinator(stage: Stage) -> None:
    client = await stage.client()
    client.ask("FindCoordinator", 6, {"keyType": 2, "coordinatorKeys": ["s:t:0"]})
    _, body = await client.answer("FindCoordinator", 6)

    assert [found["errorCode"] for found in body["coordinators"]] == [42]


@on_stage()
async def test_leaders_in_an_answer_to_produce_are_at_the_gateways_ports(stage: Stage) -> None:
    client = await stage.client()
    for _ in range(2):
        client.ask("Produce", 11, {"acks": 1, "timeoutMs": 100, "topicData": []})
    moved, usual = await stage.broker.asked(), await stage.broker.asked()
    at_node_3 = {"nodeId": 3, **ELSEWHERE._asdict(), "rack": "b"}
    moved.answer({"responses": [], "throttleTimeMs": 4, "nodeEndpoints": [at_node_3]})
    usual.answer({"responses": [], "throttleTimeMs": 5})
    _, first = await client.answer("Produce", 11)
    _, second = await client.answer("Produce", 11)

    assert places(first["nodeEndpoints"]) == {3: ("127.0.0.1", stage.port + 4)}
    assert (first["throttleTimeMs"], second["throttleTimeMs"]) == (4, 5)


def test_groups_are_spread_over_the_nodes_and_stay_where_they_are() -> None:
    found = {group: coordinator_of(group, {5, 1, 3}) for group in ("billing", "orders", "refunds")}

    assert found == {"billing": 1, "orders": 5, "refunds": 1}
    assert {coordinator_of(f"group-{n}", [1, 3, 5]) for n in range(50)} == {1, 3, 5}


@on_stage()
async def test_of_a_brokers_topics_nothing_is_read(stage: Stage) -> None:
    client = await stage.client()
    del stage.broker.answers["Metadata"]
    client.ask("Metadata", 1, {"topics": None})
    no_brokers_no_controller = b"\0\0\0\0\xff\xff\xff\xff"
    sent = (await stage.broker.asked()).answer_bytes(no_brokers_no_controller + b"topics")

    assert await client.frame() == sent[4:]
