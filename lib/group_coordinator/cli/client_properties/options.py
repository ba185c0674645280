"""Conversion of Kafka's client properties to options of kafka-python and of Java's clients, and a command's connection by them.

The names of the properties are those of Kafka 3.9 to 4.4.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from difflib import get_close_matches
from pathlib import Path
from typing import Any, Final, NamedTuple

import click
from kafka import KafkaAdminClient, KafkaConsumer, KafkaProducer

from group_coordinator.cli.client_properties.file import (
    PropertiesError,
    read_properties,
    warn_if_others_read,
)
from group_coordinator.cli.client_properties.security import (
    USED_BY_TLS,
    is_pem,
    login_options,
    tls_options,
    unused_by_login,
    used_by_login,
)
from group_coordinator.clients.cluster.connection import Connection
from group_coordinator.clients.cluster.connection import login_options as login_of_settings
from group_coordinator.clients.errors import ClientError
from group_coordinator.core.kafka_order import java_number, java_trimmed
from group_coordinator.core.model.config import ConfigError
from group_coordinator.security import Security

_OF_EVERY_CLIENT = """
    auto.include.jmx.reporter bootstrap.resolve.timeout.ms bootstrap.servers client.dns.lookup client.id
    config.providers connections.max.idle.ms enable.metrics.push metadata.cluster.check.enable metadata.max.age.ms
    metadata.recovery.rebootstrap.trigger.ms metadata.recovery.strategy metric.reporters metrics.num.samples
    metrics.recording.level metrics.sample.window.ms receive.buffer.bytes reconnect.backoff.max.ms
    reconnect.backoff.ms request.timeout.ms retry.backoff.max.ms retry.backoff.ms send.buffer.bytes
    sasl.client.callback.handler.class sasl.jaas.config sasl.kerberos.kinit.cmd sasl.kerberos.min.time.before.relogin
    sasl.kerberos.service.name sasl.kerberos.ticket.renew.jitter sasl.kerberos.ticket.renew.window.factor
    sasl.login.callback.handler.class sasl.login.class sasl.login.connect.timeout.ms sasl.login.read.timeout.ms
    sasl.login.refresh.buffer.seconds sasl.login.refresh.min.period.seconds sasl.login.refresh.window.factor
    sasl.login.refresh.window.jitter sasl.login.retry.backoff.max.ms sasl.login.retry.backoff.ms sasl.mechanism
    sasl.oauthbearer.allow.unverified.audience sasl.oauthbearer.allow.unverified.issuer
    sasl.oauthbearer.assertion.algorithm sasl.oauthbearer.assertion.claim.aud
    sasl.oauthbearer.assertion.claim.exp.seconds sasl.oauthbearer.assertion.claim.iss
    sasl.oauthbearer.assertion.claim.jti.include sasl.oauthbearer.assertion.claim.nbf.seconds
    sasl.oauthbearer.assertion.claim.sub sasl.oauthbearer.assertion.file sasl.oauthbearer.assertion.private.key.file
    sasl.oauthbearer.assertion.private.key.passphrase sasl.oauthbearer.assertion.template.file
    sasl.oauthbearer.client.credentials.client.id sasl.oauthbearer.client.credentials.client.secret
    sasl.oauthbearer.clock.skew.seconds sasl.oauthbearer.expected.audience sasl.oauthbearer.expected.issuer
    sasl.oauthbearer.header.urlencode sasl.oauthbearer.jwks.endpoint.refresh.ms
    sasl.oauthbearer.jwks.endpoint.retry.backoff.max.ms sasl.oauthbearer.jwks.endpoint.retry.backoff.ms
    sasl.oauthbearer.jwks.endpoint.url sasl.oauthbearer.jwt.retriever.class sasl.oauthbearer.jwt.validator.class
    sasl.oauthbearer.scope sasl.oauthbearer.scope.claim.name sasl.oauthbearer.sub.claim.name
    sasl.oauthbearer.token.endpoint.url security.protocol security.providers
    socket.connection.setup.timeout.max.ms socket.connection.setup.timeout.ms ssl.cipher.suites ssl.enabled.protocols
    ssl.endpoint.identification.algorithm ssl.engine.factory.class ssl.key.password ssl.keymanager.algorithm
    ssl.keystore.certificate.chain ssl.keystore.key ssl.keystore.location ssl.keystore.password ssl.keystore.type
    ssl.protocol ssl.provider ssl.secure.random.implementation ssl.trustmanager.algorithm ssl.truststore.certificates
    ssl.truststore.location ssl.truststore.password ssl.truststore.type
