"""Access to the metrics port: a login from a password file, and TLS."""

from __future__ import annotations

from pathlib import Path
from ssl import SSLContext

from group_coordinator.driver.errors import StartUpError
from group_coordinator.gateway.cluster.broker_access import listener_context
from group_coordinator.gateway.connections.tcp_connection import CertificateRenewal
from group_coordinator.observability.http_server import Tls

_PASSWORD_FILE = "metrics.password.file"  # noqa: S105 - the name of a setting
_KEY_STORE = "metrics.ssl.keystore.location"


def login_of(file: str) -> str | None:
    """Return USER:PASSWORD, the only line of the file; None: the setting is empty.

    Raises StartUpError: the file cannot be read, or has another text. The message does not have the text.
    """
    if not file:
        return None
    remedy = "give a text file with one line, USER:PASSWORD"
    try:
        login = Path(file).read_text(encoding="utf-8").removesuffix("\n").removesuffix("\r")
    except OSError as error:
        raise StartUpError(f"{_PASSWORD_FILE} = {file}: {error.strerror}: {remedy}") from error
    except UnicodeDecodeError:
        # The error has the bytes of the file.
        raise StartUpError(f"{_PASSWORD_FILE} = {file} is not UTF-8: {remedy}") from None
    user, _, password = login.partition(":")
    if not user or not password or len(login.splitlines()) > 1:
        raise StartUpError(f"{_PASSWORD_FILE} = {file} has another text: {remedy}")
    return login


def tls_of(key_store: str) -> Tls | None:
    """Return the TLS of connections, with a renewed certificate as soon as its file changes; None: the setting is empty.

    Raises GatewayStartError: the file cannot be used.
    """
    context = listener_context(key_store, "", _KEY_STORE)
    if context is None:
        return None
    renewal = CertificateRenewal(context, key_store, _KEY_STORE)

    def renewed() -> SSLContext:
        renewal.look()
        return context

    return renewed
