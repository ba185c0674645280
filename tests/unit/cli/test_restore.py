"""`group-coordinator restore` on groups of the job, with the coordinator and brokers of this process."""

from __future__ import annotations

from pathlib import Path

import pytest
from kafka import OffsetAndMetadata

from group_coordinator.cli.restore import target_of
from group_coordinator.clients.admin.client import AdminClient
from group_coordinator.clients.errors import NotRestorableError
from group_coordinator.clients.past_offsets import Owner, owner_of
from group_coordinator.clients.sql_tables import query
from tests.support.claims import claimed_by_job, claimed_by_mirror
from tests.support.group_history import tables_of
from tests.unit.cli.conftest import BEFORE, ORDERS_0, ORDERS_1, REFUNDS_0, Run
from tests.unit.cli.groups.brokers_in_process import BrokersInProcess
from tests.unit.clients.billing import new_member
from tests.unit.clients.coordinator_in_process import CoordinatorInProcess

COMMITTED = {
    ORDERS_0: OffsetAndMetadata(40, "page 4", 3),
    ORDERS_1: OffsetAndMetadata(60, "", -1),
    REFUNDS_0: OffsetAndMetadata(5, "", -1),
}
HEADINGS = "group_id,topic,partition,offset_now,offset_then,new_offset,written,note"
DRY_RUN = "Nothing was written: add --execute to write the new offsets.\n"
RESET_OF_ALICE = (
    "billing: as of 2023-11-14 22:14:19.999Z, before a reset of 2 partitions by User:alice\n"
)
NOTHING = "of cluster test has no offsets to restore, now or then: see if the names of group, cluster and topics are right"
NO_RESET = (
    "the view audit has no reset or rewind of biling in cluster test: give a time by --as-of, or repeat the command "
    "when the tables have the reset"
)


@pytest.fixture
def run(run: Run) -> Run:
    return lambda line: run(f"restore {line}")


@pytest.fixture(autouse=True)
def reset_by_alice(coordinator: CoordinatorInProcess, admin: AdminClient) -> None:
    """A minute after its commits the group is reset in two of three partitions."""
    admin.alter_consumer_group_offsets("billing", COMMITTED).all()
    coordinator.sleep(60_000)
    coordinator.principal = "User:alice"
    admin.commit_reset("billing", {ORDERS_0: 10, ORDERS_1: 0}).all()
    coordinator.sleep(1_000)
    coordinator.principal = "User:bob"


def test_without_execute_nothing_changes(run: Run, admin: AdminClient) -> None:
    shown = run(f"--group billing {BEFORE}")

    assert (shown.exit_code, shown.stderr) == (0, DRY_RUN)
    assert [line.split() for line in shown.stdout.splitlines()[2:]] == [
        ["billing", "orders", "0", "10", "40", "40", "false"],
        ["billing", "orders", "1", "0", "60", "60", "false"],
        ["billing", "refunds", "0", "5", "5", "5", "false", "unchanged"],
        [],
        ["3", "rows"],
    ]
    assert admin.list_consumer_group_offsets("billing")[ORDERS_0].offset == 10


def test_a_reset_is_undone_in_one_line(
    run: Run, admin: AdminClient, coordinator: CoordinatorInProcess
) -> None:
    undone = run("--group billing --before-reset --execute --format csv")

    assert (undone.exit_code, undone.stderr) == (0, RESET_OF_ALICE)
    assert undone.stdout.splitlines() == [
        HEADINGS,
        "billing,orders,0,10,40,40,true,",
        "billing,orders,1,0,60,60,true,",
        "billing,refunds,0,5,5,5,false,unchanged",
    ]
    assert admin.list_consumer_group_offsets("billing") == COMMITTED
    assert [row["reason"] for row in coordinator.rows[-2:]] == ["offset-restored"] * 2


def test_a_restore_that_is_repeated_changes_nothing(run: Run, admin: AdminClient) -> None:
    """Not even when the tables have the restore, which is a reset, too."""
    run("--group billing --before-reset --execute")

    again = run("--group billing --before-reset --execute --format csv")

    assert (again.exit_code, again.stderr) == (0, RESET_OF_ALICE)
    assert [line.rpartition(",")[2] for line in again.stdout.splitlines()[1:]] == ["unchanged"] * 3
    assert admin.list_consumer_group_offsets("billing") == COMMITTED


def test_audit_has_the_restore_with_its_principal(
    run: Run, coordinator: CoordinatorInProcess, tmp_path: Path
) -> None:
    run(f"--group billing --topic orders:0 {BEFORE} --execute")

    root = tables_of(tmp_path / "after", coordinator)
    audit = "SELECT topic, `partition`, `before`, `after`, change FROM audit WHERE principal = 'User:bob'"
    assert query(str(root), audit).to_pylist() == [
        {"topic": "orders", "partition": 0, "before": 10, "after": 40, "change": "reset"}
    ]


