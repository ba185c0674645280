"""What is said of a topic with which the job may not do all that it must."""

from __future__ import annotations

import pytest

from group_coordinator.job.refusals import JobRefusedError
from group_coordinator.job.rights_check import ON_EVENTS, ON_RESPONSES, check_topic_rights


def test_every_operation_that_is_missing_is_named() -> None:
    with pytest.raises(JobRefusedError) as refused:
        check_topic_rights("group-events", ON_EVENTS, {"DESCRIBE", "DESCRIBE_CONFIGS", "ALTER"})

    assert str(refused.value) == (
        "topic group-events: the job's user may not READ or WRITE: give it those ACLs on the topic"
    )


def test_answers_need_not_be_read() -> None:
    check_topic_rights("group-responses", ON_RESPONSES, {"WRITE", "DESCRIBE", "DESCRIBE_CONFIGS"})

    with pytest.raises(JobRefusedError, match=r"may not WRITE: give it that ACL on the topic$"):
        check_topic_rights("group-responses", ON_RESPONSES, {"DESCRIBE", "DESCRIBE_CONFIGS"})
