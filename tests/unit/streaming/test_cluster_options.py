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
