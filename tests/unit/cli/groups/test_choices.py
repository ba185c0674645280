"""What kafka-consumer-groups does not have: groups by a pattern, only what is behind, documents for programs."""

from __future__ import annotations

import json

import pytest
import yaml
from kafka import TopicPartition

from group_coordinator.clients.admin.client import AdminClient
from tests.unit.cli.groups.conftest import BILLING, Run

NUMBERED = "'console-consumer-[0-9]+'"


@pytest.fixture(autouse=True)
def committed(admin: AdminClient) -> None:
    admin.alter_consumer_group_offsets("billing", BILLING).all()
    admin.alter_consumer_group_offsets("archive", {TopicPartition("orders", 1): 60}).all()
    admin.alter_consumer_group_offsets("console-consumer-1", {TopicPartition("gone", 0): 1}).all()


def test_groups_by_a_pattern(run: Run) -> None:
    assert run(f"--list --regex {NUMBERED}").out == "console-consumer-1\nconsole-consumer-2\n"
    assert run("--list --regex consumer").out == ""


def test_what_a_pattern_finds_is_deleted(run: Run, admin: AdminClient) -> None:
    said = run(f"--delete --regex {NUMBERED}")

    assert said.status == 1
    assert said.out == ("\nThese consumer groups were deleted successfully: 'console-consumer-1'\n")
    assert "* Group 'console-consumer-2' could not be deleted due to:" in said.err
    assert admin.list_consumer_group_offsets("billing")


def test_a_pattern_that_is_none(run: Run) -> None:
    said = run("--describe --regex '[a-'")

    assert said.status == 2
    assert "Error: The regular expression `[a-` is invalid: missing closing ]." in said.err


def test_only_what_is_behind(run: Run) -> None:
    said = run("--describe --all-groups --only-with-lag -o json")

    lags = {
        (row["group"], row["topic"], row["partition"]): row["lag"] for row in json.loads(said.out)
    }
    assert lags == {("billing", "orders", 0): 10}
    assert "archive" not in said.err


def test_an_offset_below_0_is_a_row_without_an_offset(run: Run, admin: AdminClient) -> None:
    """kafkajs resets to -1 and -2; the AdminClient of Kafka's tool has null for them."""
    left = {TopicPartition("orders", 0): -1, TopicPartition("orders", 1): -2}
    admin.alter_consumer_group_offsets("left", left).all()

    said = run("--describe --group left -o json")

    rows = json.loads(said.out)
    columns = ("partition", "current_offset", "log_end_offset", "lag")
    assert [tuple(row[column] for column in columns) for row in rows] == [
        (0, None, 50, None),
        (1, None, 60, None),
    ]


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        (
            "--list --regex billing",
            [{"group": "billing"}],
        ),
        (
            "--list --regex billing --state --type",
            [{"group": "billing", "type": "Classic", "state": "Empty"}],
        ),
        (
            "--describe --group archive --verbose",
            [
                {
                    "group": "archive",
                    "topic": "orders",
                    "partition": 1,
                    "leader_epoch": None,
                    "current_offset": 60,
                    "log_end_offset": 60,
                    "lag": 0,
                    "consumer_id": None,
                    "host": None,
                    "client_id": None,
                }
            ],
        ),
        (
            "--describe --group archive --state",
            [
                {
                    "group": "archive",
                    "coordinator": {"host": "kafka-1", "port": 9092, "id": 1},
                    "assignment_strategy": None,
                    "state": "Empty",
                    "member_count": 0,
                }
            ],
        ),
        ("--describe --group archive --members --verbose", []),
        (
            "--delete --group archive --group nobody",
            [
                {"group": "archive", "error": None},
                {
                    "group": "nobody",
                    "error": "org.apache.kafka.common.errors.GroupIdNotFoundException: The group id does not exist.",
                },
            ],
        ),
        (
            "--delete-offsets --group archive --topic orders:1",
            [{"topic": "orders", "partition": 1, "error": None}],
        ),
    ],
)
def test_documents(run: Run, line: str, expected: object) -> None:
    as_yaml = "--delete" not in line and run(f"{line} -o yaml")
    said = run(f"{line} -o json")

    assert json.loads(said.out) == expected
    assert not as_yaml or yaml.safe_load(as_yaml.out) == expected
