from __future__ import annotations

import json
import logging
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from group_coordinator.driver.tasks.monitors import ProgressReport


def query_with(**progress: Any) -> Any:
    return SimpleNamespace(lastProgress=SimpleNamespace(**progress))


def test_the_pause_of_an_idle_job_is_no_time_of_its_batch(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    pauses = {7: 20_000}
    report = ProgressReport(tmp_path / "progress", lambda batch_id: pauses.get(batch_id, 0))
    query = query_with(
        batchId=7,
        numInputRows=4,
        stateOperators=[SimpleNamespace(numRowsTotal=1)],
        batchDuration=21_522,
        timestamp="2026-11-29T10:00:00.000Z",
    )

    with caplog.at_level(logging.INFO):
        report.look(query)

    assert caplog.messages == ["batch 7: 4 events, 1 groups, 1522 ms"]
    assert json.loads((tmp_path / "progress").read_text())["batch_ms"] == 1_522
