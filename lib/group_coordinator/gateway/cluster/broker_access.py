"""How brokers are reached: in plain text or by TLS, with a login or without."""

from __future__ import annotations

import ssl
from collections.abc import Mapping
from ssl import SSLContext
from typing import Any

from group_coordinator.clients.cluster.tls_versions import limit_versions
from group_coordinator.gateway.start_errors import GatewayStartError

_PLAINTEXT = "PLAINTEXT"


_CERTIFICATE = ("ssl_certfile", "ssl_keyfile", "ssl_password")


class BrokerAccess:
    """Connections of clients and the gateway's own go to the same listeners of the brokers."""

    def __init__(self, options: Mapping[str, Any], *, lends_certificate: bool = False) -> None:
        """Options are those of kafka-python's clients. With `lends_certificate` clients' connections show the gateway's too.

        Raises:
            GatewayStartError: a file that they name cannot be used.
        """
        protocol = str(options.get("security_protocol", _PLAINTEXT))
        self.wants_login = protocol.startswith("SASL_")
        """Whether the brokers take requests from nobody who has not logged in."""
        self.tls = _context(options) if protocol.endswith("SSL") else None
        """None: plain text."""
        self.login_options = dict(options) if self.wants_login else {}
        self.of_clients = self
        """Of the gateway's connections for its clients, whose logins pass through."""
        if self.tls is not None and options.get("ssl_certfile") and not lends_certificate:
            kept = {key: options[key] for key in options if key not in _CERTIFICATE}
            self.of_clients = BrokerAccess({**kept, "security_protocol": "SSL"})


PLAIN_ACCESS = BrokerAccess({})


def listener_context(key_store: str, client_authorities: str) -> SSLContext | None:
    """For the ports of clients, from PEM files; None: they are plain.

    Args:
        key_store: the gateway's private key and its certificates; empty: none.
        client_authorities: clients must show a certificate of one of these; empty: none is asked for.

    Raises:
        GatewayStartError: a file cannot be used.
    """
    if not key_store:
        if client_authorities:
            raise GatewayStartError(
                f"gateway.ssl.truststore.location = {client_authorities} has no effect on plain ports: set gateway.ssl.keystore.location too"
            )
        return None
    context = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
    context.minimum_version = ssl.TLSVersion.TLSv1_2
    try:
        # With a password that is none, a key that needs one is refused instead of asked about at the terminal.
        context.load_cert_chain(key_store, password="")
    except (OSError, ValueError) as error:
        raise GatewayStartError(
            f"gateway.ssl.keystore.location = {key_store}: {error}: give a PEM file with a private key, without a password, "
            "and its certificates"
        ) from error
    if client_authorities:
        context.verify_mode = ssl.CERT_REQUIRED
        try:
            context.load_verify_locations(client_authorities)
        except OSError as error:
            raise GatewayStartError(
                f"gateway.ssl.truststore.location = {client_authorities}: {error}: give a PEM file with certificates of authorities"
            ) from error
    return context


def _context(options: Mapping[str, Any]) -> SSLContext:
    """As kafka-python makes its own."""
    authorities, certificate = options.get("ssl_cafile"), options.get("ssl_certfile")
    revoked = options.get("ssl_crlfile")
    try:
        context = SSLContext(ssl.PROTOCOL_TLS_CLIENT)
        context.minimum_version = ssl.TLSVersion.TLSv1_2
        limit_versions(context, options)
        context.check_hostname = bool(options.get("ssl_check_hostname", True))
        if authorities:
            context.load_verify_locations(authorities)
        else:
            context.load_default_certs()
        if revoked:
            context.load_verify_locations(revoked)
            context.verify_flags |= ssl.VERIFY_CRL_CHECK_LEAF
        if certificate:
            password = options.get("ssl_password")
            context.load_cert_chain(certificate, options.get("ssl_keyfile"), password)
    except OSError as error:
        files = ", ".join(str(file) for file in (authorities, revoked, certificate) if file)
        raise GatewayStartError(f"{files}: {error}") from error
    return context
