from __future__ import annotations

import json
from pathlib import Path

import pytest
from kafka import TopicPartition

from group_coordinator.cli.groups.reset import DRY_RUN
from group_coordinator.clients.admin.client import AdminClient
from group_coordinator.clients.sql_tables import query
from tests.support.group_history import tables_of
from tests.unit.cli.conftest import ORDERS_0, ORDERS_1, REFUNDS_0
from tests.unit.cli.groups.brokers_in_process import BrokersInProcess
from tests.unit.cli.groups.conftest import BILLING, Run
from tests.unit.clients.billing import new_member
from tests.unit.clients.coordinator_in_process import CoordinatorInProcess


@pytest.fixture(autouse=True)
def committed(admin: AdminClient) -> None:
    admin.alter_consumer_group_offsets("billing", BILLING).all()


def offsets(admin: AdminClient, group: str = "billing") -> dict[TopicPartition, int]:
    found = admin.list_consumer_group_offsets(group)
    return {partition: committed.offset for partition, committed in found.items()}


def test_without_execute_nothing_changes(run: Run, admin: AdminClient) -> None:
    said = run("--reset-offsets --group billing --topic orders --to-earliest")

    assert said == (
        0,
        """
GROUP           TOPIC           PARTITION  NEW-OFFSET
billing         orders          0          10
billing         orders          1          0
""",
        f"{DRY_RUN}\n",
    )
    assert offsets(admin) == BILLING


def test_audit_tells_what_was_before_and_after_and_who_did_it(
    run: Run, coordinator: CoordinatorInProcess, tmp_path: Path
) -> None:
    coordinator.principal = "User:admin"
    coordinator.sleep(1_000)

    assert run("--reset-offsets --group billing --topic orders:0 --to-latest --execute").status == 0

    audit = "SELECT topic, `partition`, `before`, `after`, change, principal FROM audit"
    root = tables_of(tmp_path / "told", coordinator)
    assert query(str(root), audit).to_pylist() == [
        {
            "topic": "orders",
            "partition": 0,
            "before": 40,
            "after": 50,
            "change": "reset",
            "principal": "User:admin",
        }
    ]
    assert coordinator.rows[-1]["reason"] == "offset-reset"


def test_a_living_group_stays(
    run: Run, coordinator: CoordinatorInProcess, admin: AdminClient
) -> None:
    coordinator.tell_topics("billing", {"orders": ("b3JkZXJzb3JkZXJzb3JkZQ", 2)})
    new_member(coordinator, "reader").join()
    admin.alter_consumer_group_offsets("archive", {ORDERS_0: 20}).all()

    said = run("--reset-offsets --group billing --group archive --all-topics --to-latest --execute")

    assert said.status == 1
    assert said.err == (
        "\nError: Assignments can only be reset if the group 'billing' is inactive, but the current state is Stable.\n"
    )
    assert offsets(admin) == BILLING
    assert offsets(admin, "archive") == {ORDERS_0: 50}


def test_if_one_group_cannot_be_planned_none_is_reset(run: Run, admin: AdminClient) -> None:
    said = run(
        "--reset-offsets --group billing --group empty --topic orders --shift-by -1 --execute"
    )

    assert said == (
        1,
        "",
        "\nError: Cannot shift offset for partition orders-0 since there is no current committed offset\n",
    )
    assert offsets(admin) == BILLING


@pytest.mark.parametrize(
    ("choice", "expected"),
    [("", BILLING), ("--topic orders:1 --topic refunds", {ORDERS_1: 60})],
)
def test_offsets_of_another_group(
    run: Run, admin: AdminClient, choice: str, expected: dict[TopicPartition, int]
) -> None:
    said = run(f"--reset-offsets --group newcomer --to-group billing {choice} --execute")

    assert (said.status, said.err) == (0, "")
    assert offsets(admin, "newcomer") == expected


FAILED = "Executing consumer group command failed due to "


