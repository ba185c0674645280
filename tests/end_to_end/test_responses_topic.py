from __future__ import annotations

import pytest
from kafka import KafkaAdminClient
from kafka.admin import ConfigResource, ConfigResourceType

from tests.end_to_end.commits import Commits, await_logged
from tests.end_to_end.installation import Installation
from tests.end_to_end.test_disk_faults import assert_nothing_is_lost
from tests.support.job_process import JobProcess

pytestmark = [pytest.mark.spark, pytest.mark.kafka]


def alter(installation: Installation, max_message_bytes: int) -> None:
    topic = installation.settings.job.responses_topic
    configs = {"max.message.bytes": str(max_message_bytes)}
    admin = KafkaAdminClient(bootstrap_servers=installation.bootstrap_servers)
    admin.alter_configs([ConfigResource(ConfigResourceType.TOPIC, topic, configs)])
    admin.close()


def test_a_topic_that_takes_no_response_ends_the_run(installation: Installation) -> None:
    run = ["run", *installation.options]
    with JobProcess(run, installation.folder) as job, Commits(installation):
        await_logged(installation, 20, job)
        alter(installation, 100)
        assert job.wait(120) == 1, job.log
    assert job.log.splitlines()[-1] == (
        "Error: topic responses-responses_topic: max.message.bytes = 100, but responses need 16842752: alter the topic, or set "
        "response.max.bytes lower"
    )

    alter(installation, 16_842_752)
    assert_nothing_is_lost(installation)
