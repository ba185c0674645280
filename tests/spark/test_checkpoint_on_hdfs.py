"""Files of a checkpoint on a real HDFS: replaced in one step, and one of two drivers comes second."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
from py4j.protocol import Py4JJavaError
from pyspark.sql import SparkSession

from group_coordinator.streaming.checkpoint.folder import CheckpointFolder
from group_coordinator.streaming.checkpoint.object_store import file_managers, rename_plainly
from tests.conformance.kafka.coordinators import NoCompilerError
from tests.support.hadoop_cluster import HadoopCluster, hadoop_cluster

pytestmark = pytest.mark.spark

MANAGER = "spark.sql.streaming.checkpointFileManagerClass"


@pytest.fixture(scope="module")
def hdfs(tmp_path_factory: pytest.TempPathFactory) -> Iterator[HadoopCluster]:
    try:
        with hadoop_cluster(tmp_path_factory.mktemp("hdfs")) as cluster:
            yield cluster
    except NoCompilerError as reason:
        pytest.skip(str(reason))


@pytest.fixture
def session(spark: SparkSession, hdfs: HadoopCluster) -> Iterator[SparkSession]:
    """As `group-coordinator run` makes one for a checkpoint on HDFS."""
    spark.conf.unset(MANAGER)
    rename_plainly(spark, f"{hdfs.address}/checkpoint")
    yield spark
    rename_plainly(spark, "checkpoint")


def test_a_file_is_replaced(session: SparkSession, hdfs: HadoopCluster) -> None:
    folder = CheckpointFolder(session, f"{hdfs.address}/replaced")

    folder.write("settings", "old")
    folder.write("settings", "new")

    assert folder.read("settings") == "new"
    assert folder.names_in("") == {"settings"}


def test_an_address_leaves_the_name_node_out(session: SparkSession, hdfs: HadoopCluster) -> None:
    session.conf.set("fs.defaultFS", hdfs.address)
    folder = CheckpointFolder(session, "hdfs:///short")
    session.conf.unset("fs.defaultFS")

    folder.write("settings", "new")

    assert folder.address_in_full == f"{hdfs.address}/short"
    assert hdfs.dfs("-cat", f"{hdfs.address}/short/settings") == (0, b"new")


def test_the_plan_of_a_batch_is_written_once(session: SparkSession, hdfs: HadoopCluster) -> None:
    """Both drivers have looked before either writes: the rename decides, not the look."""
    inside: Any = session
    path = inside._jvm.org.apache.hadoop.fs.Path(f"{hdfs.address}/fence/offsets/7")  # noqa: SLF001 - PySpark has no public way
    configuration = inside._jsparkSession.sessionState().newHadoopConf()  # noqa: SLF001
    files = file_managers(session).create(path.getParent(), configuration)
    files.mkdirs(path.getParent())
    first, second = (files.createAtomic(path, False) for _ in range(2))
    first.write(b"of the first")
    second.write(b"of the second")
    first.close()

    with pytest.raises(Py4JJavaError, match="FileAlreadyExistsException"):
        second.close()

    assert hdfs.dfs("-cat", f"{hdfs.address}/fence/offsets/7") == (0, b"of the first")
