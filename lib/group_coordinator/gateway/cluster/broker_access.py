"""Access to brokers: plain text or TLS, with or without a login."""

from __future__ import annotations

import ssl
from collections.abc import Mapping
from ssl import SSLContext
from typing import Any

from group_coordinator.clients.cluster.connection import limit_versions
from group_coordinator.gateway import GatewayStartError

_CERTIFICATE = ("ssl_certfile", "ssl_keyfile", "ssl_password")


class BrokerAccess:
    """TLS and login of clients' connections and of the gateway's own; both go to the same listeners."""

    def __init__(self, options: Mapping[str, Any], *, lends_certificate: bool = False) -> None:
        """Take kafka-python's options; `lends_certificate`: clients' connections show the gateway's certificate too.

        GatewayStartError: a file in the options cannot be used.
        """
        protocol = str(options.get("security_protocol", "PLAINTEXT"))
        self.wants_login = protocol.startswith("SASL_")
        """Brokers require a login."""
        self.tls = _context(options) if protocol.endswith("SSL") else None
        """None for plain text."""
        self.login_options = dict(options) if self.wants_login else {}
        self.of_clients = self
        """Access for clients' connections, whose logins pass through."""
        if self.tls is not None and options.get("ssl_certfile") and not lends_certificate:
            kept = {key: options[key] for key in options if key not in _CERTIFICATE}
            self.of_clients = BrokerAccess({**kept, "security_protocol": "SSL"})


PLAIN_ACCESS = BrokerAccess({})


KEY_STORE = "gateway.ssl.keystore.location"


def listener_context(
    key_store: str, client_authorities: str, setting: str = KEY_STORE
) -> SSLContext | None:
    """TLS context for the ports of clients, from PEM files; None: the ports are plain.

    Args:
        key_store: the private key of this process and its certificates; empty: none.
        client_authorities: clients must show a certificate of one of these authorities; empty: no certificate is required.
        setting: the setting of key_store, for errors.

    Raises:
        GatewayStartError: a file cannot be used.
    """
    if not key_store:
        if client_authorities:
            raise GatewayStartError(
                f"gateway.ssl.truststore.location = {client_authorities} has no effect on plain ports: set {setting} too"
            )
        return None
    context = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
    context.minimum_version = ssl.TLSVersion.TLSv1_2
    try:
        # An empty password makes an encrypted key an error. Without it OpenSSL would ask at the terminal.
        context.load_cert_chain(key_store, password="")
    except (OSError, ValueError) as error:
        raise GatewayStartError(
            f"{setting} = {key_store}: {error}: give a PEM file with a private key, without a password, "
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
    authorities, certificate = options.get("ssl_cafile"), options.get("ssl_certfile")
    revoked = options.get("ssl_crlfile")
    try:
        # The same settings as in kafka-python's own context.
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
