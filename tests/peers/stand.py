"""A broker and a gateway before it, set up as suites want them."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from group_coordinator.local.broker import EmbeddedBroker
from tests.peers.gateway import InProcessGateway
from tests.peers.suite import SuiteError

_COORDINATOR = {
    "group.initial.rebalance.delay.ms": 0,
    "group.min.session.timeout.ms": 1000,
}
"""Suites do not wait for Kafka's usual 3 s, and some have sessions of less than 6 s."""
_BROKER = {"auto.create.topics.enable": "true", "num.partitions": "4"}


@contextmanager
def broker() -> Iterator[str]:
    """HOST:PORT of a broker for the time of the block."""
    coordinator = {name: str(value) for name, value in _COORDINATOR.items()}
    with EmbeddedBroker(properties=_BROKER | coordinator) as started:
        yield started.bootstrap_servers


@contextmanager
def gateway(bootstrap_servers: str, delay_s: tuple[float, float]) -> Iterator[str]:
    """HOST:PORT of a gateway before a broker for the time of the block.

    Raises:
        SuiteError: at the end, if an event that the gateway wrote was a dead letter.
    """
    settings = {name.replace(".", "_"): value for name, value in _COORDINATOR.items()}
    with InProcessGateway(bootstrap_servers, delay_s=delay_s, **settings) as started:
        yield started.bootstrap_servers
    if started.refused:
        raise SuiteError(f"events of the gateway were dead letters: {set(started.refused)}")
