from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from py4j.protocol import Py4JJavaError
from pyspark.sql import SparkSession

from group_coordinator.streaming.session import warn_of_newer

pytestmark = pytest.mark.spark


def test_nobody_speaks_to_the_driver_without_its_secret(spark: SparkSession) -> None:
    """As an executor or another program does it: it begins by looking for an endpoint of the driver."""
    session: Any = spark
    classes = session._jvm.org.apache.spark  # noqa: SLF001 - PySpark has no public way
    stranger = classes.SparkConf(False)
    settings = getattr(getattr(classes.internal.config, "package$"), "MODULE$")
    no_key = session._jvm.scala.Option.empty()  # noqa: SLF001
    security = classes.SecurityManager(stranger, no_key, settings.AUTH_SECRET_FILE())
    rpc = classes.rpc.RpcEnv.create("stranger", "127.0.0.1", 0, stranger, security, True)
    driver = classes.rpc.RpcAddress("127.0.0.1", int(spark.conf.get("spark.driver.port") or 0))

    try:
        with pytest.raises(Py4JJavaError, match="Exception thrown in awaitResult"):
            rpc.setupEndpointRef(driver, "HeartbeatReceiver")
    finally:
        rpc.shutdown()


def test_snapshots_of_rocksdb_come_and_go_without_checksums(
    spark: SparkSession, tmp_path: Path
) -> None:
    """Spark copies RocksDB's files into the checkpoint, and out of it, by these calls."""
    for folder in ("rocksdb", "checkpoint", "restored"):
        (tmp_path / folder).mkdir()
    (tmp_path / "rocksdb" / "000008.sst").write_text("a group")
    session: Any = spark
    path = session._jvm.org.apache.hadoop.fs.Path  # noqa: SLF001 - PySpark has no public way
    files = path(f"file:{tmp_path}").getFileSystem(session._jsc.hadoopConfiguration())  # noqa: SLF001

    files.copyFromLocalFile(
        path(f"file:{tmp_path}/rocksdb/000008.sst"), path(f"{tmp_path}/checkpoint/8.sst")
    )
    files.copyToLocalFile(
        path(f"{tmp_path}/checkpoint/8.sst"), path(f"file:{tmp_path}/restored/000008.sst")
    )

    assert (tmp_path / "restored" / "000008.sst").read_text() == "a group"
    assert [file.name for file in (tmp_path / "checkpoint").iterdir()] == ["8.sst"]


PROGRAM = """
import sys
from group_coordinator import settings
from group_coordinator.local.jars import spark_jars
from group_coordinator.local.folders import scratch_folder
from group_coordinator.streaming.session import local_session, submitted_session

job = settings.load().job
with scratch_folder() as scratch:
    made = sys.argv[1] == "local" and local_session(job, spark_jars(), scratch)
    spark = made or submitted_session(job)
    spark.sparkContext.parallelize([1], 1).map(lambda one: one + 1).collect()
    spark.stop()
"""
NEWER = """
import pyspark
pyspark.__version__ = "4.3.0"
from group_coordinator.cli.submitted import main
main()
"""
SUBMITTED = {"PYSPARK_SUBMIT_ARGS": "--master local[1] --conf spark.sql.extensions= pyspark-shell"}


@pytest.mark.parametrize("session", ["local", "submitted"])
def test_workers_do_not_import_modules_of_the_current_folder(tmp_path: Path, session: str) -> None:
    planted = tmp_path / "select.py"
    planted.write_text("open(__file__ + '.ran', 'w')")

    done = subprocess.run(  # noqa: S603 - a fixed program
        [sys.executable, "-P", "-c", PROGRAM, session],
        cwd=tmp_path,
        env={**os.environ, **SUBMITTED} if session == "submitted" else None,
        stderr=subprocess.PIPE,
        text=True,
        check=False,
    )

    assert [file.name for file in tmp_path.glob("select.py*")] == ["select.py"]
    assert done.returncode == 0, done.stderr


def test_a_newer_spark_without_its_jars_is_refused(tmp_path: Path) -> None:
    done = subprocess.run(  # noqa: S603 - a fixed program
        [sys.executable, "-P", "-c", NEWER, "compact", "--drain", "--set=tables.root=main.groups"],
        cwd=tmp_path,
        env={**os.environ, **SUBMITTED},
        stderr=subprocess.PIPE,
        text=True,
        check=False,
    )

    assert done.returncode == 1
    assert "Exception" not in done.stderr
    assert done.stderr.splitlines()[-1] == (
        "Error: PySpark 4.3.0 is newer than 4.2, the newest that the job is tested with, and it has no Kafka "
        "connector (spark-sql-kafka-0-10) and no Delta (delta-spark): submit the job with the jars of this "
        "version (jobs/README.md), or use PySpark 4.2"
    )


def test_a_newer_spark_with_its_jars_is_tried_after_a_warning(
    spark: SparkSession, caplog: pytest.LogCaptureFixture
) -> None:
    session: Any = spark

    warn_of_newer("4.3.0", session._jvm)  # noqa: SLF001 - PySpark has no public way
    warn_of_newer(spark.version, session._jvm)  # noqa: SLF001

    [warning] = caplog.messages
    assert warning == (
        "PySpark 4.3.0 is newer than 4.2, the newest that the job is tested with: the job starts, but its "
        "state, checkpoints and tables are not tested"
    )
