from __future__ import annotations

import asyncio
from typing import Any

import pytest

from group_coordinator.gateway import GatewayStartError
from group_coordinator.gateway.cluster.addresses import (
    Address,
    advertised_host,
    check_protocol,
    coordinator_of,
    listen_address,
)
from group_coordinator.gateway.health_port import ready_page
from group_coordinator.gateway.login import client_host
from tests.unit.gateway.scripted_broker import NODE
from tests.unit.gateway.stage import Stage, on_stage, staged

ELSEWHERE = Address("kafka-3.example.com", 9092)
NO_PORT = 70_000


def places(entries: list[dict[str, Any]], id_field: str = "nodeId") -> dict[int, tuple[str, int]]:
    return {one[id_field]: (one["host"], one["port"]) for one in entries}


@on_stage()
async def test_brokers_are_at_ports_of_the_gateway_and_a_new_one_is_at_once(stage: Stage) -> None:
    client = await stage.client()
    stage.broker.nodes[3] = stage.broker.address
    body = await client.asks("Metadata", 12, {"topics": None})
    at_node_3 = await stage.client(3)
    there = await at_node_3.asks("Metadata", 1, {"topics": None})

    assert places(body["brokers"]) == {
        1: ("127.0.0.1", stage.port + 2),
        3: ("127.0.0.1", stage.port + 4),
    }
    assert places(there["brokers"]) == places(body["brokers"])
    assert [topic["name"] for topic in body["topics"]] == ["orders"]


@on_stage()
async def test_a_node_without_a_port_is_not_shown_nor_the_controller(stage: Stage) -> None:
    client = await stage.client()
    stage.broker.nodes[NO_PORT] = ELSEWHERE
    found = []
    for controller in (NO_PORT, NODE, -1):
        said = {**stage.broker.metadata(), "controllerId": controller}
        stage.broker.answers["Metadata"] = lambda _asked, said=said: said  # type: ignore[misc]
        body = await client.asks("Metadata", 12, {"topics": None})
        found.append((list(places(body["brokers"])), body["controllerId"]))

    assert found == [([NODE], NODE), ([NODE], NODE), ([NODE], -1)]


def test_a_new_broker_gets_its_port_and_one_that_cannot_have_it_is_told() -> None:
    async def scene() -> None:
        async with staged() as stage:
            stage.broker.nodes |= {3: stage.broker.address, NO_PORT: ELSEWHERE}
            await stage.view.look_again()
            stage.gateway.open_ports()
            client = await stage.client(3)
            body = await client.asks("Metadata", 1, {"topics": None})
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
    # The replica reads their states meanwhile.
    assert stage.job.expected == [(group_id, "a-client") for group_id in ("billing", "a", "b")]


@on_stage()
async def test_a_tool_that_looks_for_many_groups_prepares_none(stage: Stage) -> None:
    client = await stage.client(NODE)
    keys = [str(number) for number in range(11)]
    await client.asks("FindCoordinator", 4, {"keyType": 0, "coordinatorKeys": keys})

    assert stage.job.expected == []


@on_stage()
async def test_before_the_cluster_is_known_there_is_no_coordinator(stage: Stage) -> None:
    stage.view.brokers = {}
    client = await stage.client()
    body = await client.asks("FindCoordinator", 4, {"keyType": 0, "coordinatorKeys": ["a"]})

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


@pytest.mark.parametrize("key_type", [2, 7])
@on_stage()
async def test_a_key_of_another_type_is_refused_by_the_broker(stage: Stage, key_type: int) -> None:
    client = await stage.client()
    client.ask("FindCoordinator", 6, {"keyType": key_type, "coordinatorKeys": ["a"]})
    refused = {"key": "a", "nodeId": -1, "host": "", "port": -1, "errorCode": 31}
    (await stage.broker.asked()).answer({"coordinators": [refused]})
    _, body = await client.answer("FindCoordinator", 6)

    assert [found.items() >= refused.items() for found in body["coordinators"]] == [True]


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


@pytest.mark.parametrize(
    ("text", "address"),
    [
        ("0.0.0.0:19092", Address("0.0.0.0", 19092)),  # noqa: S104 - nobody listens
        ("kafka.example.com:9092", Address("kafka.example.com", 9092)),
        ("[::1]:19092", Address("::1", 19092)),
        ("[2001:db8::7]:19092", Address("2001:db8::7", 19092)),
    ],
)
def test_an_address_is_read_and_told_in_the_same_words(text: str, address: Address) -> None:
    assert listen_address("gateway.listen", text) == address
    assert str(address) == text


