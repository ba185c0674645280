"""Brokers that leave, come back and join, under members of groups that came by two gateways."""

from __future__ import annotations

import socket
import time
from collections.abc import Callable
from contextlib import ExitStack, closing
from pathlib import Path

from kafka import KafkaAdminClient, KafkaConsumer, KafkaProducer, TopicPartition
from kafka.admin import NewTopic

from group_coordinator.local.broker import LOOPBACK
from tests.faults.result import Result
from tests.gateway_faults.cluster import ClusterStage, GatewayBefore
from tests.gateway_faults.kills import all_commit, compared, groups_in_tables
from tests.gateway_faults.readers import PARTITIONS, TOPIC, Traffic
from tests.support.until import until

_COPIES = 3
_MEET_S, _RESUME_S = 120.0, 120.0
_KNOWN_S = 30.0
_KEYS = [f"group-{number}" for number in range(30)]
_OF_NEWCOMER = "of-the-newcomer"


def brokers_come_and_go(folder: Path) -> Result:
    """One broker of three is killed and comes back; a fourth joins, whose port at one gateway is taken for a while."""
    with ExitStack() as resources:
        stage = ClusterStage(folder, resources)
        with stage.installation.admin() as admin:
            admin.list_consumer_group_offsets("nobody")  # from its first answer on the job is warm
        first, second = stage.gateways
        with closing(KafkaAdminClient(bootstrap_servers=first.bootstrap_servers)) as admin:
            admin.create_topics([NewTopic(TOPIC, PARTITIONS, _COPIES)], wait_for_metadata=True)
        traffic = Traffic(first.bootstrap_servers, second.bootstrap_servers)
        with traffic.flowing():
            figures = _story(stage, traffic)
        result = compared(traffic, "brokers", kill_count=1)
        result.figures["groups in the tables"] = groups_in_tables(stage.installation)
    result.figures |= figures
    return result


def _story(stage: ClusterStage, traffic: Traffic) -> dict[str, float]:
    first, second = stage.gateways
    all_commit(traffic, _MEET_S)
    _show(stage.gateways, {1, 2, 3})
    leaving = _who_leads_events(stage)
    left_s = _timed(lambda: _leave(stage, traffic, leaving))
    stage.brokers.start(leaving)
    _show(stage.gateways, {1, 2, 3})
    all_commit(traffic, _RESUME_S)
    with socket.create_server((LOOPBACK, first.port_of(4))):
        stage.brokers.start(4)
        until(lambda: _is_hidden(first, 4), seconds=_KNOWN_S, awaited="a word about node 4")
        _show([first], {1, 2, 3})
        _show([second], {1, 2, 3, 4})
        all_commit(traffic, _RESUME_S)
    shown_s = _timed(lambda: _show([first], {1, 2, 3, 4}))
    until(lambda: not _is_hidden(first, 4), seconds=_KNOWN_S, awaited="no word about node 4")
    _use(stage.gateways)
    all_commit(traffic, _RESUME_S)
    return {
        "s until all commit again after a broker left": left_s,
        "s until a node is shown whose port is free again": shown_s,
    }


def _who_leads_events(stage: ClusterStage) -> int:
    """Of the brokers that may leave, one whose end the job meets at once; the other one if it leads none."""
    with closing(KafkaAdminClient(bootstrap_servers=stage.brokers.bootstrap_servers)) as admin:
        [topic] = admin.describe_topics([stage.installation.settings.job.events_topic])
    leaders = {partition["leader_id"] for partition in topic["partitions"]}
    return max(leaders - {1}, default=2)


def _leave(stage: ClusterStage, traffic: Traffic, node: int) -> None:
    stage.brokers.kill(node)
    _show(stage.gateways, {1, 2, 3} - {node})
    all_commit(traffic, _RESUME_S)


def _timed(act: Callable[[], None]) -> float:
    begun_s = time.monotonic()
    act()
    return round(time.monotonic() - begun_s, 1)


def _show(gateways: list[GatewayBefore], nodes: set[int]) -> None:
    """Return when each gateway shows exactly these nodes, all at its own ports, and names the same coordinators."""
    until(
        lambda: all(_shows(gateway, nodes) for gateway in gateways),
        seconds=_KNOWN_S,
        awaited=lambda: f"{nodes}, not {[_places(gateway) for gateway in gateways]}",
    )
    if len(gateways) > 1:
        until(
            lambda: len({tuple(_coordinators(gateway).items()) for gateway in gateways}) == 1,
            seconds=_KNOWN_S,
            awaited="one coordinator for each group",
        )


def _shows(gateway: GatewayBefore, nodes: set[int]) -> bool:
    wanted = {node: (LOOPBACK, gateway.port_of(node)) for node in nodes}
    found = _coordinators(gateway)
    return all(places == wanted for places in _places(gateway)) and set(found.values()) == nodes


def _places(gateway: GatewayBefore) -> list[dict[int, tuple[str, int]]]:
    """Where Metadata and DescribeCluster say that nodes are."""
    metadata = gateway.asked("Metadata", 12, {"topics": []})
    described = gateway.asked("DescribeCluster", 1, {})
    return [
        {one["nodeId"]: (one["host"], one["port"]) for one in metadata["brokers"]},
        {one["brokerId"]: (one["host"], one["port"]) for one in described["brokers"]},
    ]


def _coordinators(gateway: GatewayBefore) -> dict[str, int]:
    """Of some groups."""
    asked = {"keyType": 0, "coordinatorKeys": _KEYS}
    found = gateway.asked("FindCoordinator", 4, asked)["coordinators"]
    assert all(one["port"] == gateway.port_of(one["nodeId"]) for one in found)
    return {one["key"]: one["nodeId"] for one in found}


def _is_hidden(gateway: GatewayBefore, node: int) -> bool:
    """As it says itself, on both pages."""
    metrics = gateway.page("/metrics")
    is_counted = "group_coordinator_gateway_nodes_without_port 1\n" in metrics
    return is_counted and f"clients cannot connect to node {node}: " in gateway.page("/ready")


def _use(gateways: list[GatewayBefore]) -> None:
    """A topic that the newcomer alone has is written by one gateway, and read by the other."""
    writing, reading = (gateway.bootstrap_servers for gateway in gateways)
    topic = NewTopic(_OF_NEWCOMER, replica_assignments={0: [4]})
    with closing(KafkaAdminClient(bootstrap_servers=writing)) as admin:
        admin.create_topics([topic], wait_for_metadata=True)
    with closing(KafkaProducer(bootstrap_servers=writing)) as producer:
        producer.send(_OF_NEWCOMER, b"here").get(timeout=_KNOWN_S)
    consumer = KafkaConsumer(bootstrap_servers=reading, auto_offset_reset="earliest")
    with closing(consumer):
        consumer.assign([TopicPartition(_OF_NEWCOMER, 0)])
        until(lambda: consumer.poll(timeout_ms=500), seconds=_KNOWN_S, awaited="its record")
