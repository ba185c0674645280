"""The job tells consumer groups of the cluster's topics, and goes on after a restart."""

from __future__ import annotations

import json
import shutil
from contextlib import closing
from dataclasses import replace
from itertools import count
from typing import Any

import pytest
from kafka import KafkaAdminClient, KafkaProducer
from kafka.admin import NewPartitions, NewTopic

from tests.end_to_end.installation import Installation, Row
from tests.support.job_process import JobProcess

pytestmark = [pytest.mark.spark, pytest.mark.kafka]

DEADLINE_S = 300
COORDINATOR_LOAD_IN_PROGRESS = 14
GROWING, STEADY = "orders-that-grow", "refunds-that-stay"
PATIENT = (
    "group.consumer.session.timeout.ms=600000",
    "group.consumer.max.session.timeout.ms=600000",
)
"""The member is silent while the job starts."""
MEMBERS = "SELECT member_id, assigned_partitions FROM members WHERE group_id = 'g'"
REBUILT = {"groupId": "rebuilt"}
WISHES = {**REBUILT, "rebalanceTimeoutMs": 60_000, "subscribedTopicNames": [STEADY]}
_numbers = count(1)


def heartbeat(installation: Installation, job: JobProcess, epoch: int, **body: object) -> Row:
    """Send a heartbeat of member m, in group g by default, and wait for its answer, which is no error."""
    body_told = answer_to_heartbeat(installation, job, epoch, **body)
    assert body_told["errorCode"] == 0, body_told
    return body_told


def answer_to_heartbeat(
    installation: Installation, job: JobProcess, epoch: int, **body: object
) -> Row:
    correlation_id = f"c-{next(_numbers)}"
    event: Row = {
        "api": "ConsumerGroupHeartbeat",
        "version": 1,
        "correlationId": correlation_id,
        "body": {"groupId": "g", "memberId": "m", "memberEpoch": epoch, **body},
    }
    with closing(KafkaProducer(bootstrap_servers=installation.bootstrap_servers)) as producer:
        key = str(event["body"]["groupId"]).encode()
        topic = installation.settings.job.events_topic
        producer.send(topic, key=key, value=json.dumps(event).encode()).get(30)

    def answer() -> Row | None:
        for values in installation.answers().values():
            told: Row = json.loads(values[0])
            if told["correlationId"] == correlation_id:
                return told
        return None

    told = job.until(answer, seconds=DEADLINE_S, awaited="an answer")
    assert told is not None
    body_told: Row = told["body"]
    return body_told


def assigned(
    installation: Installation, job: JobProcess, epoch: int, **body: object
) -> tuple[int, Any]:
    """Heartbeats until the member gets a new assignment; its epoch then, and the assignment."""

    def partitions() -> list[Row]:
        nonlocal epoch
        answer = heartbeat(installation, job, epoch, **body)
        epoch = answer["memberEpoch"]
        found: list[Row] = (answer["assignment"] or {}).get("topicPartitions", [])
        return found

    given = job.until(partitions, seconds=DEADLINE_S, awaited="an assignment", poll_s=0)
    return epoch, given


def test_groups_follow_their_topics_over_a_restart_and_a_rebuild(
    installation: Installation,
) -> None:
    installation = replace(installation, overrides=(*installation.overrides, *PATIENT))
    with closing(KafkaAdminClient(bootstrap_servers=installation.bootstrap_servers)) as admin:
        grows, stays = first_life(installation, admin)
        after_a_restart(installation, admin, *grows)
    shutil.rmtree(installation.folder / installation.settings.job.checkpoint_location)
    with JobProcess(["rebuild", *installation.options], installation.folder) as rebuild:
        assert rebuild.wait(DEADLINE_S) == 0, rebuild.log
    after_a_rebuild(installation, *stays)


def started(installation: Installation) -> JobProcess:
    return JobProcess(["run", "--with-compaction", *installation.options], installation.folder)


def first_life(
    installation: Installation, admin: KafkaAdminClient
) -> tuple[tuple[int, Row], tuple[int, Any]]:
    """A topic is made before the job starts, and one while it runs; epochs and assignments of those who want them."""
    admin.create_topics([NewTopic(STEADY, 2, 1)], wait_for_metadata=True)
    joins = {"rebalanceTimeoutMs": 60_000, "subscribedTopicNames": [GROWING]}
    with started(installation) as job:
        joined = heartbeat(installation, job, 0, **WISHES, topicPartitions=[])
        stays = assigned(installation, job, joined["memberEpoch"], **REBUILT)
        admin.create_topics([NewTopic(GROWING, 2, 1)], wait_for_metadata=True)
        joined = heartbeat(installation, job, 0, **joins, topicPartitions=[])
        epoch, [orders] = assigned(installation, job, joined["memberEpoch"])
        assert orders["partitions"] == [0, 1]
        shown = [{"topic": GROWING, "partition": 0}, {"topic": GROWING, "partition": 1}]
        wanted = [{"member_id": "m", "assigned_partitions": shown}]
        job.until(
            lambda: installation.rows(MEMBERS) == wanted, seconds=DEADLINE_S, awaited=f"{wanted}"
        )
        assert job.stop() == 0, job.log
    return (epoch, orders), stays


def after_a_restart(
    installation: Installation, admin: KafkaAdminClient, epoch: int, orders: Row
) -> None:
    with started(installation) as job:
        admin.create_partitions({GROWING: NewPartitions(3)})
        _, [grown] = assigned(installation, job, epoch)
        assert grown == {"topicId": orders["topicId"], "partitions": [0, 1, 2]}
        assert job.stop() == 0, job.log


def after_a_rebuild(installation: Installation, epoch: int, refunds: Any) -> None:
    """The group hears of its topics again, and its member keeps its partitions."""
    with started(installation) as job:
        answer: Row = {"errorCode": COORDINATOR_LOAD_IN_PROGRESS}
        while answer["errorCode"] == COORDINATOR_LOAD_IN_PROGRESS:
            answer = answer_to_heartbeat(
                installation, job, epoch, **WISHES, topicPartitions=refunds
            )
        assert (answer["errorCode"], answer["memberEpoch"]) == (0, epoch)
        assert answer["assignment"] == {"topicPartitions": refunds}
        assert job.stop() == 0, job.log