def test_a_group_with_members_is_left_alone(
    run: Run, coordinator: CoordinatorInProcess, admin: AdminClient
) -> None:
    new_member(coordinator, "till").join()

    refused = run(f"--group billing {BEFORE} --execute")

    assert refused.exit_code == 1
    assert "billing is Stable: members would commit over restored offsets" in refused.stderr
    assert admin.list_consumer_group_offsets("billing")[ORDERS_0].offset == 10


def test_a_deleted_group_comes_back(run: Run, admin: AdminClient) -> None:
    admin.delete_consumer_groups(["billing"]).all()

    restored = run(f"--group billing {BEFORE} --execute --format csv")

    assert restored.stdout.splitlines()[1:] == [
        "billing,orders,0,,40,40,true,",
        "billing,orders,1,,60,60,true,",
        "billing,refunds,0,,5,5,true,",
    ]
    assert admin.list_consumer_group_offsets("billing") == COMMITTED


def test_a_partition_without_a_leader_is_an_error_and_the_others_are_written(
    run: Run, brokers: BrokersInProcess
) -> None:
    brokers.leaderless.add(ORDERS_1)

    partly = run(f"--group billing {BEFORE} --execute --format csv")

    assert partly.exit_code == 1
    assert partly.stdout.splitlines()[1:3] == [
        "billing,orders,0,10,40,40,true,",
        "billing,orders,1,0,60,0,false,the partition has no leader",
    ]


def test_the_job_must_be_that_of_the_settings(run: Run) -> None:
    refused = run(f"--group billing {BEFORE} --set events.topic=other-events")

    assert refused.exit_code == 1
    assert refused.stderr == (
        "Error: events.topic = other-events is not the topic of the job that coordinates cluster.id = test: set "
        "events.topic to group-events, and responses.topic to that of the job\n"
    )


@pytest.mark.parametrize(
    ("line", "said"),
    [
        (f"--group biling {BEFORE}", f"group biling {NOTHING}"),
        (f"--group 'bil\ning' {BEFORE}", rf"group bil\x0aing {NOTHING}"),
        (f"--group 'biling ' {BEFORE}", rf"group biling\x20 {NOTHING}"),
        ("--group 'bil\ning' --before-reset", NO_RESET.replace("biling", r"bil\x0aing")),
        (f"--group billing --topic refunds:1 {BEFORE}", f"group billing {NOTHING}"),
        ("--group billing --group biling --before-reset", NO_RESET),
    ],
)
def test_without_offsets_or_a_reset_there_is_nothing_to_restore(
    run: Run, line: str, said: str
) -> None:
    refused = run(line)

    assert (refused.exit_code, refused.stdout, refused.stderr) == (1, "", f"Error: {said}\n")


@pytest.mark.parametrize(
    ("line", "said"),
    [
        ("--group billing", "give one of --as-of TIME and --before-reset"),
        (f"--group billing {BEFORE} --before-reset", "give one of --as-of TIME and --before-reset"),
        (BEFORE, "Missing option '--group'"),
        (f"--group billing {BEFORE} --map same", "--map needs --to-bootstrap-server"),
        (f"--group billing {BEFORE} --topic orders:0:1", "Invalid topic arg 'orders:0:1'"),
    ],
)
def test_wrong_usage(run: Run, line: str, said: str) -> None:
    refused = run(line)

    assert refused.exit_code == 2
    assert said in refused.stderr


def test_both_clusters_have_the_login_of_a_file_that_is_read_once(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "client.properties"
    file.write_text("request.timeout.ms=7000\nnonsense=1\n")

    target = target_of(
        topics=(),
        execute=False,
        cluster=None,
        bootstrap_server="kafka-1:9092",
        command_config=file,
        to_bootstrap_server="standby:9092",
        to_command_config=None,
        printed="csv",
        tables=None,
        config=None,
        overrides=(),
    )

    assert target.other is not None
    assert target.other.options == target.connection.options
    assert target.other.options["request_timeout_ms"] == 7_000
    assert capsys.readouterr().err == f"{file}: nonsense is not a property of Kafka's clients\n"


def test_the_owner_is_that_of_the_newest_claim(tmp_path: Path) -> None:
    root = tables_of(tmp_path)
    claimed_by_job(root, "eu-1", "first-events")
    claimed_by_mirror(root, "eu-2")
    claimed_by_job(root, "eu-1", "second-events")

    def owner(cluster_id: str) -> Owner:
        return owner_of(str(root), cluster_id)

    assert owner("eu-1") == Owner(is_mirror=False, events_topic="second-events")
    assert owner("eu-2") == Owner(is_mirror=True, events_topic="__consumer_offsets")
    with pytest.raises(NotRestorableError, match=r"no rows of cluster\.id = eu-3: set --cluster"):
        owner("eu-3")
