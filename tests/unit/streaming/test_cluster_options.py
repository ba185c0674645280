from __future__ import annotations

import pytest

from group_coordinator import settings
from group_coordinator.settings import JobSettings
from group_coordinator.streaming.cluster_options import DATABRICKS, cluster_options


@pytest.fixture
def job() -> JobSettings:
    login = [
        "security.protocol=SASL_PLAINTEXT",
        "sasl.username=org.apache.kafka.",
        "sasl.password=p",
    ]
    return settings.load(overrides=["bootstrap.servers=b:1", *login]).job


def test_kafkas_properties_have_a_prefix(job: JobSettings, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv(DATABRICKS, raising=False)

    assert cluster_options(job) == {
        "kafka.bootstrap.servers": "b:1",
        "kafka.security.protocol": "SASL_PLAINTEXT",
        "kafka.sasl.mechanism": "SCRAM-SHA-512",
        "kafka.sasl.jaas.config": (
            "org.apache.kafka.common.security.scram.ScramLoginModule required "
            'username="org.apache.kafka." password="p";'
        ),
    }


def test_on_databricks_the_login_module_has_another_name(
    job: JobSettings, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(DATABRICKS, "17.3")

    assert cluster_options(job)["kafka.sasl.jaas.config"] == (
        "kafkashaded.org.apache.kafka.common.security.scram.ScramLoginModule required "
        'username="org.apache.kafka." password="p";'
    )


def test_given_properties_take_precedence_and_get_the_names_of_databricks(
    job: JobSettings, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(DATABRICKS, "17.3")
    module = (
        "org.apache.kafka.common.security.plain.PlainLoginModule required username=u password=p;"
    )

    options = cluster_options(job, {"sasl.jaas.config": module, "request.timeout.ms": "5000"})

    assert options["kafka.sasl.jaas.config"] == f"kafkashaded.{module}"
    assert options["kafka.request.timeout.ms"] == "5000"
    assert options["kafka.bootstrap.servers"] == "b:1"


def test_a_login_by_tokens_on_databricks(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(DATABRICKS, "17.3")
    endpoint = "sasl.oauthbearer.token.endpoint.url=https://org.apache.kafka.example/token"
    by_tokens = [
        *("security.protocol=SASL_SSL", "sasl.mechanism=OAUTHBEARER", endpoint),
        *("sasl.username=billing", "sasl.password=p"),
    ]

    options = cluster_options(settings.load(overrides=by_tokens).job)

    assert options["kafka.sasl.jaas.config"] == (
        "kafkashaded.org.apache.kafka.common.security.oauthbearer.OAuthBearerLoginModule required "
        'clientId="billing" clientSecret="p";'
    )
    assert options["kafka.sasl.login.callback.handler.class"] == (
        "kafkashaded.org.apache.kafka.common.security.oauthbearer.OAuthBearerLoginCallbackHandler"
    )
    assert options["kafka.sasl.oauthbearer.token.endpoint.url"] == (
        "https://org.apache.kafka.example/token"
    )


def test_amazons_login_on_databricks(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(DATABRICKS, "17.3")
    by_iam = ["security.protocol=SASL_SSL", "sasl.mechanism=AWS_MSK_IAM"]

    options = cluster_options(settings.load(overrides=by_iam).job)

    assert options["kafka.sasl.jaas.config"] == (
        "shadedmskiam.software.amazon.msk.auth.iam.IAMLoginModule required;"
    )
    assert options["kafka.sasl.client.callback.handler.class"] == (
        "shadedmskiam.software.amazon.msk.auth.iam.IAMClientCallbackHandler"
    )
