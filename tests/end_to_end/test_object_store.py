"""Tables and checkpoint on S3, as users of the command have them: a real server of S3, and no disk that runs share."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from group_coordinator.local.broker import EmbeddedBroker
from tests.end_to_end.commits import Commits, await_logged, logged
from tests.end_to_end.installation import SETTINGS, Installation
from tests.faults.judgement import judged
from tests.support.job_process import JobProcess
from tests.support.object_store import GoMissingError
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
    [told] = [line for line in last.log.splitlines() if line.startswith("Error: ")]
    assert "another run works on this checkpoint" in told


@pytest.mark.usefixtures("store")
@pytest.mark.parametrize(
    ("changed", "said"),
    [
        ({}, "NoSuchBucketException: The specified bucket does not exist"),
        ({"AWS_SECRET_ACCESS_KEY": "another"}, "look at the key"),
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
