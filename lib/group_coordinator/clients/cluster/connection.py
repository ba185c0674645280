"""Address of the Kafka cluster and login to it."""

from __future__ import annotations

import socket
from collections.abc import Callable, Iterator, Mapping
from contextlib import closing, contextmanager
from dataclasses import dataclass, field
from importlib.util import find_spec
from typing import Any, Protocol, Self, TypeVar, get_args

from kafka.errors import KafkaConnectionError, KafkaError, TopicAuthorizationFailedError

from group_coordinator.clients.cluster.connect_log import LOGIN_ERRORS, logged_errors
from group_coordinator.clients.cluster.long_waits import reported_long_wait
from group_coordinator.clients.cluster.tls_versions import with_limited_versions
from group_coordinator.clients.cluster.token_provider import TokenProvider
from group_coordinator.clients.errors import (
    AccessDeniedError,
    BrokerUnreachableError,
    ChannelError,
    LoginRefusedError,
)
from group_coordinator.codecs.host_and_port import broker_addresses, broker_list, written
from group_coordinator.security import Protocol as SecurityProtocol
from group_coordinator.security import Security
from group_coordinator.settings import JobSettings

CONNECT_TIMEOUT_S = 5.0
BOOTSTRAP_TIMEOUT_MS = 10_000
_RECONNECT_BACKOFF_MAX_MS = 1_000
"""Limit of Kafka's own clients. kafka-python's is 30 s: after an outage of 10 s a broker would not be tried for as long again."""


_BY_PASSWORD = (
    ("sasl_plain_username", "sasl_plain_password"),
    "username and password in sasl.jaas.config; kafka-python calls them sasl_plain_username and sasl_plain_password",
)
_BY_TOKEN = (
    ("sasl_oauth_token_provider",),
    "sasl.oauthbearer.token.endpoint.url, and clientId and clientSecret in sasl.jaas.config",
)
_NEEDED = {
    **dict.fromkeys(("PLAIN", "SCRAM-SHA-256", "SCRAM-SHA-512"), _BY_PASSWORD),
    "OAUTHBEARER": _BY_TOKEN,
}
"""For each mechanism, the options of kafka-python that it needs, and the properties that set them."""
_PACKAGES = {
    "AWS_MSK_IAM": ("botocore", "pip install 'spark-group-coordinator[msk]'"),
    "GSSAPI": ("gssapi", "pip install gssapi"),
}
"""For each mechanism, the package that it needs in addition to kafka-python, and the command that installs it."""


class _Closable(Protocol):
    def close(self) -> None: ...


Client = TypeVar("Client", bound=_Closable)
"""Client class of kafka-python."""


