from __future__ import annotations

import socket

import pytest

from group_coordinator.clients.connection import Connection
from group_coordinator.clients.errors import BrokerUnreachableError


def test_the_first_server_that_listens_counts() -> None:
    with socket.create_server(("127.0.0.1", 0)) as server:
        port = server.getsockname()[1]

        address = Connection(f"127.0.0.1:1,127.0.0.1:{port}").local_address()

    assert address == "127.0.0.1"


def test_nobody_listens() -> None:
    with pytest.raises(BrokerUnreachableError) as caught:
        Connection("127.0.0.1:1").local_address()

    assert str(caught.value) == "no Kafka broker answers (127.0.0.1:1: Connection refused)"


def test_an_address_that_is_none() -> None:
    with pytest.raises(BrokerUnreachableError, match=r"'broker:none' is not HOST:PORT"):
        Connection("broker:none").local_address()


def test_options_reach_every_client() -> None:
    connection = Connection("a:1,b:2", {"security_protocol": "SSL"})

    options = connection.client_options()

    assert options["bootstrap_servers"] == ["a:1", "b:2"]
    assert options["security_protocol"] == "SSL"
