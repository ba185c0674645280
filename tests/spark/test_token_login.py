"""A login with OAUTHBEARER to a real broker: Kafka's own clients and kafka-python get their tokens at one endpoint."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest
from chispa import assert_df_equality
from pyspark.sql import SparkSession

from group_coordinator import settings
from group_coordinator.clients.cluster.connection import Connection, login_options
from group_coordinator.clients.cluster.coordinator_topics import create_topics
from group_coordinator.clients.errors import LoginRefusedError
from group_coordinator.local.broker import EmbeddedBroker
from group_coordinator.security import Secret
from group_coordinator.settings import JobSettings
from group_coordinator.streaming.cluster_options import cluster_options
from tests.support.token_endpoint import (
    AUDIENCE,
    CLIENT_ID,
    CLIENT_SECRET,
    ISSUER,
    TokenEndpoint,
    key_set,
    token_endpoint,
)

pytestmark = [pytest.mark.spark, pytest.mark.kafka]

SECURITY = "org.apache.kafka.common.security"
BROKERS_LOGIN = (
    f'{SECURITY}.plain.PlainLoginModule required username="broker" password="b" user_broker="b";'
)
TOKENS_LOGIN = f"{SECURITY}.oauthbearer.OAuthBearerLoginModule required;"


@pytest.fixture(scope="module")
def endpoint() -> Iterator[TokenEndpoint]:
    with token_endpoint() as started:
        yield started


@pytest.fixture(scope="module")
def broker(tmp_path_factory: pytest.TempPathFactory) -> Iterator[EmbeddedBroker]:
    """It judges tokens by their signature."""
    keys = tmp_path_factory.mktemp("keys") / "keys.json"
    keys.write_text(key_set())
    judge = "listener.name.clients.oauthbearer"
    by_tokens = EmbeddedBroker(
        properties={
            "listener.security.protocol.map": "CLIENTS:SASL_PLAINTEXT,CONTROLLER:PLAINTEXT",
            "sasl.enabled.mechanisms": "OAUTHBEARER,PLAIN",
            "sasl.mechanism.inter.broker.protocol": "PLAIN",
            "listener.name.clients.plain.sasl.jaas.config": BROKERS_LOGIN,
            f"{judge}.sasl.jaas.config": TOKENS_LOGIN,
            f"{judge}.sasl.server.callback.handler.class": (
                f"{SECURITY}.oauthbearer.OAuthBearerValidatorCallbackHandler"
            ),
            f"{judge}.sasl.oauthbearer.jwks.endpoint.url": keys.as_uri(),
            f"{judge}.sasl.oauthbearer.expected.issuer": ISSUER,
            f"{judge}.sasl.oauthbearer.expected.audience": AUDIENCE,
        }
    )
    with pytest.MonkeyPatch.context() as environment:
        environment.setenv("JAVA_TOOL_OPTIONS", allowed_url(keys))
        by_tokens.start()
    try:
        yield by_tokens
    finally:
        by_tokens.stop()


def allowed_url(keys: Path) -> str:
    """Kafka 4 reads keys from where its machine's owner says only."""
    return f"-Dorg.apache.kafka.sasl.oauthbearer.allowed.urls={keys.as_uri()}"


@pytest.fixture
def job(broker: EmbeddedBroker, endpoint: TokenEndpoint) -> JobSettings:
    login = [
        *("security.protocol=SASL_PLAINTEXT", "sasl.mechanism=OAUTHBEARER"),
        *(f"sasl.username={CLIENT_ID}", f"sasl.password={CLIENT_SECRET}"),
        *(f"sasl.oauthbearer.token.endpoint.url={endpoint.url}", "sasl.oauthbearer.scope=groups"),
    ]
    servers = f"bootstrap.servers={broker.bootstrap_servers}"
    return settings.load(overrides=[servers, *login]).job


def test_both_halves_of_the_job_log_in(
    spark: SparkSession, job: JobSettings, endpoint: TokenEndpoint
) -> None:
    created = create_topics(Connection.of(job), job)
    asked_by_python = len(endpoint.forms)
    event = spark.createDataFrame([("billing", "{}")], "key string, value string")
    kafka = cluster_options(job)
    event.write.format("kafka").options(**kafka, topic=job.events_topic).save()
    read = spark.read.format("kafka").options(**kafka, subscribe=job.events_topic).load()

    assert set(created) == {job.events_topic, job.responses_topic}
    assert asked_by_python == 1
    assert_df_equality(
        read.selectExpr("CAST(key AS STRING) key", "CAST(value AS STRING) value"), event
    )
    assert len(endpoint.forms) > asked_by_python
    assert endpoint.forms == [{"grant_type": "client_credentials", "scope": "groups"}] * len(
        endpoint.forms
    )


def test_a_wrong_secret_is_told_in_one_sentence(job: JobSettings) -> None:
    wrong = login_options(replace(job.security, sasl_password=Secret("other-hush")))
    # kafka-python tries again until this time is over.
    connection = Connection(job.bootstrap_servers, {**wrong, "bootstrap_timeout_ms": 500})

    with pytest.raises(LoginRefusedError) as refused:
        create_topics(connection, job)

    assert str(refused.value).startswith(
        f"Kafka at {job.bootstrap_servers}: authentication of user"
    )
    assert "HTTP 401" in str(refused.value)
    assert "hush" not in str(refused.value)