"""
OF_EVERY_CLIENT: Final = frozenset(_OF_EVERY_CLIENT.split())
"""Properties of the admin client, the consumer and the producer."""

_HIDDEN_NAMES = """
    sasl.oauthbearer.client.credentials.client.secret sasl.plain.password ssl.password sasl.password
    sasl.oauthbearer.assertion.private.key.passphrase ssl.keystore.key ssl.key.password ssl.keystore.password
    ssl.truststore.password
"""
_SECRETS = frozenset(_HIDDEN_NAMES.split())
"""Properties with secrets; sasl.password is librdkafka's. Kafka hides certificates too, which are public."""

_SECRET_OPTION = re.compile("password|secret", re.IGNORECASE)
"""Options with secrets; login modules of Kerberos and of AWS have none."""

_OF_SOME_CLIENTS = """
    bootstrap.controllers buffer.memory buffer.memory.allocation.strategy compression.gzip.level compression.lz4.level
    compression.zstd.level default.api.timeout.ms group.protocol group.remote.assignor interceptor.classes
    internal.leave.group.on.close internal.throw.on.fetch.stable.offset.unsupported metadata.max.idle.ms
    partitioner.adaptive.partitioning.enable partitioner.availability.timeout.ms partitioner.class
    partitioner.ignore.keys partitioner.rack.aware share.acknowledgement.mode share.acquire.mode
    transaction.two.phase.commit.enable
"""
"""Properties of some Java clients that kafka-python does not have."""

_OBJECTS = (
    *("kafka_client", "metric_reporters", "sasl_oauth_token_provider", "api_version"),
    *("selector", "socket_options", "ssl_context"),
)
"""Options of kafka-python whose values are objects; a properties file cannot have them."""

OF_PYTHON: Final = {
    name: value
    for name, value in KafkaAdminClient.DEFAULT_CONFIG.items()
    if name in KafkaConsumer.DEFAULT_CONFIG
    and name in KafkaProducer.DEFAULT_CONFIG
    and name not in _OBJECTS
}
"""Options of all kafka-python clients, with defaults. A client fails on an option that it does not know."""

_PYTHONS = frozenset(
    name.replace("_", ".")
    for client in (KafkaAdminClient, KafkaConsumer, KafkaProducer)
    for name in client.DEFAULT_CONFIG
    if name not in _OBJECTS
)
_KNOWN = OF_EVERY_CLIENT.union(_OF_SOME_CLIENTS.split(), _PYTHONS)


def secrets_in(properties: Mapping[str, str]) -> list[str]:
    return [
        key
        for key, value in properties.items()
        if key.replace("_", ".") in _SECRETS
        or (key == "sasl.jaas.config" and _SECRET_OPTION.search(value))
    ]


def is_known(name: str) -> bool:
    return name in _KNOWN


def advice(name: str) -> str:
    """Return a known name that is similar, as the end of a sentence; empty without a similar name."""
    nearest = get_close_matches(name, sorted(_KNOWN), n=1, cutoff=0.8)
    return f"; did you mean {nearest[0]}?" if nearest else ""


_BUFFERS = ("receive_buffer_bytes", "send_buffer_bytes")
"""Buffer sizes. The default is the operating system's: None in kafka-python, -1 in Kafka."""
_IDLE = "connections_max_idle_ms"
"""Longest idle time of a connection. A number below 0 means never in Kafka, and at once in kafka-python."""
_FOR_EVER_MS = 2**31 - 1
_ADDRESS = "bootstrap.servers"
"""Ignored in the file: --bootstrap-server takes precedence, as in Kafka's tools."""


class ClientProperties(NamedTuple):
    python: dict[str, Any]
    java: dict[str, str]


def client_options(command_config: Path | None) -> dict[str, Any]:
    """Read options of kafka-python from the file of --command-config, if it is given.

    Standard error has the properties without effect. Raises click.UsageError: the file cannot be used; the message names the property.
    """
    if command_config is None:
        return {}
    properties = given_properties(command_config)
    return python_options(properties, str(command_config), reported=properties)


