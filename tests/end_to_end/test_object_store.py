"""Tables and checkpoint on S3, as users of the command have them: a real server of S3, and no disk that runs share."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import cast

import pytest
from click.testing import CliRunner
from deltalake import DeltaTable
from pyspark.sql import SparkSession
from pyspark.sql.streaming.query import StreamingQuery

from group_coordinator.cli.main import main
from group_coordinator.clients.sql_tables import rows
from group_coordinator.driver.tasks import monitors
from group_coordinator.driver.tasks.monitors import OwnerMonitor
from group_coordinator.local.broker import EmbeddedBroker
from group_coordinator.tables.catalog import TableCatalog
from group_coordinator.tables.claims import WRITERS, Claim, write_claim
from group_coordinator.tables.group_labels import GROUP_LABELS
from group_coordinator.tables.state_tables import GROUPS
from group_coordinator.tables.writer import NotTheWriterError, Writer
from tests.end_to_end.commits import Commits, await_logged, logged
from tests.end_to_end.installation import SETTINGS, Installation
from tests.faults.judgement import judged
from tests.support.go_programs import GoMissingError
from tests.support.job_process import ROOT, JobProcess
from tests.support.object_store import BUCKET
from tests.support.stores import S3, s3
from tests.support.until import until

pytestmark = [pytest.mark.spark, pytest.mark.kafka]

START_S = 400
MORE = 60


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory) -> Iterator[S3]:
    folder = tmp_path_factory.mktemp("store")
    try:
        with s3(folder) as opened:
            yield opened
    except GoMissingError as missing:
        pytest.skip(str(missing))


@pytest.mark.nightly
def test_nothing_is_lost_by_a_kill_and_by_two_drivers_at_once(
    store: S3, broker: EmbeddedBroker, tmp_path_factory: pytest.TempPathFactory
) -> None:
    folder = tmp_path_factory.mktemp("on-s3")
    settings = (*SETTINGS, *store.settings(folder))
    installation = Installation.named(
        "object-store", broker.bootstrap_servers, folder, settings, store
    )
    run = ["run", "--with-compaction", *installation.options]
    with JobProcess(["init", *installation.options], folder) as init:
        assert init.wait(START_S) == 0, init.log

    with Commits(installation):
        with JobProcess(run, folder) as killed:
            await_logged(installation, MORE, killed)
        with JobProcess(run, folder) as one, JobProcess(run, folder) as other:
            until(
                lambda: not (one.is_alive and other.is_alive),
                seconds=START_S,
                awaited="the end of one of two drivers",
            )
            left = one if one.is_alive else other
            await_logged(installation, logged(installation) + MORE, left)
            assert left.stop() == 0, left.log
    with JobProcess([*run, "--drain"], folder) as last:
        assert last.wait(START_S) == 0, last.log

    result = judged("two drivers on S3", installation, 4)
    assert (result.problems, result.lost, result.doubled) == ([], 0, 0)
    assert "maintenance of table" not in last.log
    [told] = [line for line in last.log.splitlines() if line.startswith("Error: ")]
    assert "another run works on this checkpoint" in told


def test_a_claim_of_another_is_seen_by_a_look_of_two_requests(
    store: S3, monkeypatch: pytest.MonkeyPatch
) -> None:
    clock = SimpleNamespace(now_s=0.0, monotonic=lambda: clock.now_s)
    monkeypatch.setattr(monitors, "time", clock)
    no_spark = cast("SparkSession", None)
    query = cast("StreamingQuery", None)
    catalog = TableCatalog(f"s3a://{BUCKET}/claims")
    DeltaTable.create(catalog.location(WRITERS.name), WRITERS.no_rows().schema)
    write_claim(no_spark, catalog, Claim("default", 1, "ours", "s3a://a", "events", "0.3.0"))
    watch = OwnerMonitor(no_spark, Writer(catalog, "default", epoch=1))
    for clock.now_s in (60.0, 120.0):
        store.store.requests()
        watch.look(query)
    assert [(request.operation, request.key) for request in store.store.requests()] == [
        ("ListObjectsV2", "claims/writers/_delta_log/"),
        ("GetObject", "claims/writers/_delta_log/_last_checkpoint"),
    ]

    write_claim(no_spark, catalog, Claim("default", 2, "theirs", "s3a://b", "events", "0.3.0"))
    clock.now_s = 180.0
    with pytest.raises(NotTheWriterError, match="checkpoint s3a://b has taken over"):
        watch.look(query)


@pytest.mark.usefixtures("store")
def test_labels_replace_those_of_the_cluster_and_are_read_from_the_store(tmp_path: Path) -> None:
    root = f"s3a://{BUCKET}/labels"
    for table in (GROUP_LABELS, GROUPS):
        DeltaTable.create(f"{root}/{table.name}", table.no_rows().schema)
    file = tmp_path / "labels.csv"
    for text in ("pattern,owner\n*,platform\n", "pattern,owner\npayments-*,payments\n"):
        file.write_text(text, encoding="utf-8")
        ended = CliRunner().invoke(main, ["labels", "--input", str(file), "--tables", root])
        assert ended.output == "cluster default: 1 patterns in group_labels\n"

    asked = rows(root, "SELECT cluster_id, pattern, owner FROM group_labels")
    assert asked == [{"cluster_id": "default", "pattern": "payments-*", "owner": "payments"}]


@pytest.mark.usefixtures("store")
def test_a_batch_is_appended_by_two_puts() -> None:
    tests = ROOT / "tests" / "spark" / "appends_by_put.py"
    command = [sys.executable, "-m", "pytest", "-q", "-m", "", str(tests)]
    # It has a store of its own, and Spark would take this one's address from the environment.
    variables = {key: value for key, value in os.environ.items() if not key.startswith("AWS_")}
    ended = subprocess.run(  # noqa: S603 - a fixed program
        command, cwd=ROOT, env=variables, capture_output=True, text=True, check=False
    )
    assert ended.returncode == 0, ended.stdout
    assert "4 passed" in ended.stdout


@pytest.mark.usefixtures("store")
@pytest.mark.parametrize(
    ("changed", "said"),
    [
        ({}, "NoSuchBucketException: The specified bucket does not exist"),
        pytest.param(
            {"AWS_SECRET_ACCESS_KEY": "another"}, "check the key", marks=pytest.mark.nightly
        ),
    ],
)
def test_a_store_that_is_wrong_is_told_in_one_sentence(
    tmp_path_factory: pytest.TempPathFactory, changed: dict[str, str], said: str
) -> None:
    folder = tmp_path_factory.mktemp("wrong")
    root = "tables.root=s3a://nobodys/tables"
    with JobProcess(["compact", "--drain", "--set", root], folder, variables=changed) as job:
        assert job.wait(START_S) == 1
    [line] = [line for line in job.log.splitlines() if line.startswith("Error: ")]
    assert said in line