def test_an_address_with_a_protocol_as_in_listeners_of_kafka() -> None:
    assert listen_address("gateway.listen", "PLAINTEXT://0.0.0.0:9") == ("0.0.0.0", 9)  # noqa: S104 - nothing listens


def test_a_host_in_an_answer_of_kafka_has_no_brackets() -> None:
    hosts = ("[::1]", "::1", "kafka-1", "SASL_SSL://kafka-1")

    assert [advertised_host("gateway.advertised.host", each) for each in hosts] == [
        "::1",
        "::1",
        "kafka-1",
        "kafka-1",
    ]


def test_an_advertised_host_with_a_port_is_refused() -> None:
    with pytest.raises(GatewayStartError) as refused:
        advertised_host("gateway.advertised.host", "SSL://kafka-1:9092")

    assert str(refused.value) == (
        "gateway.advertised.host = SSL://kafka-1:9092 is not a host without a port: remove the port; clients get the ports "
        "of gateway.listen"
    )


def test_a_protocol_that_clients_cannot_speak() -> None:
    tls = r"gateway\.listen = sasl_ssl://me:1 is TLS: set gateway\.ssl\.keystore\.location"
    with pytest.raises(GatewayStartError, match=tls):
        check_protocol("gateway.listen", "sasl_ssl://me:1", is_encrypted=False)

    with pytest.raises(GatewayStartError, match="is not TLS: remove gateway"):
        check_protocol("gateway.listen", "PLAINTEXT://me:1", is_encrypted=True)


def test_a_protocol_that_clients_can_speak() -> None:
    check_protocol("gateway.listen", "SSL://me:1", is_encrypted=True)
    check_protocol("gateway.listen", "SASL_PLAINTEXT://me:1", is_encrypted=False)
    check_protocol("gateway.listen", "me:1", is_encrypted=True)


@pytest.mark.parametrize(
    ("address", "host"),
    [
        ("10.0.0.7", "/10.0.0.7"),
        ("::1", "/0:0:0:0:0:0:0:1"),
        ("2001:db8::ff00:42:8329", "/2001:db8:0:0:0:ff00:42:8329"),
        ("", "/"),
    ],
)
def test_a_client_is_where_java_says(address: str, host: str) -> None:
    """As Inet6Address.getHostAddress writes it."""
    assert client_host(address) == host


GROUPS = ["audit", "billing", "fraud", "mail", "stock"]


async def with_nodes(stage: Stage, *node_ids: int) -> None:
    """The cluster has these nodes too."""
    stage.broker.nodes |= dict.fromkeys(node_ids, stage.broker.address)
    await stage.view.look_again()
    stage.gateway.open_ports()


async def listed_at(stage: Stage, node_id: int | None) -> list[str]:
    """At a node's port, or at the bootstrap port."""
    client = await stage.client(node_id)
    number = len(stage.job.questions)
    client.ask("ListGroups", 5)
    question = await stage.job.asked(number)
    question.answer.set_result({"groups": [{"groupId": group_id} for group_id in GROUPS]})
    _, body = await client.answer("ListGroups", 5)
    return [each["groupId"] for each in body["groups"]]


@on_stage()
async def test_each_node_lists_its_groups_and_the_bootstrap_port_all(stage: Stage) -> None:
    await with_nodes(stage, 2, 3)

    assert {node: await listed_at(stage, node) for node in (1, 2, 3, None)} == {
        1: ["audit", "billing", "mail"],
        2: ["fraud"],
        3: ["stock"],
        None: GROUPS,
    }


@on_stage()
async def test_groups_of_a_node_without_a_port_are_listed_at_others(stage: Stage) -> None:
    await with_nodes(stage, 3, NO_PORT)
    client = await stage.client()
    body = await client.asks("FindCoordinator", 4, {"keyType": 0, "coordinatorKeys": GROUPS})

    assert {found["key"]: found["nodeId"] for found in body["coordinators"]} == {
        "audit": 3,
        "billing": 1,
        "fraud": 1,
        "mail": 1,
        "stock": 1,
    }
    assert {node: await listed_at(stage, node) for node in (1, 3)} == {
        1: ["billing", "fraud", "mail", "stock"],
        3: ["audit"],
    }


@on_stage()
async def test_without_a_broker_there_is_nobody_who_has_a_share(stage: Stage) -> None:
    stage.view.brokers = {}

    assert await listed_at(stage, 1) == []
