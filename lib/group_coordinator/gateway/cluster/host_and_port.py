"""Validation of the addresses in the gateway's settings."""

from __future__ import annotations

from group_coordinator.codecs.host_and_port import AddressError, host_alone, host_and_port
from group_coordinator.gateway.cluster.addresses import Address
from group_coordinator.gateway.start_errors import GatewayStartError


def listen_address(setting: str, text: str) -> Address:
    """Parse HOST:PORT, on which this process listens.

    Raises:
        GatewayStartError: the text has another form, or port 0.
    """
    try:
        address = Address(*host_and_port(text))
    except AddressError:
        address = None
    if address is None or address.port == 0:
        raise GatewayStartError(f"{setting} = {text}: it must be HOST:PORT, such as 0.0.0.0:19092")
    return address


def advertised_host(setting: str, text: str) -> str:
    """Return the host for responses to clients. As in Kafka's, an IPv6 address has no brackets.

    Raises:
        GatewayStartError: the text is not a host.
    """
    try:
        return host_alone(text)
    except AddressError as error:
        raise GatewayStartError(
            f"{setting} = {text} is not a host without a port: remove the port; clients get the ports of gateway.listen"
        ) from error


def check_protocol(setting: str, text: str, *, is_encrypted: bool) -> None:
    """Check that the protocol in an address, if it has one, matches the TLS settings.

    Raises:
        GatewayStartError: the protocol does not match.
    """
    protocol, is_named, _ = text.upper().partition("://")
    if is_named and protocol.endswith("SSL") and not is_encrypted:
        raise GatewayStartError(f"{setting} = {text} is TLS: set gateway.ssl.keystore.location too")
    if is_named and protocol.endswith("PLAINTEXT") and is_encrypted:
        raise GatewayStartError(
            f"{setting} = {text} is not TLS: remove gateway.ssl.keystore.location, or use SSL or SASL_SSL"
        )
