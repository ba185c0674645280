from __future__ import annotations

import pytest

from group_coordinator import settings
from group_coordinator.cli.query_failures import outage, sentence

JOB = settings.load(overrides=["tables.root=/data/tables", "checkpoint.location=/data/state"]).job
TIMEOUT = "org.apache.kafka.common.errors.TimeoutException: Topic group-responses not present in metadata after 60000 ms."


@pytest.mark.parametrize(
    ("text", "told"),
    [
        (
            (
                "Job aborted.\nCaused by: org.apache.kafka.common.errors.TopicAuthorizationException: "
                "Not authorized to access topics: [group-responses]\n\tat ..."
            ),
            (
                "Kafka at localhost:9092 refuses user ANONYMOUS: "
                "Not authorized to access topics: [group-responses]"
            ),
        ),
        (
            (
                "OSError: Generic LocalFileSystem error: /data/tables/coordinator_log/part-1: "
                "No space left on device (os error 28)"
            ),
            "tables.root = /data/tables cannot be written: No space left on device",
        ),
        (
            "java.io.IOException: Disk quota exceeded",
            (
                "tables.root = /data/tables or checkpoint.location = /data/state cannot be written: "
                "Disk quota exceeded"
            ),
        ),
        (
            f"Job aborted.\nCaused by: {TIMEOUT}\n\tat ...",
            f"Kafka at localhost:9092 does not answer: {TIMEOUT}",
        ),
        ("java.lang.IllegalStateException: a defect", None),
    ],
)
def test_what_a_user_can_mend_is_told(text: str, told: str | None) -> None:
    assert sentence(text, JOB) == told


def test_only_a_broker_that_does_not_answer_is_waited_for() -> None:
    assert outage(f"Job aborted.\nCaused by: {TIMEOUT}\n\tat ...") == TIMEOUT
    assert outage("java.io.IOException: No space left on device") is None
