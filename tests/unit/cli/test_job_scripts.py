"""The scripts for spark-submit refuse as the commands do."""

from __future__ import annotations

import runpy
from pathlib import Path

import pytest
from click.testing import CliRunner

JOBS = Path(__file__).parents[3] / "jobs"


@pytest.mark.parametrize("script", ["run_coordinator.py", "rebuild_checkpoint.py"])
def test_a_refusal_is_one_sentence_and_status_1(script: str) -> None:
    main = runpy.run_path(str(JOBS / script))["main"]

    refused = CliRunner().invoke(main, ["--bootstrap-server", "127.0.0.1:1"])

    assert refused.exit_code == 1
    assert refused.stderr.startswith("Error: no Kafka broker answers (127.0.0.1:1: ")
