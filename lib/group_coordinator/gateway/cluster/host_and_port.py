"""Where the gateway, and the metrics of a job, listen."""

from __future__ import annotations

from group_coordinator.codecs.host_and_port import AddressError, host_alone, host_and_port
from group_coordinator.gateway.cluster.addresses import Address
from group_coordinator.gateway.start_errors import GatewayStartError


def listen_address(setting: str, text: str) -> Address:
    """HOST:PORT, where this process is to listen.

    Raises:
        GatewayStartError: it is something else.
    """
    try:
        address = Address(*host_and_port(text))
    except AddressError:
        address = None
    if address is None or address.port == 0:
        raise GatewayStartError(f"{setting} = {text}: it must be HOST:PORT, such as 0.0.0.0:19092")
    return address


def advertised_host(setting: str, text: str) -> str:
    """The host that clients are told, as Kafka's answers have it: an IPv6 address without brackets.

    Raises:
        GatewayStartError: it is something else.
    """
    try:
        return host_alone(text)
    except AddressError as error:
        raise GatewayStartError(
            f"{setting} = {text}: it must be a host without a port, as clients are told the ports of gateway.listen"
        ) from error


def check_protocol(setting: str, text: str, *, is_encrypted: bool) -> None:
    """Refuse an address that names another protocol than clients must speak there; none need be named.

    Raises:
        GatewayStartError: the message says what to do.
    """
    protocol, is_named, _ = text.upper().partition("://")
    if is_named and protocol.endswith("SSL") and not is_encrypted:
        raise GatewayStartError(f"{setting} = {text}: TLS needs gateway.ssl.keystore.location")
    if is_named and protocol.endswith("PLAINTEXT") and is_encrypted:
        raise GatewayStartError(
            f"{setting} = {text}: with gateway.ssl.keystore.location clients must speak TLS"
        )