@dataclass(frozen=True, slots=True)
class Connection:
    """The addresses and options of all clients of this package; `options` are kafka-python's, for security and tuning.

    Raises:
        ValueError: a bootstrap server is not a valid address.
        LoginRefusedError: the protocol is unknown, or a part of the login, or its package, is missing.
    """

    bootstrap_servers: str
    # The options may contain a login.
    options: Mapping[str, Any] = field(default_factory=dict, repr=False)

    def __post_init__(self) -> None:
        broker_addresses(self.bootstrap_servers)
        # Checked here, as kafka-python's own errors name no property.
        fault = _unknown_protocol(self.options) or _missing_in_login(self.options)
        if fault is not None:
            raise LoginRefusedError(fault)

    @classmethod
    def of(cls, job: JobSettings) -> Self:
        """Connection to the cluster of the settings, with their login.

        Raises:
            LoginRefusedError: the login needs a package that is not installed.
        """
        return cls(job.bootstrap_servers, login_options(job.security))

    def client_options(self) -> dict[str, Any]:
        """Keyword arguments for any client of kafka-python.

        Raises:
            LoginRefusedError: a file that the options name cannot be used.
        """
        return {
            "bootstrap_servers": broker_list(self.bootstrap_servers).split(","),
            "bootstrap_timeout_ms": BOOTSTRAP_TIMEOUT_MS,
            "reconnect_backoff_max_ms": _RECONNECT_BACKOFF_MAX_MS,
            **with_limited_versions(self.options),
        }

    def local_address(self) -> str:
        """Address of this machine on the way to the cluster.

        A plain connection fails at once if no process listens; kafka-python would try for 30 seconds.

        Raises:
            BrokerUnreachableError: no bootstrap server accepts a connection.
        """
        causes = []
        for address in self.addresses():
            try:
                with socket.create_connection(address, timeout=CONNECT_TIMEOUT_S) as probe:
                    return str(probe.getsockname()[0])
            except OSError as error:
                causes.append(f"{written(*address)}: {error.strerror or error}")
        raise BrokerUnreachableError(f"no Kafka broker responds ({'; '.join(causes)})")

    def addresses(self) -> list[tuple[str, int]]:
        """Return host and port of each bootstrap server."""
        return broker_addresses(self.bootstrap_servers)

    def open(self, client: Callable[..., Client], **options: Any) -> Client:
        """Make a client of kafka-python, which connects.

        Raises:
            ChannelError: the cluster does not answer, or rejects the login.
        """
        # Without this check kafka-python would try an unreachable cluster for 30 seconds.
        self.local_address()
        with logged_errors() as logged:
            try:
                return client(**self.client_options(), **options)
            except KafkaError as error:
                raise self.failure(logged.cause(error)) from error

    @contextmanager
    def opened(self, client: Callable[..., Client], **options: Any) -> Iterator[Client]:
        """Open a client for the block; an error of Kafka in the block is raised as `failure` describes it.

        Raises:
            ChannelError: the cluster does not answer, or rejects the login.
        """
        with (
            closing(self.open(client, **options)) as opened,
            # kafka-python retries silently, so a long wait is logged.
            reported_long_wait(f"a response of Kafka at {self.bootstrap_servers}"),
        ):
            try:
                yield opened
            except KafkaError as error:
                raise self.failure(error) from error

    def failure(self, error: Exception) -> ChannelError:
        """Error for an error of kafka-python, with the address and a hint."""
        cluster = f"Kafka at {self.bootstrap_servers}"
        # The most specific error is first.
        if isinstance(error, TopicAuthorizationFailedError):
            return AccessDeniedError(f"{cluster} denies {self._user} access: {error}")
        if isinstance(error, LOGIN_ERRORS):
            return LoginRefusedError(f"{cluster}: authentication of {self._user} failed ({error})")
        if _closed_by_broker(error):
            return self._hung_up(cluster)
        return BrokerUnreachableError(f"{cluster}: {error}")

    def _hung_up(self, cluster: str) -> ChannelError:
        # A broker may close a connection without an error message if the login or the protocol is wrong.
        protocol = self.options.get("security_protocol", "PLAINTEXT")
        mismatch = f"security.protocol = {protocol} is not the cluster's"
        if protocol.startswith("SASL_"):
            return LoginRefusedError(
                f"{cluster} closes the connection: authentication of {self._user} failed, or {mismatch}"
            )
        return BrokerUnreachableError(f"{cluster} closes the connection: perhaps {mismatch}")

    @property
    def principal(self) -> str:
        """Principal of this user; a client that does not log in by name and password is anonymous."""
        return f"User:{self._name}"

    @property
    def _user(self) -> str:
        return f"user {self._name}"

    @property
    def _name(self) -> str:
        # With OAUTHBEARER the client id is the user's name.
        client = getattr(self.options.get("sasl_oauth_token_provider"), "client_id", "ANONYMOUS")
        return str(self.options.get("sasl_plain_username", client))


def login_options(security: Security) -> dict[str, Any]:
    """Return keyword arguments of kafka-python's clients, for all mechanisms."""
    options: dict[str, Any] = dict(security.python_options())
    if options.get("sasl_mechanism") == "OAUTHBEARER":
        options["sasl_oauth_token_provider"] = TokenProvider(security)
    return options


def _unknown_protocol(options: Mapping[str, Any]) -> str | None:
    """Return the fault of the protocol, or None. kafka-python would connect in plain text, and without a login."""
    protocols = get_args(SecurityProtocol)
    protocol = options.get("security_protocol", protocols[0])
    if protocol in protocols:
        return None
    return f"security.protocol = {protocol} is not valid: give one of {', '.join(protocols)}"


def _missing_in_login(options: Mapping[str, Any]) -> str | None:
    """Return the fault of a login, or None. kafka-python notices it only on connecting, and its error names no option."""
    protocol, mechanism = str(options.get("security_protocol")), options.get("sasl_mechanism")
    if not protocol.startswith("SASL_"):
        return None
    if mechanism is None:
        return f"security.protocol = {protocol} needs sasl.mechanism, such as SCRAM-SHA-512"
    if mechanism == "AWS_MSK_IAM" and protocol != "SASL_SSL":
        return f"sasl.mechanism = {mechanism} needs security.protocol = SASL_SSL"
    package, remedy = _PACKAGES.get(mechanism, ("kafka", ""))
    if find_spec(package) is None:
        return f"sasl.mechanism = {mechanism} needs {package}: {remedy}"
    needed, where = _NEEDED.get(mechanism, ((), ""))
    is_complete = all(options.get(name) is not None for name in needed)
    return None if is_complete else f"sasl.mechanism = {mechanism} needs {where}"


def _closed_by_broker(error: Exception) -> bool:
    return isinstance(error, KafkaConnectionError) and "socket disconnected" in str(error)
