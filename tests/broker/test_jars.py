from __future__ import annotations

import re
from importlib.util import find_spec
from pathlib import Path

import pytest

from group_coordinator.local.jars import broker_jars, s3_jars, spark_jars

pytestmark = pytest.mark.kafka


def names(jars: list[Path]) -> set[str]:
    return {re.sub(r"-\d.*", "", jar.name) for jar in jars}


def test_sparks_jars_are_what_pyspark_lacks() -> None:
    pyspark = find_spec("pyspark")
    assert pyspark is not None
    assert pyspark.origin is not None
    shipped = names(list(Path(pyspark.origin).parent.glob("jars/*.jar")))

    fetched = names(spark_jars())

    assert {"delta-spark_4.2_2.13", "spark-sql-kafka", "kafka-clients"} <= fetched
    assert fetched & shipped == set()


def test_s3_needs_hadoops_own_version_and_not_the_whole_sdk() -> None:
    pyspark = find_spec("pyspark")
    assert pyspark is not None
    assert pyspark.origin is not None
    [hadoop] = Path(pyspark.origin).parent.glob("jars/hadoop-client-api-*.jar")

    fetched = s3_jars()

    assert hadoop.name.replace("client-api", "aws") in {jar.name for jar in fetched}
    assert {"s3", "sts", "netty-nio-client"} <= names(fetched)
    assert "bundle" not in names(fetched)


def test_the_brokers_jars_are_of_one_kafka() -> None:
    kafkas = {jar.name for jar in broker_jars() if jar.name.startswith("kafka")}

    assert "kafka_2.13-4.4.0.jar" in kafkas
    assert all("-4.4.0" in name for name in kafkas)
