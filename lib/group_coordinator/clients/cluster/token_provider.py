"""Access tokens for a login of kafka-python with OAUTHBEARER; Java's clients get their tokens themselves."""

from __future__ import annotations

import json
import time
from base64 import b64encode
from collections.abc import Callable
from http.client import HTTPException
from threading import Lock
from typing import Any
from urllib.error import HTTPError
from urllib.parse import urlencode
from urllib.request import (
    HTTPDefaultErrorHandler,
    HTTPErrorProcessor,
    HTTPHandler,
    HTTPSHandler,
    OpenerDirector,
    ProxyHandler,
    Request,
    getproxies,
)

from kafka.errors import KafkaConnectionError, KafkaError, SaslAuthenticationFailedError
from kafka.net.sasl.oauth import AbstractTokenProvider

from group_coordinator.security import Security

_TIMEOUT_S = 10
_MOST_BYTES = 1024 * 1024
_LIFETIME_USED = 0.8
"""Part of a token's lifetime after which it is renewed, as in Java's clients."""
_UNKNOWN_LIFETIME_S = 60
"""Lifetime of a token whose response has no lifetime."""


class TokenProvider(AbstractTokenProvider):  # type: ignore[misc]  # kafka-python ships no hints
    """Tokens of an endpoint by OAuth 2's grant of client credentials (RFC 6749, 4.4), for all clients of the process."""

    def __init__(self, security: Security, now_s: Callable[[], float] = time.monotonic) -> None:
        self.client_id = security.sasl_username
        self._endpoint = security.sasl_oauthbearer_token_endpoint_url
        self._security = security
        self._now_s = now_s
        self._lock = Lock()
        self._token = ""
        self._renew_at_s = 0.0

    def token(self) -> str:
        """Return a token that has not expired.

        Raises:
            SaslAuthenticationFailedError: the endpoint rejects the client; KafkaConnectionError: it does not answer.
        """
        # Several clients may log in at the same time, and share a token.
        with self._lock:
            if not self._token or self._now_s() >= self._renew_at_s:
                self._renew()
            return self._token

    def _renew(self) -> None:
        asked_at_s = self._now_s()
        response = self._answer()
        token = response.get("access_token")
        if not isinstance(token, str) or not token:
            raise SaslAuthenticationFailedError(
                f"{self._endpoint} responds without an access_token"
            )
        self._token = token
        self._renew_at_s = asked_at_s + _lifetime_s(response) * _LIFETIME_USED

    def _answer(self) -> dict[str, Any]:
        try:
            with _opener().open(self._request(), timeout=_TIMEOUT_S) as response:
                # The limit protects the memory from an endless response.
                content = response.read(_MOST_BYTES + 1)
        except HTTPError as error:
            error.close()
            raise self._error_of_status(error.code) from error
        except OSError as error:
            raise KafkaConnectionError(f"{self._endpoint} gives no token: {error}") from error
        except HTTPException as error:
            raise KafkaConnectionError(f"{self._endpoint} does not speak HTTP") from error
        if len(content) > _MOST_BYTES:
            raise SaslAuthenticationFailedError(
                f"{self._endpoint} responds with more than {_MOST_BYTES} bytes"
            )
        try:
            answer = json.loads(content)
        except (ValueError, RecursionError) as error:
            raise SaslAuthenticationFailedError(
                f"{self._endpoint} does not respond in JSON"
            ) from error
        return answer if isinstance(answer, dict) else {}

    def _request(self) -> Request:
        form = {"grant_type": "client_credentials"}
        if self._security.sasl_oauthbearer_scope:
            form["scope"] = self._security.sasl_oauthbearer_scope
        # As Java's clients do: RFC 6749 requires the encoding of a form for both, and few endpoints do.
        login = f"{self.client_id}:{self._security.sasl_password.reveal()}"
        headers = {"Authorization": f"Basic {b64encode(login.encode()).decode()}"}
        return Request(self._endpoint, urlencode(form).encode(), headers)  # noqa: S310 - the user's own URL

    def _error_of_status(self, status: int) -> KafkaError:
        said = f"{self._endpoint} gives no token: HTTP {status}"
        if 300 <= status < 400:  # noqa: PLR2004 - HTTP's own numbers
            said += ", a redirect, which is not followed: set sasl.oauthbearer.token.endpoint.url to its target"
        # Errors of the endpoint itself may pass, errors of the client do not.
        is_passing = status >= 500 or status == 429  # noqa: PLR2004 - HTTP's own numbers
        return (KafkaConnectionError if is_passing else SaslAuthenticationFailedError)(said)


def _opener() -> OpenerDirector:
    """Opener of http and https URLs, without redirects, which would send the client's secret to other hosts.

    An http URL is on this machine (`Security` rejects others): a proxy would get the secret in clear text.
    """
    # build_opener would add a handler of redirects.
    opener = OpenerDirector()
    of_https = {scheme: proxy for scheme, proxy in getproxies().items() if scheme == "https"}
    for handler in (
        ProxyHandler(of_https),
        HTTPHandler(),
        HTTPSHandler(),
        HTTPErrorProcessor(),
        HTTPDefaultErrorHandler(),
    ):
        opener.add_handler(handler)
    return opener


def _lifetime_s(response: dict[str, Any]) -> float:
    """Lifetime in seconds, which some endpoints write as a text."""
    try:
        return float(response["expires_in"])
    except (KeyError, TypeError, ValueError):
        return _UNKNOWN_LIFETIME_S
