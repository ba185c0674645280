from __future__ import annotations

import socket

from group_coordinator.local.broker import LOOPBACK, free_ports, is_free


def test_free_ports_differ_and_can_be_listened_on() -> None:
    ports = free_ports(20)

    assert len(set(ports)) == 20
    assert all(map(is_free, ports))


def test_no_client_is_given_one_of_them_meanwhile() -> None:
    """A server may start seconds later, or come back on its port; the system gives clients other ones."""
    with socket.create_server((LOOPBACK, 0)) as given_by_the_system:
        theirs = given_by_the_system.getsockname()[1]

    assert max(free_ports(20)) < 32_000 < theirs


def test_a_port_that_is_listened_on_is_not_free() -> None:
    [port] = free_ports(1)
    with socket.create_server((LOOPBACK, port)):
        assert not is_free(port)

    assert is_free(port)
