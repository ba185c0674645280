from __future__ import annotations

import asyncio
import logging
import socket

import pytest

from group_coordinator.gateway.cluster.addresses import Address
from group_coordinator.gateway.connections.listeners import Listeners
from tests.unit.gateway.stage import LOOPBACK, free_block, in_loop


class OpenDoor:
    """Everybody may come, and nobody is heard."""

    def admits(self, host: str) -> bool:
        return bool(host)

    def serve(self, _node_id: int | None, _host: str) -> asyncio.Protocol:
        return asyncio.Protocol()

    def failed_handshake(self, host: str, error: OSError) -> None:
        raise AssertionError(host) from error


def listeners(port: int) -> Listeners:
    return Listeners(Address(LOOPBACK, port), "gateway.example.com", OpenDoor(), None, 1.0)


@pytest.mark.parametrize("taken_by_node", [None, 2])
@in_loop
async def test_a_port_that_is_taken_at_the_start_is_named(taken_by_node: int | None) -> None:
    port = free_block()
    taken = port if taken_by_node is None else port + 1 + taken_by_node
    with socket.create_server((LOOPBACK, taken)):
        opened = listeners(port)
        with pytest.raises(OSError, match=rf"Address already in use.*{taken}"):
            opened.open([1, 2])
        opened.close()


@in_loop
async def test_a_node_whose_port_would_be_too_high_is_named() -> None:
    port = free_block()
    opened = listeners(port)
    with pytest.raises(OSError, match=f"the port {port + 65_001} of node 65000 is above 65535"):
        opened.open([65_000])
    opened.close()


@in_loop
async def test_a_node_that_comes_later_and_finds_its_port_taken_is_told_once_and_shown_when_it_is_free(
    caplog: pytest.LogCaptureFixture,
) -> None:
    with caplog.at_level(logging.INFO):
        port = free_block()
        opened = listeners(port)
        opened.open([1])
        with socket.create_server((LOOPBACK, port + 3)):
            found = [opened.address_of(node) for node in (1, 2, 2, 3, -1)]
            opened.try_again()
            hidden = dict(opened.without_port)
        still_hidden = opened.address_of(2)
        opened.try_again()
        shown = opened.address_of(2)
        opened.close()

        assert found == [
            Address("gateway.example.com", port + 2),
            None,
            None,
            Address("gateway.example.com", port + 4),
            None,
        ]
        assert list(hidden) == [2]
        assert "Address already in use" in hidden[2]
        assert still_hidden is None
        assert shown == Address("gateway.example.com", port + 3)
        assert opened.without_port == {}
    said = [one.getMessage() for one in caplog.records if one.name.startswith("group_coordinator")]
    assert [line.partition(":")[0].partition(", at")[0] for line in said] == [
        "Clients cannot connect to the new node 2",
        "New node 3",
        "Clients can connect to node 2 now",
    ]
