"""Address of the Kafka cluster and login to it, with the TLS versions, for which kafka-python has no option.

kafka-python's log is captured: the error that it raises is a timeout, and the cause is only in its log. A long wait is logged
with the brokers that do not respond, and how to end it.
"""

from __future__ import annotations

import logging
import socket
from collections.abc import Callable, Iterator, Mapping
from contextlib import closing, contextmanager
from dataclasses import dataclass, field
from functools import partial
from importlib.util import find_spec
from itertools import count
from ssl import SSLContext, TLSVersion
from typing import Any, Final, Protocol, Self, TypeVar, get_args

from kafka.errors import (
    IllegalSaslStateError,
    KafkaConnectionError,
    KafkaError,
    RequestTimedOutError,
    SaslAuthenticationFailedError,
    TopicAuthorizationFailedError,
    UnsupportedSaslMechanismError,
)
from kafka.net.transport import KafkaSSLTransport

from group_coordinator.background import Background, repeat
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

LOGIN_ERRORS = (SaslAuthenticationFailedError, UnsupportedSaslMechanismError)
_LOGGER = "kafka.net.manager"


class LoggedErrors(logging.Handler):
    """Log handler that keeps the logged exceptions."""

    def __init__(self) -> None:
        super().__init__(logging.WARNING)
        self._errors: list[Exception] = []

    def emit(self, record: logging.LogRecord) -> None:
        """Keep the exceptions of a log record, as logging's handler."""
        arguments = record.args if isinstance(record.args, tuple) else ()
        self._errors += [each for each in arguments if isinstance(each, Exception)]

    def cause(self, error: Exception) -> Exception:
        """Return the logged error that explains the cause best, or else the error itself.

        A broker that rejects a login often closes the connection before its response is read: any of several attempts
        may have read it.
        """
        of_login = [each for each in self._errors if isinstance(each, LOGIN_ERRORS)]
        # The last error is closest to the failure.
        others = [each for each in self._errors if type(each) is not type(error)]
        # The last attempt has only the rest of the time, and its timeout says nothing of the others.
        others.sort(key=lambda each: not isinstance(each, RequestTimedOutError))
        return next(iter([*of_login, *reversed(others)]), error)


@contextmanager
def logged_errors() -> Iterator[LoggedErrors]:
    """Keep kafka-python's logged errors while the block runs."""
    logger = logging.getLogger(_LOGGER)
    errors = LoggedErrors()
    logger.addHandler(errors)
    try:
        yield errors
    finally:
        logger.removeHandler(errors)


FIRST_S, AGAIN_S = 10.0, 60.0
"""Seconds of a wait until it is logged, and between later log lines."""
_log = logging.getLogger(__name__)


def reported_long_wait(
    awaited: str, first_s: float = FIRST_S, again_s: float = AGAIN_S
) -> Background:
    """Log the wait of the block for `awaited`, such as "a response of Kafka at HOST:PORT", after 10 s, and every minute then."""
    waited_s = count(first_s, again_s)

    def report() -> None:
        _log.warning(
            "waiting for %s, for %g s so far; SIGTERM or Ctrl-C ends the wait",
            awaited,
            next(waited_s),
        )

    return Background(partial(repeat, report, interval_s=again_s, first_s=first_s), "long wait")


TLS_VERSIONS: Final = "ssl_enabled_protocols"
"""Option of `Connection`: the lowest and the highest version."""


def limit_versions(context: SSLContext, options: Mapping[str, Any]) -> None:
    """Limit a context to the versions of the options; without them it stays as it is."""
    versions: tuple[TLSVersion, TLSVersion] | None = options.get(TLS_VERSIONS)
    if versions is not None:
        context.minimum_version, context.maximum_version = versions


def with_limited_versions(options: Mapping[str, Any]) -> dict[str, Any]:
    """Turn the option into kafka-python's `ssl_context`. Raises LoginRefusedError: a file of the options cannot be used."""
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
        with closing(self.open(client, **options)) as opened, self.awaited():
            yield opened

    @contextmanager
    def awaited(self) -> Iterator[None]:
        """Log a long wait for responses in the block; an error of Kafka in the block is raised as `failure` describes it."""
        # kafka-python retries silently, so a long wait is logged.
        with reported_long_wait(f"a response of Kafka at {self.bootstrap_servers}"):
            try:
                yield
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
        if isinstance(error, IllegalSaslStateError):
            return LoginRefusedError(f"{cluster} takes no login: {self._mismatch}")
        if isinstance(error, KafkaConnectionError) and "socket disconnected" in str(error):
            return self._hung_up(cluster)
        return BrokerUnreachableError(f"{cluster}: {error}")

    def _hung_up(self, cluster: str) -> ChannelError:
        # A broker may close a connection without an error message if the login or the protocol is wrong.
        if self._protocol.startswith("SASL_"):
            return LoginRefusedError(
                f"{cluster} closes the connection: authentication of {self._user} failed, or {self._mismatch}"
            )
        return BrokerUnreachableError(f"{cluster} closes the connection: perhaps {self._mismatch}")

    @property
    def _protocol(self) -> str:
        return str(self.options.get("security_protocol", "PLAINTEXT"))

    @property
    def _mismatch(self) -> str:
        return f"security.protocol = {self._protocol} is not the cluster's"

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
