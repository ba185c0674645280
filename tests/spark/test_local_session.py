from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from pyspark.sql import SparkSession

pytestmark = pytest.mark.spark


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