def options_of_both(command_config: Path | None) -> ClientProperties:
    """Read options of kafka-python, and the properties that all of Java's clients have.

    The properties of some kinds of clients are left out: Spark rejects some, and chooses `group.id` itself.
    """
    properties = given_properties(command_config)
    java = {key: properties[key] for key in properties if key in OF_EVERY_CLIENT - {_ADDRESS}}
    python = python_options(
        properties, str(command_config), reported=properties.keys() - java.keys()
    )
    for store in ("truststore", "keystore"):
        if is_pem(java.get(f"ssl.{store}.location", "")):
            # Java does not detect PEM by the content.
            java.setdefault(f"ssl.{store}.type", "PEM")
    return ClientProperties(python, java)


def given_properties(command_config: Path | None) -> dict[str, str]:
    """Read the properties of the file, if it is given. Standard error has a line if other users can read a secret in it."""
    if command_config is None:
        return {}
    try:
        properties = read_properties(command_config)
    except PropertiesError as error:
        raise click.UsageError(str(error)) from error
    warn_if_others_read(command_config, secrets_in(properties))
    return properties


def python_options(
    properties: Mapping[str, str], origin: str, reported: Iterable[str]
) -> dict[str, Any]:
    """Convert properties, under Kafka's names or kafka-python's with dots, to options of kafka-python.

    Messages begin with the `origin`, such as a file. Standard error has the `reported` properties that have no effect.
    click.UsageError: a property cannot be used.
    """
    hidden = secrets_in(properties)
    properties = {
        # Java trims values of all types but passwords.
        key: value if key in hidden else java_trimmed(value)
        for key, value in properties.items()
    }
    try:
        options = _plain_options(properties) | tls_options(properties) | login_options(properties)
    except (ConfigError, PropertiesError) as error:
        raise click.UsageError(f"{origin}: {error}") from error
    used = {_ADDRESS, *USED_BY_TLS, *used_by_login(properties)}
    # Properties without effect are reported, as a typo would stay unnoticed.
    idle = [key for key in properties if _option(key) not in OF_PYTHON and key not in used]
    for key in idle:
        if not is_known(key):
            said = f"{origin}: {key} is not a property of Kafka's clients{advice(key)}"
            click.echo(said, err=True)
    known = [key for key in idle if is_known(key) and key in set(reported)]
    without_effect = [*known, *unused_by_login(properties)]
    if without_effect:
        verb = "has" if len(without_effect) == 1 else "have"
        click.echo(f"{origin}: {', '.join(without_effect)} {verb} no effect here", err=True)
    return options


def _plain_options(properties: Mapping[str, str]) -> dict[str, Any]:
    """Convert the properties that kafka-python has under the same name."""
    options: dict[str, Any] = {
        _option(key): _typed(key, value, OF_PYTHON[_option(key)])
        for key, value in properties.items()
        if _option(key) in OF_PYTHON and key != _ADDRESS
    }
    # The clients differ in the meaning of a negative number: see _IDLE.
    if options.get(_IDLE, 0) < 0:
        options[_IDLE] = _FOR_EVER_MS
    return {name: value for name, value in options.items() if name not in _BUFFERS or value != -1}


def _option(key: str) -> str:
    return key.replace(".", "_")


def _typed(key: str, value: str, default: object) -> str | int | bool:
    """Convert the value to the type of the default; a password of digits stays a text."""
    if isinstance(default, bool):
        if value.lower() not in {"true", "false"}:
            raise PropertiesError(f"{key} = {value} is not a boolean: give true or false")
        return value.lower() == "true"
    if not isinstance(default, int) and _option(key) not in _BUFFERS:
        return value
    number = java_number(value)
    if number is None:
        raise PropertiesError(f"{key} = {value} is not a number: give a whole number")
    return number


def connection_of(
    servers: str, security: Security, options: Mapping[str, Any], origin: object
) -> Connection:
    """Make the connection of a command. `origin` is the file of the properties, None without a file.

    click.UsageError: settings and properties together are not a valid login.
    """
    try:
        return Connection(servers, {**login_of_settings(security), **options})
    except ClientError as error:
        where = "" if origin is None else f"{origin}: "
        raise click.UsageError(f"{where}{error}") from error
