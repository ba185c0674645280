from __future__ import annotations

import re
from pathlib import Path

import pytest
from pyspark.sql import SparkSession

from group_coordinator import settings
from group_coordinator.driver.checks import workers
from group_coordinator.driver.checks.workers import check_certificates
from group_coordinator.driver.errors import StartUpError
from group_coordinator.security import Security

pytestmark = pytest.mark.spark


@pytest.fixture(autouse=True)
def as_on_a_cluster(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(workers, "is_on_this_machine", lambda _: False)
    monkeypatch.setattr(workers, "_TASKS", 2)


@pytest.fixture
def trusted(tmp_path: Path) -> Path:
    file = tmp_path / "trusted.pem"
    file.write_text("-----BEGIN CERTIFICATE-----\n")
    return file


def encrypted(trusted: Path) -> Security:
    overrides = ["security.protocol=SSL", f"ssl.truststore.location={trusted}"]
    return settings.load(overrides=overrides).job.security


def test_executors_with_the_drivers_file(spark: SparkSession, trusted: Path) -> None:
    check_certificates(spark, encrypted(trusted))


def test_an_executor_without_the_file(
    spark: SparkSession, trusted: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Here they share a disk, so the driver is the one who has it: in its memory."""
    read = trusted.read_bytes()
    monkeypatch.setattr(workers.Path, "read_bytes", lambda _: read)
    security = encrypted(trusted)
    trusted.unlink()

    with pytest.raises(StartUpError) as refused:
        check_certificates(spark, security)

    assert re.fullmatch(
        rf"ssl\.truststore\.location = {trusted} cannot be read on the executor \S+: put the driver's file at "
        "the same path on all machines",
        str(refused.value),
    )


def test_an_executor_with_another_file(
    spark: SparkSession, trusted: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(workers.Path, "read_bytes", lambda _: b"the driver's")

    with pytest.raises(StartUpError, match="is another file on the executor"):
        check_certificates(spark, encrypted(trusted))
