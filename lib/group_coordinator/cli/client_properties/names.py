"""Names of the properties that Kafka's clients have, from version 3.9 to 4.4."""

from __future__ import annotations

import re
from collections.abc import Mapping
from difflib import get_close_matches
from typing import Final

from kafka import KafkaAdminClient, KafkaConsumer, KafkaProducer

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

_SECRETS = frozenset(
    (
        *(
            "sasl.oauthbearer.client.credentials.client.secret",
            "sasl.plain.password",
            "ssl.password",
        ),
        "sasl.password",  # librdkafka's
        *(
            "sasl.oauthbearer.assertion.private.key.passphrase",
            "ssl.keystore.key",
            "ssl.key.password",
        ),
        *("ssl.keystore.password", "ssl.truststore.password"),
    )
)
"""Properties with secrets. Kafka hides certificates too, which are public."""

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
    """Return the names of the properties with a secret."""
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
