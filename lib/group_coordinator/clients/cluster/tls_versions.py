"""TLS versions of clients, for which kafka-python has no option."""

from __future__ import annotations

from collections.abc import Mapping
from ssl import SSLContext, TLSVersion
from typing import Any, Final

from kafka.net.transport import KafkaSSLTransport

from group_coordinator.clients.errors import LoginRefusedError

TLS_VERSIONS: Final = "ssl_enabled_protocols"
"""Option of `Connection`: the lowest and the highest version."""


def limit_versions(context: SSLContext, options: Mapping[str, Any]) -> None:
    """Limit a context to the versions of the options; without them it stays as it is."""
    versions: tuple[TLSVersion, TLSVersion] | None = options.get(TLS_VERSIONS)
    if versions is not None:
        context.minimum_version, context.maximum_version = versions


def with_limited_versions(options: Mapping[str, Any]) -> dict[str, Any]:
    """Turn the option into kafka-python's `ssl_context`.

    Raises:
        LoginRefusedError: a file that the options name cannot be used.
    """
    known = {key: value for key, value in options.items() if key != TLS_VERSIONS}
    if TLS_VERSIONS not in options:
        return known
    try:
        # A given context replaces all other TLS options, so it is made from them.
        context = KafkaSSLTransport._build_ssl_context(  # noqa: SLF001 - as it makes its own
            {**KafkaSSLTransport.DEFAULT_CONFIG, **known}
        )
    except OSError as error:
        files = [
            known[key] for key in ("ssl_cafile", "ssl_certfile", "ssl_crlfile") if known.get(key)
        ]
        raise LoginRefusedError(f"{', '.join(files)}: {error}") from error
    limit_versions(context, options)
    return {**known, "ssl_context": context}
