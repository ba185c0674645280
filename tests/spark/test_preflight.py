"""What a run would trip over, found out before one begins, and what of it stays behind: nothing."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest
from click.testing import CliRunner
from kafka import KafkaAdminClient
from kafka.admin import ConfigResource, ConfigResourceType, NewPartitions
from pyspark.sql import SparkSession

from group_coordinator.cli import check
from group_coordinator.cli import check as check_options
from group_coordinator.clients.cluster.connection import Connection
from group_coordinator.clients.cluster.coordinator_topics import create_topics
from group_coordinator.driver.checks.preflight import CheckResult, preflight
from group_coordinator.local.broker import EmbeddedBroker
from group_coordinator.settings import JobSettings, Settings
from group_coordinator.streaming.checkpoint.layout import coordinator_folder
from group_coordinator.streaming.checkpoint.ownership import checked_writer
from group_coordinator.tables.creation import create_tables

pytestmark = [pytest.mark.spark, pytest.mark.kafka]


@pytest.fixture
def ready(
    spark: SparkSession,
    broker: EmbeddedBroker,
    configured: Settings,
    request: pytest.FixtureRequest,
) -> Settings:
    """Topics and tables, as `init` makes them."""
    name = request.node.name.replace("_", "-")
    job = replace(
        configured.job,
        bootstrap_servers=broker.bootstrap_servers,
        events_topic=f"events-{name}",
        responses_topic=f"responses-{name}",
        # The broker's own clock stamps, and it is this machine's.
        timer_slack_ms=1_000,
    )
    create_topics(Connection.of(job), job)
    create_tables(job.tables_root, lambda: spark)
    return Settings(configured.coordinator, job)


def found(spark: SparkSession, settings: Settings) -> dict[str, CheckResult]:
    return {finding.subject: finding for finding in preflight(settings, lambda: spark)}


def wrong(spark: SparkSession, settings: Settings) -> dict[str, str]:
    findings = found(spark, settings).values()
    return {finding.subject: finding.text for finding in findings if not finding.is_right}


def test_what_is_ready_is_right_and_stays_as_it_is(spark: SparkSession, ready: Settings) -> None:
    job = ready.job

    for _ in range(2):
        findings = found(spark, ready)
        assert {subject for subject, finding in findings.items() if finding.is_right} == {
            *("topics", "clock", "rate limit", "ACLs", "Kafka from tasks", "workers", "storage"),
            *("rights", "rights on tables"),
            *("tables", "checkpoint", "state partitions", "events partitions"),
        }

    assert findings["topics"].text == (
        f"{job.events_topic} has 4 partitions, {job.responses_topic} has 8 partitions"
    )
    assert findings["rights"].text == (
        f"READ on TOPIC {job.events_topic}, WRITE on TOPIC {job.events_topic}, DESCRIBE_CONFIGS on TOPIC {job.events_topic}, "
        f"WRITE on TOPIC {job.responses_topic}, DESCRIBE_CONFIGS on TOPIC {job.responses_topic}, DESCRIBE on TOPIC *, "
        "READ on TOPIC __consumer_offsets, DESCRIBE on GROUP group-coordinator"
    )
    assert findings["rights on tables"].text == "every table accepts files"
    assert list(Path(job.tables_root).rglob(".probe*")) == []
    assert findings["Kafka from tasks"].text == "tasks have read 4 events"
    assert findings["checkpoint"].text == "a new one for cluster.id = default"
    assert findings["state partitions"].text == "2"
    assert findings["events partitions"].text == "4, none read yet"
    assert list(Path(job.checkpoint_location, "coordinator").iterdir()) == []

    checked_writer(spark, job, lambda: None)
    plan_batch(spark, job, partitions=4)
    with Connection.of(job).opened(KafkaAdminClient) as admin:
        admin.create_partitions({job.events_topic: NewPartitions(6)})
        admin.wait_for_topics([job.events_topic])
    findings = found(spark, ready)
    assert findings["checkpoint"].text == "epoch 1"
    assert findings["events partitions"].text.startswith(
        f"events.topic = {job.events_topic} has 6 partitions instead of the 4 of the last run: "
    )
    assert [subject for subject, finding in findings.items() if not finding.is_right] == [
        "events partitions"
    ]


def plan_batch(spark: SparkSession, job: JobSettings, partitions: int) -> None:
    """As Spark writes it down; the batch is done."""
    folder = coordinator_folder(spark, job)
    ends = {job.events_topic: dict.fromkeys(map(str, range(partitions)), 1)}
    lines = ("v1", '{"batchTimestampMs": 1}', json.dumps(ends))
    folder.write("offsets/0", "\n".join(lines))
    folder.write("commits/0", 'v1\n{"nextBatchWatermarkMs":0}')


def test_a_topic_that_is_missing_is_not_made_by_looking(
    spark: SparkSession, ready: Settings
) -> None:
    elsewhere = replace(ready.job, events_topic="events-missing")

    assert wrong(spark, replace(ready, job=elsewhere)) == {
        "topics": f"topic events-missing missing at {elsewhere.bootstrap_servers}: run `group-coordinator init` first, "
        "or give the job's user the ACL DESCRIBE"
    }
    assert "clock" not in found(spark, replace(ready, job=elsewhere))


def test_everything_that_is_wrong_is_said_at_once(
    spark: SparkSession, ready: Settings, tmp_path: Path
) -> None:
    stamped_by_clients(ready.job)
    (tmp_path / "a-file").touch()
    places = {
        "tables_root": f"{tmp_path}/nothing",
        "checkpoint_location": f"{tmp_path}/a-file/checkpoint",
    }

    problems = wrong(spark, replace(ready, job=replace(ready.job, **places)))

    assert set(problems) == {"topics", "storage", "tables"}
    assert "message.timestamp.type = CreateTime" in problems["topics"]
    assert problems["storage"].startswith(
        f"checkpoint.location = {tmp_path}/a-file/checkpoint cannot be written: "
    )
    assert problems["tables"] == (
        f"tables.root = {tmp_path}/nothing: coordinator_log, groups, members, offsets, group_configs, dead_letters, "
        "denials, writers, snapshots, topic_positions, topic_ids missing; set the tables.root that has them, or run "
        "`group-coordinator init` with the same settings first, on a cluster jobs/create_tables.py"
    )


def test_a_cluster_without_rules_is_none_to_go_by(spark: SparkSession, ready: Settings) -> None:
    problems = wrong(spark, replace(ready, job=replace(ready.job, acls_source="cluster")))

    assert problems == {
        "ACLs": "acls.source = cluster: the cluster has no authorizer (authorizer.class.name), and so no ACLs: set "
        "acls.source = file, or none"
    }


def test_rules_of_a_file_do_not_hold_where_brokers_have_no_authorizer(
    spark: SparkSession, ready: Settings, tmp_path: Path
) -> None:
    rules = tmp_path / "acls.json"
    rules.write_text('{"acls": []}')
    by_file = replace(ready.job, acls_source="file", acls_file=str(rules))

    assert wrong(spark, replace(ready, job=by_file)) == {
        "authorizer": "acls.source = file, but the brokers have no authorizer: every client that can connect may write to "
        f"{by_file.events_topic} as any user, past all ACLs: set authorizer.class.name at the brokers, or let only the job "
        "and the gateway connect"
    }


def stamped_by_clients(job: JobSettings) -> None:
    resource = ConfigResource(
        ConfigResourceType.TOPIC, job.events_topic, {"message.timestamp.type": "CreateTime"}
    )
    with Connection.of(job).opened(KafkaAdminClient) as admin:
        admin.alter_configs([resource])


@pytest.mark.parametrize(
    ("finding", "verdict", "status"),
    [
        (CheckResult("state partitions", is_right=True, text="2"), "right", 0),
        (CheckResult("state partitions", is_right=False, text="2"), "WRONG", 1),
        (CheckResult("state partitions", is_right=False, text="2", is_needed=False), "less ", 0),
    ],
)
def test_the_command_prints_a_line_each_and_fails_if_one_is_wrong(
    monkeypatch: pytest.MonkeyPatch, finding: CheckResult, verdict: str, status: int
) -> None:
    def findings(*_: object) -> Iterator[CheckResult]:
        yield CheckResult("topics", is_right=True, text="two")
        yield finding

    monkeypatch.setattr(check_options, "preflight", findings)

    said = CliRunner().invoke(check.command)

    assert said.stdout == f"right  topics             two\n{verdict}  state partitions   2\n"
    assert said.exit_code == status
