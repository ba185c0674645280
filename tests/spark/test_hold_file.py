from __future__ import annotations

from pathlib import Path

import pytest
from pyspark.sql import SparkSession

from group_coordinator.runtime.hold_windows import HoldWindow
from group_coordinator.streaming.hold_file import HoldFile

pytestmark = pytest.mark.spark


def test_there_is_always_the_old_file_or_the_new_one(spark: SparkSession, tmp_path: Path) -> None:
    checkpoint = tmp_path / "checkpoint" / "coordinator"
    file = HoldFile(spark, str(checkpoint))
    assert file.read() == ()

    file.write((HoldWindow(1_000, None),))
    file.write((HoldWindow(1_000, 2_000), HoldWindow(5_000, None)))

    assert HoldFile(spark, str(checkpoint)).read() == (
        HoldWindow(1_000, 2_000),
        HoldWindow(5_000, None),
    )
    folder = checkpoint / "hold_windows"
    assert [entry.name for entry in folder.iterdir() if not entry.name.startswith(".")] == ["1"]


def test_a_file_that_was_not_finished_does_not_count(spark: SparkSession, tmp_path: Path) -> None:
    file = HoldFile(spark, str(tmp_path))
    file.write((HoldWindow(1_000, None),))
    (tmp_path / "hold_windows" / ".1.a-temporary-file.tmp").write_text("[{")

    assert file.read() == (HoldWindow(1_000, None),)
