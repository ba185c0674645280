"""Addresses as people write them."""

from __future__ import annotations

from group_coordinator.gateway.cluster.addresses import Address
from group_coordinator.gateway.start_errors import GatewayStartError

_HIGHEST_PORT = 65_535


def listen_address(setting: str, text: str) -> Address:
    """HOST:PORT, where this process is to listen.

    Raises:
        GatewayStartError: it is something else.
    """
    host, _, port = text.rpartition(":")
    if not host or not port.isdecimal() or not 0 < int(port) <= _HIGHEST_PORT:
        raise GatewayStartError(f"{setting} = {text}: it must be HOST:PORT, such as 0.0.0.0:19092")
    return Address(bare_host(host), int(port))


def bare_host(text: str) -> str:
    """An IPv6 address without the brackets that keep it apart from a port; any other host as it is."""
    return text.removeprefix("[").removesuffix("]")
