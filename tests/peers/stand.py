"""A broker and a gateway before it, with either job, set up as suites want them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager

from group_coordinator.local.broker import EmbeddedBroker
from tests.peers.gateway import InProcessGateway
from tests.peers.suite import QUICK, SuiteError

_BROKER = {"auto.create.topics.enable": "true", "num.partitions": "4"}


@contextmanager
def broker(coordinator: Mapping[str, int] = QUICK) -> Iterator[str]:
    """HOST:PORT of a broker for the time of the block."""
    properties = {name: str(value) for name, value in coordinator.items()}
    with EmbeddedBroker(properties=_BROKER | properties) as started:
        yield started.bootstrap_servers


@contextmanager
def gateway(
    bootstrap_servers: str,
    coordinator: Mapping[str, int] = QUICK,
    *,
    delay_s: tuple[float, float],
) -> Iterator[str]:
    """HOST:PORT of a gateway before a broker for the time of the block; its job is in this process.

    Raises:
        SuiteError: at the end, if an event that the gateway wrote was a dead letter.
    """
    settings = {name.replace(".", "_"): value for name, value in coordinator.items()}
    with InProcessGateway(bootstrap_servers, delay_s=delay_s, **settings) as started:
        yield started.bootstrap_servers
    if started.refused:
        raise SuiteError(f"events of the gateway were dead letters: {set(started.refused)}")
