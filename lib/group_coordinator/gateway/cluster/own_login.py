"""The gateway's own login at a broker, for its own questions."""

from __future__ import annotations

import asyncio
from base64 import b64decode, b64encode
from collections.abc import Awaitable, Callable, Mapping
from typing import Any, TypeAlias

from kafka.errors import KafkaError
from kafka.net.sasl import get_sasl_mechanism

Ask: TypeAlias = Callable[[str, int, dict[str, Any]], Awaitable[dict[str, Any]]]
"""Asks the broker by API, version and body."""

_DEFAULT_MECHANISM = "PLAIN"
_HANDSHAKE, _AUTHENTICATE = 1, 1
"""The versions: later ones say the same, earlier ones do not say when the session ends."""


async def log_in(ask: Ask, host: str, options: Mapping[str, Any]) -> int:
    """How long the session lasts, in milliseconds; 0: without end. Options are kafka-python's.

    Raises:
        ConnectionError: the broker does not let us in.
    """
    name = str(options.get("sasl_mechanism") or _DEFAULT_MECHANISM)
    answer = await ask("SaslHandshake", _HANDSHAKE, {"mechanism": name})
    if answer["errorCode"]:
        offered = ", ".join(answer["mechanisms"])
        raise ConnectionRefusedError(f"brokers know the mechanisms {offered}, not {name}")
    lifetime_ms = 0
    try:
        mechanism = get_sasl_mechanism(name)(host=host, **options)
        while not mechanism.is_done():
            # It may ask for a token over HTTP.
            said = await asyncio.to_thread(mechanism.auth_bytes)
            body = {"authBytes": b64encode(said).decode()}
            answer = await ask("SaslAuthenticate", _AUTHENTICATE, body)
            if answer["errorCode"]:
                raise ConnectionRefusedError(f"our login failed: {answer['errorMessage']}")
            mechanism.receive(b64decode(answer["authBytes"]))
            lifetime_ms = answer["sessionLifetimeMs"]
    except (
        KafkaError,
        ValueError,
        KeyError,
        RuntimeError,
    ) as error:  # the last: a library is missing
        raise ConnectionRefusedError(f"our login failed: {error}") from error
    return lifetime_ms
