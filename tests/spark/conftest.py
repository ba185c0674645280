from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing
from dataclasses import replace
from pathlib import Path

import pytest
from kafka import KafkaAdminClient
from pyspark.sql import SparkSession

from group_coordinator import settings
from group_coordinator.local.broker import EmbeddedBroker
from group_coordinator.local.folders import scratch_folder
from group_coordinator.local.jars import spark_jars
from group_coordinator.settings import JobSettings, Settings
from group_coordinator.streaming.session import local_session
from group_coordinator.tables.catalog import TableCatalog
from group_coordinator.tables.creation import create_tables
from tests.spark.mirror_stage import Mirror
from tests.support.job_process import ROOT

# On the same minute grid as the tests' literal times.
OVERRIDES = (
    "shuffle.partitions=2",
    "trigger.interval.ms=100",
    "timer.slack.ms=0",
    "offsets.retention.minutes=1",
    "offsets.retention.check.interval.ms=10000",
)
# Code that Spark makes of a plan pays off where the plan meets many rows. It is made by default, on the cluster and in all
# that starts the job as a process, and where a test asks for the fixture `compiled`.
COMPILED = {
    "spark.sql.codegen.wholeStage": ("false", "true"),
    "spark.sql.codegen.factoryMode": ("NO_CODEGEN", "FALLBACK"),
}
"""Setting -> without and with code."""


@pytest.fixture(scope="session")
def spark() -> Iterator[SparkSession]:
    with scratch_folder() as scratch:
        session = local_session(settings.load(overrides=OVERRIDES).job, spark_jars(), scratch)
        set_compiled(session, with_code=False)
        # Functions of tests are not in a package that is installed, and workers import nothing from the current folder.
        session.sparkContext.environment["PYTHONPATH"] = str(ROOT)
        yield session
        session.stop()


@pytest.fixture
def compiled(spark: SparkSession) -> Iterator[None]:
    """Spark makes code of the plans, as it does by default."""
    set_compiled(spark, with_code=True)
    yield
    set_compiled(spark, with_code=False)


def set_compiled(spark: SparkSession, *, with_code: bool) -> None:
    for setting, values in COMPILED.items():
        spark.conf.set(setting, values[with_code])


@pytest.fixture
def configured(tmp_path: Path) -> Settings:
    folders = (f"tables.root={tmp_path}/tables", f"checkpoint.location={tmp_path}/checkpoint")
    return settings.load(overrides=(*OVERRIDES, *folders))


@pytest.fixture
def catalog(spark: SparkSession, configured: Settings) -> TableCatalog:
    create_tables(configured.job.tables_root, lambda: spark)
    return TableCatalog(configured.job.tables_root)


@pytest.fixture
def job(configured: Settings, catalog: TableCatalog) -> JobSettings:
    """Its tables exist."""
    assert catalog.root == configured.job.tables_root
    return replace(configured.job, cluster_id="test")


@pytest.fixture
def mirror(spark: SparkSession, configured: Settings, broker: EmbeddedBroker) -> Mirror:
    return Mirror(spark, configured, broker)


@pytest.fixture
def admin(broker: EmbeddedBroker) -> Iterator[KafkaAdminClient]:
    with closing(KafkaAdminClient(bootstrap_servers=broker.bootstrap_servers)) as client:
        yield client
