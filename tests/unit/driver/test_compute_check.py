from __future__ import annotations

from typing import Any, NoReturn

import pytest
from pyspark.errors import PySparkRuntimeError

from group_coordinator.driver.errors import StartUpError
from group_coordinator.driver.session import check_session, session
from group_coordinator.streaming.cluster_options import DATABRICKS


class Configured:
    """Stands for a session of which nothing but its configuration is asked."""

    def __init__(self, **values: str) -> None:
        self.conf = {key.replace("__", "."): value for key, value in values.items()}


def make() -> NoReturn:
    raise AssertionError("a session was made")


def test_spark_connect_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SPARK_CONNECT_MODE_ENABLED", "1")

    with pytest.raises(StartUpError, match="Spark Connect"), session(make):
        pass


def test_java_that_does_not_start_is_no_defect() -> None:
    def fail() -> NoReturn:
        raise PySparkRuntimeError("[JAVA_GATEWAY_EXITED] Java gateway process exited")

    with pytest.raises(StartUpError, match="Java ended before Spark could start"), session(fail):
        pass


def test_serverless_compute_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(DATABRICKS, "client.4.9")

    with pytest.raises(StartUpError) as refused, session(make):
        pass

    assert str(refused.value) == (
        "this is Databricks' serverless compute (DATABRICKS_RUNTIME_VERSION = client.4.9): the job needs a Spark of "
        "its own, as spark-submit and Databricks' dedicated compute (data_security_mode: SINGLE_USER) give it"
    )


@pytest.mark.parametrize("mode", ["USER_ISOLATION", "DATA_SECURITY_MODE_STANDARD"])
def test_standard_compute_is_refused(mode: str) -> None:
    spark: Any = Configured(spark__databricks__clusterUsageTags__dataSecurityMode=mode)

    with pytest.raises(StartUpError, match=f"standard compute .* = {mode}"):
        check_session(spark)


@pytest.mark.parametrize("mode", ["SINGLE_USER", "DATA_SECURITY_MODE_DEDICATED", "NONE"])
def test_dedicated_compute_is_taken(mode: str) -> None:
    spark: Any = Configured(spark__databricks__clusterUsageTags__dataSecurityMode=mode)

    check_session(spark)


def test_a_session_that_somebody_else_made_may_be_one_of_spark_connect() -> None:
    # Spark Connect's own module needs gRPC, which only its users have.
    connected = type("SparkSession", (), {"__module__": "pyspark.sql.connect.session"})
    spark: Any = connected()

    with pytest.raises(StartUpError, match="this session is one of Spark Connect"):
        check_session(spark)