@pytest.mark.parametrize(
    ("line", "error"),
    [
        ("--to-group nobody", "Group nobody has no committed offsets of these topics."),
        (
            "--topic orders --topic order --topic refund --to-latest",
            f'{FAILED}The topics "order,refund" do not exist',
        ),
        (
            "--group= --topic orders --to-latest",
            f"{FAILED}org.apache.kafka.common.errors.InvalidGroupIdException: The group id is invalid. (group '')",
        ),
    ],
)
def test_what_cannot_be_planned_is_named(run: Run, line: str, error: str) -> None:
    said = run(f"--reset-offsets --group billing {line} --dry-run")

    assert (said.status, said.err) == (1, f"\nError: {error}\n")


@pytest.mark.parametrize(
    ("target", "out", "err"),
    [
        (
            "--to-offset 55",
            "orders,0,50\norders,1,55\n\n",
            "WARN New offset (55) is higher than latest offset for topic partition orders-0. Value will be set to 50\n",
        ),
        (
            "--topic refunds --to-datetime 1970-01-01T00:00:29.500",
            "orders,0,30\norders,1,30\nrefunds,0,5\n\n",
            "\nWarn: Partition 0 from topic refunds is empty. Falling back to latest known offset.\n",
        ),
        # Kafka's mark for the end of the log is -1.
        ("--to-datetime 1969-12-31T23:59:59.999", "orders,0,10\norders,1,0\n\n", ""),
    ],
)
def test_warnings_come_on_standard_error(run: Run, target: str, out: str, err: str) -> None:
    said = run(f"--reset-offsets --group billing --topic orders {target} --export --dry-run")

    assert said == (0, out, err)


def test_a_partition_with_an_offset_below_0_is_among_all(run: Run, admin: AdminClient) -> None:
    admin.alter_consumer_group_offsets("left", {ORDERS_0: -1, ORDERS_1: -2, REFUNDS_0: 5}).all()

    said = run("--reset-offsets --group left --all-topics --to-latest --execute")

    assert (said.status, said.err) == (0, "")
    assert offsets(admin, "left") == {ORDERS_0: 50, ORDERS_1: 60, REFUNDS_0: 5}


@pytest.mark.parametrize(
    ("target", "error"),
    [
        ("--to-current", f"{FAILED}Expected a valid current offset for topic partition: orders-1"),
        (
            "--shift-by 1",
            "Cannot shift offset for partition orders-1 since there is no current committed offset",
        ),
    ],
)
def test_nothing_goes_on_from_below_0(
    run: Run, admin: AdminClient, target: str, error: str
) -> None:
    admin.alter_consumer_group_offsets("left", {ORDERS_0: 20, ORDERS_1: -1}).all()

    said = run(f"--reset-offsets --group left --all-topics {target} --execute")

    assert said == (1, "", f"\nError: {error}\n")
    assert offsets(admin, "left") == {ORDERS_0: 20}


def test_an_offset_below_0_of_another_group_is_none(run: Run, admin: AdminClient) -> None:
    admin.alter_consumer_group_offsets("left", {ORDERS_0: 20, ORDERS_1: -1}).all()

    said = run("--reset-offsets --group newcomer --to-group left --execute")

    assert (said.status, said.err) == (0, "")
    assert offsets(admin, "newcomer") == {ORDERS_0: 20}


def test_a_partition_without_a_leader(run: Run, brokers: BrokersInProcess) -> None:
    brokers.leaderless.add(ORDERS_1)

    said = run("--reset-offsets --group billing --all-topics --to-latest --dry-run")

    assert said.status == 1
    assert said.err == (
        '\nError: Executing consumer group command failed due to The partitions "orders-1" have no leader\n'
    )
    assert brokers.is_closed


def test_a_file_without_the_group(run: Run, tmp_path: Path) -> None:
    file = tmp_path / "plan.csv"
    file.write_text("archive,orders,0,11\n")

    said = run(f"--reset-offsets --group billing --from-file {file} --dry-run")

    assert said.status == 1
    assert said.err == "\nError: No reset plan for group billing found\n"


def test_as_a_document(run: Run) -> None:
    said = run("--reset-offsets --group billing --topic orders:1 --to-earliest --dry-run -o json")

    assert json.loads(said.out) == [
        {"group": "billing", "topic": "orders", "partition": 1, "new_offset": 0}
    ]
