"""What a killed run leaves in the temporary folder, the next one removes; one that ends leaves nothing."""

from __future__ import annotations

import pytest
from kafka import TopicPartition

from tests.end_to_end.installation import Installation
from tests.support.job_process import JobProcess

pytestmark = [pytest.mark.spark, pytest.mark.kafka]


def test_the_temporary_folder_is_empty_in_the_end(installation: Installation) -> None:
    temporary = installation.folder / "temporary"
    temporary.mkdir()
    variables = {"TMPDIR": str(temporary)}
    options, folder = installation.options, installation.folder
    run = JobProcess(["run", *options], folder, variables=variables)
    with run as killed, installation.admin() as admin:
        admin.alter_consumer_group_offsets("billing", {TopicPartition("orders", 0): 42}).all()
        killed.kill()

    scratch, lock = sorted(temporary.iterdir())
    assert lock == scratch.with_suffix(".lock")
    assert any(entry.name.startswith("blockmgr-") for entry in scratch.iterdir())
    assert any("rocksdb" in entry.name for entry in scratch.iterdir())

    with JobProcess(["run", "--drain", *options], folder, variables=variables) as job:
        assert job.wait(300) == 0, job.log

    assert list(temporary.iterdir()) == []
